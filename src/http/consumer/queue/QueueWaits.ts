/**
 * The waits that rooms show, as ranges. One reading of a queue's outlook serves all its visitors for a second, or until its
 * settings change; the range of a place follows from its position and ticket.
 */
import { Context, Effect, Layer } from "effect"
import type { Kind, MechanismRef } from "../../../domain/mechanism/Mechanism.ts"
import { rangeIn, type WaitRange } from "../../../domain/queue/wait/WaitRange.ts"
import type { Outlook } from "../../../domain/queue/wait/WaitState.ts"
import { SegmentedCache } from "../../../domain/values/SegmentedCache.ts"
import { toText } from "../../../domain/values/Time.ts"
import { Engine } from "../../../engine/Engine.ts"
import type { AddFields } from "../mechanism/StreamAddition.ts"
import * as Time from "../../../store/coordination/Time.ts"

/** How long an outlook is reused. */
const sharedMillis = 1_000

/** Queues whose outlook is kept, at least. */
const queuesMax = 1_000

export class QueueWaits extends Context.Service<
  QueueWaits,
  {
    /** Returns when the place that a view of the queue shows is called; undefined if no rate tells it. */
    rangeOf(queue: MechanismRef<"queue">, view: unknown): Effect.Effect<WaitRange | undefined>
    /** The same as fields of a state: `waitRange` with instants as text, or none. */
    readonly fieldsOf: AddFields
  }
>()("usher/http/consumer/queue/QueueWaits") {
  static readonly layer = Layer.effect(QueueWaits)(
    Effect.gen(function* () {
      const engine = yield* Engine
      const outlooks = new SegmentedCache<Effect.Effect<Outlook | undefined>>(queuesMax)
      const watched = new Set<string>()

      /** Forgets the outlook of a queue once its settings change. */
      const watch = (id: string) => {
        if (watched.has(id)) return
        watched.add(id)
        const stop = engine.watch(id, () => {
          stop()
          watched.delete(id)
          outlooks.delete(id)
        })
      }

      const outlookOf = Effect.fnUntraced(function* (queue: MechanismRef<"queue">) {
        const known = outlooks.get(queue.id)
        if (known !== undefined) return yield* known
        const read = Effect.map(engine.facts(queue), ({ outlook }) => outlook)
        // A visitor that goes away must not end the read of the others. A page shows no range while there is none.
        const quiet = Effect.uninterruptible(Effect.orElseSucceed(read, () => undefined))
        const shared = yield* Time.cachedForMillis(quiet, sharedMillis)
        watch(queue.id)
        outlooks.set(queue.id, shared)
        return yield* shared
      })

      const rangeOf = Effect.fnUntraced(function* (queue: MechanismRef<"queue">, view: unknown) {
        const { position, ticket } = view as { readonly position?: number; readonly ticket?: number }
        if (position === undefined || ticket === undefined) return undefined
        const outlook = yield* outlookOf(queue)
        return outlook === undefined ? undefined : rangeIn(outlook, position, ticket)
      })

      return {
        rangeOf,
        fieldsOf: (mechanism, view) =>
          isQueue(mechanism) ? Effect.map(rangeOf(mechanism, view), rangeFields) : Effect.succeed({})
      }
    })
  )
}

const isQueue = (mechanism: MechanismRef<Kind>): mechanism is MechanismRef<"queue"> => mechanism.kind === "queue"

const rangeFields = (range: WaitRange | undefined) =>
  range === undefined ? {} : { waitRange: { earliest: toText(range.earliest), latest: toText(range.latest) } }
