/**
 * R16: the memory of a server under the same load stays constant over a long time.
 *
 *     npm run prove -- steady --minutes 10 --seed 1
 */
import { courseOf, growthShareMax, steadyProof } from "../e2e/proofs/SteadyProof.ts"
import { conclude, options } from "./Report.ts"

const { minutes, seed } = options({ minutes: 10, seed: 1 })

const megabytes = (bytes: number): string => `${(bytes / 2 ** 20).toFixed(1)} MiB`

const figures = await steadyProof({
  seconds: minutes * 60,
  sampleSeconds: Math.max(2, minutes),
  seed,
  onSample: ({ seconds, heapBytes }, { requests, created, archived }) =>
    console.log(
      `${seconds.toFixed(0)} s: ${megabytes(heapBytes)}, ${requests} requests, ${created} mechanisms, ${archived} archived`
    )
})
const { secondQuarter, lastQuarter, bytesPerMinute, isFlat } = courseOf(figures.samples)

conclude(
  "memory stays constant under a steady load",
  {
    minutes,
    "completed requests": figures.requests,
    "streams opened and closed": figures.streams,
    "mechanisms created": figures.created,
    "mechanisms archived": figures.archived,
    "samples of the collected heap": figures.samples.length,
    "median of the second quarter": megabytes(secondQuarter),
    "median of the last quarter": `${megabytes(lastQuarter)} (at most ${growthShareMax * 100} % more)`,
    "slope after the first quarter": `${(bytesPerMinute / 1024).toFixed(0)} KiB a minute`
  },
  figures.violations,
  isFlat
)
