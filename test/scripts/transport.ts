/**
 * The direct path answers as HttpApi does: generated requests go to a listener with it and to one without it.
 *
 *     npm run prove -- transport --minutes 60 --seed 1
 */
import { Effect, Logger } from "effect"
import { compare, completeListener, type Difference, services } from "../http/direct/generated.ts"
import { conclude, options } from "./Report.ts"

const { minutes, seed } = options({ minutes: 60, seed: 1 })
const startedAt = performance.now()
const differences: Array<Difference> = []
const statuses = new Map<string, number>()
let passes = 0

const elapsedMinutes = () => (performance.now() - startedAt) / 60_000

const everything = Effect.gen(function* () {
  const complete = yield* completeListener
  while (elapsedMinutes() < minutes) {
    const found = yield* compare(complete, seed + passes, 40)
    passes++
    differences.push(...found.differences)
    for (const [status, count] of found.statuses) statuses.set(status, (statuses.get(status) ?? 0) + count)
  }
})
await Effect.runPromise(Effect.scoped(everything).pipe(Effect.provide(services), Effect.provide(Logger.layer([]))))

conclude(
  "the direct path answers as HttpApi does",
  {
    seed,
    passes,
    requests: [...statuses.values()].reduce((a, b) => a + b, 0),
    statuses: JSON.stringify([...statuses])
  },
  differences.map(({ request, direct, complete }) => `${request}\n--- direct\n${direct}\n--- complete\n${complete}`),
  passes > 0
)
