/**
 * The gates that were seen in the last minute. Each process notes those that ask it, and tells the others every few
 * seconds. Nothing is stored: a process that has just started knows of a gate as soon as it asks again.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { type Report, reportIn, textOf } from "../../domain/gate/Report.ts"
import { SegmentedCache } from "../../domain/values/SegmentedCache.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { Invalidations } from "../coordination/Invalidations.ts"
import * as Time from "../coordination/Time.ts"

/** For how long a gate counts as seen. */
export const seenMillis = 60_000

/** Gates whose instances are remembered. */
const gatesMax = 10_000

/** Instances of one gate. A gate behind a function as a service may have many. */
export const instancesMax = 200

/** Between two messages to the other processes. */
const tellMillis = 5_000

/** Reports of one message, whose length is limited to 8,000 bytes. */
const toldAtOnceMax = 20

/** An instance without a report is a gate of an earlier version, or of somebody's own. */
export interface SeenInstance {
  readonly seenAt: Millis
  readonly report: Report | undefined
}

const Told = Schema.fromJsonString(Schema.Array(Schema.Tuple([Schema.String, Schema.String])))
const encode = Schema.encodeSync(Told)
const decode = Schema.decodeSync(Told)

export class GateReports extends Context.Service<
  GateReports,
  {
    /** Notes that a gate has asked, with its report if it has sent one. */
    note(gateId: string, report: Report | undefined): Effect.Effect<void>
    /** Returns the instances of a gate that were seen in the last minute, the latest first. */
    seen(gateId: string): Effect.Effect<ReadonlyArray<SeenInstance>>
  }
>()("usher/store/gate/GateReports") {
  static readonly layer = Layer.effect(GateReports)(
    Effect.gen(function* () {
      const invalidations = yield* Invalidations
      const known = new SegmentedCache<Map<string, SeenInstance>>(gatesMax)
      /** What the other processes do not know yet, by gate and instance. */
      const untold = new Map<string, readonly [gateId: string, text: string]>()

      const keep = (gateId: string, report: Report | undefined, now: Millis): boolean => {
        const instances = known.get(gateId) ?? new Map<string, SeenInstance>()
        const instance = report?.instance ?? ""
        if (!instances.has(instance) && instances.size >= instancesMax) {
          for (const [name, { seenAt }] of instances) if (now - seenAt >= seenMillis) instances.delete(name)
          if (instances.size >= instancesMax) return false
        }
        instances.set(instance, { seenAt: now, report })
        known.set(gateId, instances)
        return true
      }

      yield* invalidations
        .subscribe("gate_report", {
          handle: (payload) =>
            Effect.map(Time.serverNow, (now) => {
              for (const [gateId, text] of decode(payload)) keep(gateId, reportIn(text), now)
            }),
          refresh: Effect.void
        })
        .pipe(Effect.orDie)

      const tell = Effect.gen(function* () {
        const all = [...untold.values()]
        untold.clear()
        for (let first = 0; first < all.length; first += toldAtOnceMax) {
          // Who misses it hears of the gate with the next one.
          yield* Effect.ignore(invalidations.publish("gate_report", encode(all.slice(first, first + toldAtOnceMax))))
        }
      })
      yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(tellMillis), tell)))

      return {
        note: (gateId, report) =>
          Effect.map(Time.serverNow, (now) => {
            if (!keep(gateId, report, now)) return
            untold.set(`${gateId} ${report?.instance ?? ""}`, [gateId, report === undefined ? "" : textOf(report)])
          }),
        seen: (gateId) =>
          Effect.map(Time.serverNow, (now) =>
            [...(known.get(gateId)?.values() ?? [])]
              .filter(({ seenAt }) => now - seenAt < seenMillis)
              .toSorted((one, other) => other.seenAt - one.seenAt)
          )
      }
    })
  )
}
