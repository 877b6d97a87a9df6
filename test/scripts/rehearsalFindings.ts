/**
 * R35: a rehearsal names in words the mistake of each of 25 prepared drops, and finds nothing in one without a mistake.
 *
 *     npm run prove -- rehearsal-findings --seed 7
 */
import { mistakes, right } from "../e2e/proofs/rehearsal/drops.ts"
import { faultsOf, Stage } from "../e2e/proofs/rehearsal/Stage.ts"
import { conclude, options } from "./Report.ts"

const { seed } = options({ seed: 7 })
const begunAt = performance.now()
await using stage = await Stage.make()
const faults = await faultsOf(stage, [right, ...mistakes], seed)
conclude(
  "the report of a rehearsal names each mistake, and nothing else",
  { mistakes: mistakes.length, seconds: Math.round((performance.now() - begunAt) / 1_000) },
  faults,
  true
)
