/**
 * Several nodes on one database are upgraded one after another to the next release, go back, go forward again, and finish
 * the upgrade, under load of every kind through all nodes.
 *
 * With --from the former release is the program at that commit or tag, and the next release is this folder's. Without it
 * the former release is this folder's, and the next one is the same program with one more level, protocol and step.
 *
 *     npm run prove -- upgrade --nodes 3 --returns 2 --seed 1 --from v1.0.0
 */
import { execFileSync } from "node:child_process"
import { existsSync, mkdtempSync, rmSync, symlinkSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { grantFigures, recordFigures } from "../e2e/load/Setup.ts"
import { type Build, upgradeProof } from "../e2e/proofs/upgrade/UpgradeProof.ts"
import { main } from "../e2e/support/ServerUnderTest.ts"
import { conclude, median, options, spread } from "./Report.ts"

const { nodes, returns, seed, from } = options({ nodes: 3, returns: 1, seed: 1, from: "" })
const unservedMillisMax = 5_000
const root = fileURLToPath(new URL("../..", import.meta.url))

/** Returns the program at a commit, in a folder that is removed at the end. */
function programAt(commit: string): string {
  const folder = mkdtempSync(join(tmpdir(), "usher-former-"))
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }))
  const archive = execFileSync("git", ["archive", "--format=tar", commit], { cwd: root, maxBuffer: 1_073_741_824 })
  execFileSync("tar", ["-x", "-C", folder], { input: archive })
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
  if (!existsSync(join(folder, "src/domain/values/Release.ts"))) {
    throw new Error(`${commit} is older than rolling upgrades: its nodes work only with nodes of the same version.`)
  }
  return join(folder, "src/main.ts")
}

const former: Build = { name: "former", main: from === "" ? main : programAt(from) }
const next: Build = {
  name: "next",
  main: from === "" ? join(root, "test/e2e/support/release/nextReleaseProgram.ts") : main
}

const figures = await upgradeProof({
  former,
  next,
  nodes,
  returns,
  seed,
  onStep: (step, { acknowledged, lost, violations, waits, parked, startMillis }) =>
    console.log(
      `${step}, ready in ${startMillis.at(-1)!.toFixed(0)} ms: ${acknowledged} acknowledged, ${lost} lost, ${parked} parked, ${violations.length} violations, ` +
        `handed over in ${spread(waits)} so far`
    )
})

conclude(
  "an upgrade is no outage",
  {
    nodes,
    "nodes switched to the other release": figures.switches,
    ...recordFigures(figures),
    ...grantFigures(figures),
    "admissions out of sequence": figures.inversions,
    "parked mechanisms": figures.parked,
    "mechanisms handed over": figures.waits.length,
    "handed over in": spread(figures.waits),
    "in flight at leaving nodes": figures.inFlight,
    "repeated attempts": figures.retries,
    "from start to ready": spread(figures.startMillis),
    "level at the end": figures.level
  },
  figures.violations,
  figures.lost === 0 &&
    figures.inversions === 0 &&
    figures.parked === 0 &&
    median(figures.waits) < unservedMillisMax &&
    Math.max(...figures.waits) < unservedMillisMax
)
