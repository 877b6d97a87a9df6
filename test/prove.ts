/**
 * Runs the long proof of a promise, or lists them all.
 *
 *     npm run prove
 *     npm run prove -- crash --kills 200 --seed 1
 *     npm run prove -- crash --help
 */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"

const scripts = join(import.meta.dirname, "scripts")

/** The proofs that are tests with more repetitions than `npm test` has. */
const tests: { readonly [name: string]: { readonly shows: string; readonly path: string; readonly env: object } } = {
  auctions: {
    shows: "R6: 10,000 random auctions against a reference",
    path: "test/domain/auction/Auction.test.ts",
    env: { AUCTION_SEQUENCES: "10000" }
  },
  fairness: {
    shows: "R5: 100,000 draws of each shape are unbiased",
    path: "test/domain/draw/proof/Fairness.test.ts",
    env: { FAIRNESS_DRAWS: "100000" }
  },
  replay: {
    shows: "R31: 1,000 seeded journals of each kind are replayed event by event",
    path: "test/engine/replay/Unchanged.test.ts",
    env: { REPLAY_JOURNALS: "1000" }
  },
  simulation: {
    shows: "R2: 1,000 seeded drops and 300 raffles",
    path: "test/simulation",
    env: { SIMULATION_DROPS: "1000", SIMULATION_RAFFLES: "300" }
  }
}

/** The files of the other proofs by name. A file that begins with a capital is shared by them. */
const programs = new Map(
  readdirSync(scripts)
    .filter((file) => /^[a-z]\w*\.ts$/.test(file))
    .map((file) => [nameOf(file), join(scripts, file)])
)

/** `staleOwner.ts` is `stale-owner`. */
function nameOf(file: string): string {
  return file.slice(0, -".ts".length).replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** The first sentence of the comment at the head of a proof. */
function shows(path: string): string {
  const head = /^\/\*\*\n(.*?)\n \*\//s.exec(readFileSync(path, "utf8"))?.[1] ?? ""
  const text = head.replace(/^ \* ?/gm, "").replaceAll("\n", " ")
  return /^.*?\.(?= |$)/.exec(text)?.[0] ?? text
}

function list(): string {
  const lines = [
    ...[...programs].map(([name, path]) => `  ${name.padEnd(17)} ${shows(path)}`),
    ...Object.entries(tests).map(([name, proof]) => `  ${name.padEnd(17)} ${proof.shows}.`)
  ]
  lines.sort()
  return [
    "npm run prove -- NAME [options]",
    "",
    ...lines,
    "",
    "npm run prove -- NAME --help shows a proof's options."
  ].join("\n")
}

const [name = "", ...options] = process.argv.slice(2)
const program = programs.get(name)
const test = tests[name]
if (program !== undefined) {
  process.argv = [process.execPath, program, ...options]
  await import(program)
} else if (test !== undefined) {
  const vitest = join(import.meta.dirname, "../node_modules/vitest/vitest.mjs")
  Object.assign(process.env, test.env)
  process.argv = [process.execPath, vitest, "run", "--config", "test/vitest.config.ts", test.path, ...options]
  await import(vitest)
} else {
  console.log(list())
  if (!["", "-h", "--help"].includes(name)) {
    console.error(`\nThere is no proof "${name}".`)
    process.exitCode = 1
  }
}
