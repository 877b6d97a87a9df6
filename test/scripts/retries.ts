/**
 * R3: connections are cut after the request is written, and the request is sent again.
 *
 *     npm run prove -- retries --cuts 10000 --seed 1
 */
import { retryProof } from "../e2e/proofs/RetryProof.ts"
import { conclude, options } from "./Report.ts"

const { cuts, seed } = options({ cuts: 10_000, seed: 1 })

const figures = await retryProof({ cuts, seed })

conclude(
  "retrying is safe",
  {
    "requests cut": figures.cut,
    "effective before the retry": figures.effective,
    "repeated effects": figures.duplicates,
    "entries processed after a leave": figures.late
  },
  figures.violations,
  figures.duplicates === 0 && figures.cut >= cuts && figures.effective > 0
)
