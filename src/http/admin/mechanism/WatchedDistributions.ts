/**
 * The mechanisms that admins watch. WatchApi.ts describes the events.
 *
 * One loop for each watched mechanism inspects it once a second, for any number of watchers, and at once when the
 * mechanism itself changes. It compares each inspection with the last snapshot and encodes the difference once for all
 * watchers. A new watcher gets the last snapshot and follows the differences from there.
 */
import { Context, Effect, Layer } from "effect"
import type { Tenant } from "../../../domain/values/Ids.ts"
import { Engine } from "../../../engine/Engine.ts"
import { heldTimes } from "../../../store/mechanism/MechanismLifecycle.ts"
import { Mechanisms } from "../../../store/mechanism/Mechanisms.ts"
import { inTimeOf, TestClocks } from "../../../store/testClock/TestClocks.ts"
import type { Distribution } from "../../../api/admin/DistributionApi.ts"
import * as Inspections from "./Inspections.ts"
import { makeWatching, type Watching } from "../../streams/Watchers.ts"
import { type Found, Watched } from "./Watched.ts"

/** Streams of one mechanism. A further stream ends the oldest. */
export const watchersMax = 100

export class WatchedDistributions extends Context.Service<WatchedDistributions, Watching>()(
  "usher/http/admin/mechanism/WatchedDistributions"
) {
  static readonly layer = Layer.effect(WatchedDistributions)(
    Effect.gen(function* () {
      const engine = yield* Engine
      const clocks = yield* TestClocks
      const mechanisms = yield* Mechanisms
      const inspections = yield* Inspections.make

      /** Makes the function that inspects a mechanism. It reads the record again if it may have changed. */
      const finder = (tenant: Tenant, id: string) => {
        let stored: Effect.Success<ReturnType<typeof mechanisms.find>>
        let last: typeof Distribution.Type | undefined
        return Effect.fnUntraced(
          function* (mayHaveChanged: boolean) {
            if (mayHaveChanged || stored === undefined) stored = yield* mechanisms.find(tenant, id)
            const mechanism = stored
            if (mechanism === undefined) return undefined
            const opensAt = heldTimes(mechanism.configuration).openAt
            if (mechanism.status.archived) {
              return { shown: yield* inspections.recorded(mechanism), isArchived: true, opensAt }
            }
            last = yield* inspections
              .asked(mechanism)
              .pipe(
                Effect.catchTag("Parked", ({ restarts }) =>
                  last?.live === undefined || last.live === null
                    ? inspections.parked(mechanism, restarts)
                    : Effect.succeed({ ...last, live: { ...last.live, ...Inspections.parkedFields(restarts) } })
                )
              )
            return { shown: last, isArchived: false, opensAt }
          },
          Effect.catch((): Effect.Effect<Found> => Effect.undefined)
        )
      }

      return yield* makeWatching((tenant, id, owner) => {
        const find = finder(tenant, id)
        const inTime = inTimeOf(clocks, tenant)
        return new Watched({
          ...owner,
          watchersMax,
          find: (mayHaveChanged) => inTime(find(mayHaveChanged)),
          watch: (onChange) => engine.watch(id, onChange)
        })
      })
    })
  )
}
