/**
 * The experiences whose public facts callers request in this process. An experience is found by its id alone, and only
 * public facts are shown. While the database is unreachable, the mechanisms that were last read are shown, with facts
 * from memory.
 */
import { Context, Effect, Fiber, Layer, Schema } from "effect"
import { SegmentedCache } from "../../../domain/values/SegmentedCache.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import type { Millis } from "../../../domain/values/Time.ts"
import { rememberedMillis } from "../../../store/coordination/Availability.ts"
import { type ExperienceView, ExperienceViews } from "../../../store/experience/ExperienceViews.ts"
import * as ConcurrencyLimit from "../../../store/postgres/ConcurrencyLimit.ts"
import type { Unavailable } from "../../../store/postgres/Unavailable.ts"
import type { RecordNotFound } from "../../../store/records/RecordNotFound.ts"
import * as Facts from "./Facts.ts"
import { LiveFacts } from "../../../api/consumer/LiveApi.ts"
import { LiveExperience, snapshotOf } from "./LiveExperience.ts"
import { inTimeOf, TestClocks } from "../../../store/testClock/TestClocks.ts"
import * as Time from "../../../store/coordination/Time.ts"

/** Least number of experiences that are kept in memory. */
const experiencesKept = 1_000

/** Unknown ids that are looked up at once. Any caller can send them, so they may not take all connections. */
const lookUps = { most: 2, waitingMax: 200 } as const

/** An experience with its tenant. */
export interface FoundExperience {
  readonly tenant: Tenant
  readonly experience: LiveExperience
}

export class LiveExperiences extends Context.Service<
  LiveExperiences,
  {
    /** Finds the experience. Fails in the same way for one that is unknown and one that is archived. */
    find(experienceId: string): Effect.Effect<FoundExperience, RecordNotFound | Unavailable>
  }
>()("usher/http/consumer/live/LiveExperiences") {
  static readonly layer = Layer.effect(LiveExperiences)(
    Effect.gen(function* () {
      const views = yield* ExperienceViews
      const clocks = yield* TestClocks
      const factsOf = yield* Facts.make
      const scope = yield* Effect.scope
      const runFork = Effect.runForkWith(yield* Effect.context<never>())
      const few = yield* ConcurrencyLimit.make("look-ups of live experiences", lookUps)
      const known = new SegmentedCache<FoundExperience>(experiencesKept)

      /** Makes the effect that reads the experience's mechanisms, or returns those that were read before. */
      const viewer = (tenant: Tenant, experienceId: string) => {
        let last: { readonly view: ExperienceView; readonly until: Millis } | undefined
        return Effect.flatMap(Time.serverNow, (now) =>
          views.find(tenant, experienceId).pipe(
            Effect.tap((view) => Effect.sync(() => (last = { view, until: now + rememberedMillis }))),
            Effect.catchTag("Unavailable", (error) =>
              last !== undefined && now < last.until ? Effect.succeed(last.view) : Effect.fail(error)
            )
          )
        )
      }

      const made = (tenant: Tenant, experienceId: string): FoundExperience => {
        const view = viewer(tenant, experienceId)
        const read = Effect.gen(function* () {
          const found = yield* view
          const now = yield* Time.now
          return snapshotOf(encode(yield* factsOf(tenant, found, now)), now)
        }).pipe(inTimeOf(clocks, tenant))
        const fork = (effect: Effect.Effect<unknown>) => void Fiber.runIn(runFork(effect), scope)
        return { tenant, experience: new LiveExperience(read, fork) }
      }

      return {
        find: Effect.fnUntraced(function* (sent: string) {
          const experienceId = sent.toLowerCase()
          const found = known.get(experienceId)
          if (found !== undefined) return found
          const tenant = yield* few(views.tenantOf(experienceId))
          const experience = known.get(experienceId) ?? made(tenant, experienceId)
          known.set(experienceId, experience)
          return experience
        })
      }
    })
  )
}

const encode = Schema.encodeSync(Schema.fromJsonString(Schema.toCodecJson(LiveFacts)))
