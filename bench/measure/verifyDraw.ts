/**
 * Measures `usher verify-draw` on the proof of a draw, half of whose entries are weighted. The time includes the start
 * of the process. Prints JSON.
 *
 *     npm run bench:verify-draw -- 100000
 */
import { execFileSync } from "node:child_process"
import { randomBytes } from "node:crypto"
import { mkdtempSync, rmSync, statSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { algorithm, commitmentOf, entriesDigest, idLength, weightMin } from "../../src/domain/draw/proof/Algorithm.ts"
import type { Proof } from "../../src/domain/draw/proof/Proof.ts"
import { drawnOrder } from "../../src/domain/draw/proof/Verification.ts"
import { figure } from "../report/Figures.ts"

const entriesCount = Number(process.argv[2] ?? 100_000)
const winnerCount = Math.ceil(entriesCount / 100)
const rounds = 5

const entries = Array.from({ length: entriesCount }, (_, index) => ({
  id: randomBytes(idLength / 2).toString("hex"),
  weight: weightMin * (1 + (index % 2))
})).toSorted((one, other) => (one.id < other.id ? -1 : 1))
const listed = entriesDigest()
for (const { id, weight } of entries) listed.add(id, weight)
const seed = randomBytes(32).toString("hex")
const drawn: Proof = {
  drawId: "measured",
  algorithm,
  drawAt: "2026-11-21T18:00:00.000Z",
  drawnAt: "2026-11-21T18:00:00.000Z",
  seed,
  seedCommitment: commitmentOf(seed),
  entriesDigest: listed.digest(),
  beacon: "",
  beaconNetwork: null,
  beaconRound: null,
  beaconSignature: null,
  notProven: [],
  winnerCount,
  winners: [],
  withdrawn: [],
  entries
}
const proof: Proof = { ...drawn, winners: drawnOrder(drawn).slice(0, winnerCount) }

const directory = mkdtempSync(join(tmpdir(), "usher-bench-"))
try {
  const file = join(directory, "proof.json")
  writeFileSync(file, JSON.stringify(proof))
  const seconds = Array.from({ length: rounds }, () => {
    const from = performance.now()
    // Throws if the proof is invalid: the command then exits with a nonzero code.
    execFileSync(process.execPath, ["src/main.ts", "verify-draw", file])
    return (performance.now() - from) / 1000
  })
  const megabytes = statSync(file).size / 1e6
  process.stdout.write(
    `${JSON.stringify({ entries: entriesCount, megabytes, seconds: figure(seconds) }, undefined, 2)}\n`
  )
} finally {
  rmSync(directory, { recursive: true, force: true })
}
