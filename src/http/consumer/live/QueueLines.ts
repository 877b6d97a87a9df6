/**
 * The lines of queues that callers request in this process. As with live facts, one reading serves all callers for a
 * second. A queue is shown if its sequence is for all consumers. A queue that is over and not in memory is not started
 * for this.
 */
import { Context, Effect, Fiber, Layer, Schema } from "effect"
import { SegmentedCache } from "../../../domain/values/SegmentedCache.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import { Engine } from "../../../engine/Engine.ts"
import { ExperienceViews } from "../../../store/experience/ExperienceViews.ts"
import { lifecycleOf } from "../../../store/mechanism/MechanismLifecycle.ts"
import * as ConcurrencyLimit from "../../../store/postgres/ConcurrencyLimit.ts"
import type { Unavailable } from "../../../store/postgres/Unavailable.ts"
import { RecordNotFound } from "../../../store/records/RecordNotFound.ts"
import { QueueLine } from "../../../api/consumer/LiveApi.ts"
import { LiveExperience, snapshotOf } from "./LiveExperience.ts"
import { inTimeOf, TestClocks } from "../../../store/testClock/TestClocks.ts"
import * as Time from "../../../store/coordination/Time.ts"

/** Least number of lines that are kept in memory. */
const linesKept = 1_000

/** Unknown ids that are looked up at once. Any caller can send them, so they may not take all connections. */
const lookUps = { most: 2, waitingMax: 200 } as const

export class QueueLines extends Context.Service<
  QueueLines,
  {
    /** Finds the line. Fails in the same way for a queue that is unknown and one that is archived. */
    find(queueId: string): Effect.Effect<LiveExperience, RecordNotFound | Unavailable>
  }
>()("usher/http/consumer/live/QueueLines") {
  static readonly layer = Layer.effect(QueueLines)(
    Effect.gen(function* () {
      const views = yield* ExperienceViews
      const clocks = yield* TestClocks
      const read = yield* makeRead
      const scope = yield* Effect.scope
      const runFork = Effect.runForkWith(yield* Effect.context<never>())
      const few = yield* ConcurrencyLimit.make("look-ups of lines", lookUps)
      const known = new SegmentedCache<LiveExperience>(linesKept)
      const fork = (effect: Effect.Effect<unknown>) => void Fiber.runIn(runFork(effect), scope)

      return {
        find: Effect.fnUntraced(function* (sent: string) {
          const queueId = sent.toLowerCase()
          const found = known.get(queueId)
          if (found !== undefined) return found
          const { experienceId, ...tenant } = yield* few(views.experienceOfQueue(queueId))
          const line =
            known.get(queueId) ??
            new LiveExperience(inTimeOf(clocks, tenant)(read(tenant, experienceId, queueId)), fork)
          known.set(queueId, line)
          return line
        })
      }
    })
  )
}

/** Makes the function that reads a line, as a snapshot. */
const makeRead = Effect.gen(function* () {
  const engine = yield* Engine
  const views = yield* ExperienceViews

  const observed = (tenant: Tenant, id: string) => {
    const queue = { kind: "queue", id, tenant } as const
    return engine.peek(queue).pipe(
      Effect.flatMap((inspection) =>
        inspection === undefined
          ? Effect.undefined
          : Effect.map(engine.facts(queue), (facts) => ({ ...inspection, ...facts }))
      ),
      Effect.orElseSucceed(() => undefined)
    )
  }

  return Effect.fnUntraced(function* (tenant: Tenant, experienceId: string, queueId: string) {
    const { sequences } = yield* views.find(tenant, experienceId)
    const shown = sequences.flatMap(({ mechanisms }) => mechanisms).find(({ id }) => id === queueId)
    if (shown === undefined) return yield* new RecordNotFound({ record: "Queue" })
    const now = yield* Time.now
    const found = yield* observed(tenant, queueId)
    const line: typeof QueueLine.Type = {
      queueId,
      lifecycle: found?.lifecycle ?? lifecycleOf(shown, now),
      admitRate: found?.configuration.admitRate ?? null,
      paused: found === undefined ? null : found.pause !== undefined,
      pauseReason: found?.pause?.reason ?? null,
      line: found?.line ?? null
    }
    return snapshotOf(encode(line), now)
  })
})

const encode = Schema.encodeSync(Schema.fromJsonString(Schema.toCodecJson(QueueLine)))
