/**
 * Decides whether a consumer may enter a sequence's mechanisms. Sequences with an audience, an access code or an order
 * limit are protected. Their ids are in memory, and the database notifies every process of changes (`Invalidations`).
 * So an entry into any other sequence costs one set lookup.
 *
 * For a protected sequence the database is queried. An admission is cached for ten seconds, or until access to any
 * sequence is reduced or the consumer changes. With an order limit nothing is cached, because each order changes what
 * is left. While memory may be out of date, the database is queried for every sequence.
 */
import { Context, Effect, Layer } from "effect"
import type { MechanismIdentity } from "../../domain/mechanism/Mechanism.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { Invalidations } from "../../store/coordination/Invalidations.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import { type Admission, protectionTopic, SequenceAccess } from "../../store/experience/SequenceAccess.ts"
import { SegmentedCache } from "../../domain/values/SegmentedCache.ts"
import * as Time from "../../store/coordination/Time.ts"

/** Protected sequences in memory. Above this number the database is queried for every sequence. */
const protectedMax = 200_000

/** Least number of consumers whose admissions are cached. */
const rememberedAdmissions = 50_000

/** How long an admission is cached. Data that an audience's rules read may change without a notification. */
const rememberedMillis = 10_000

/** Cached admissions of one consumer. */
const admissionsMax = 100

export class Protection extends Context.Service<
  Protection,
  {
    /** Returns whether the consumer may enter the mechanism's sequence. */
    admission(
      mechanism: Pick<MechanismIdentity, "organizationId" | "mode" | "sequenceId">,
      consumerId: string
    ): Effect.Effect<Admission, Unavailable>
    /**
     * Must be called after a change to sequences or to an audience's members, before the caller gets its response.
     * `sequenceIds` are the sequences whose access changed. Takes effect in this process at once. Returns when every
     * process applies it.
     */
    changed(...sequenceIds: ReadonlyArray<string>): Effect.Effect<void, Unavailable>
    /** Like `changed`, after a change to consumers, which may no longer match an audience's rules. */
    consumersChanged(consumerIds: ReadonlyArray<string>): Effect.Effect<void>
  }
>()("usher/auth/sessions/Protection") {
  static readonly layer = Layer.effect(Protection)(
    Effect.gen(function* () {
      const access = yield* SequenceAccess
      const invalidations = yield* Invalidations
      const protectedIds = new Set<string>()
      let overflowed = false
      /** By consumer: the sequences it is admitted to, each with the expiry of the entry. */
      let cached = new SegmentedCache<Map<string, Millis>>(rememberedAdmissions)
      /** Number of evictions, to detect one during a query. */
      let changes = 0

      const evict = () => {
        changes++
        cached = new SegmentedCache(rememberedAdmissions)
      }
      const evictConsumer = (consumerId: string) => {
        changes++
        cached.delete(consumerId)
      }
      const cache = (consumerId: string, sequenceId: string, until: Millis) => {
        const known = cached.get(consumerId)
        if (known === undefined || known.size >= admissionsMax) cached.set(consumerId, new Map([[sequenceId, until]]))
        else known.set(sequenceId, until)
      }
      const protect = (sequenceId: string) => {
        if (protectedIds.size < protectedMax) protectedIds.add(sequenceId)
        else overflowed = true
      }

      yield* invalidations.subscribe(protectionTopic, {
        handle: (payload) =>
          Effect.sync((): void => {
            const [what, id] = payload.split(" ") as [string, string?]
            if (what === "open") return void protectedIds.delete(id!)
            if (what === "consumer") return evictConsumer(id!)
            if (what === "protected") protect(id!)
            evict()
          }),
        // Ids added during the read stay. Treating an open sequence as protected only costs a query.
        refresh: Effect.suspend(() => {
          overflowed = false
          return Effect.map(access.protectedIds(protectedMax + 1), (ids) => {
            for (const id of ids) protect(id)
            evict()
          })
        })
      })

      /** True if memory is current and the sequence is not protected. */
      const isOpen = (sequenceId: string) => invalidations.isCurrent() && !overflowed && !protectedIds.has(sequenceId)

      const query = Effect.fnUntraced(function* (
        { sequenceId, ...tenant }: Pick<MechanismIdentity, "organizationId" | "mode" | "sequenceId">,
        consumerId: string
      ) {
        const now = yield* Time.serverNow
        const until = cached.get(consumerId)?.get(sequenceId)
        if (until !== undefined && until > now && invalidations.isCurrent()) return yield* admitted
        const asOf = changes
        const admission = yield* access.admission(tenant, sequenceId, consumerId)
        // The result may predate an eviction that happened during the query, and then is not cached.
        if (admission === "admitted" && changes === asOf) cache(consumerId, sequenceId, now + rememberedMillis)
        return admission
      })

      return {
        admission: (mechanism, consumerId) =>
          Effect.suspend(() => (isOpen(mechanism.sequenceId) ? admitted : query(mechanism, consumerId))),
        changed: (...sequenceIds) =>
          Effect.flatMap(access.protectedAmong(sequenceIds), (ids) => {
            for (const id of ids) protect(id)
            evict()
            return invalidations.settled
          }),
        consumersChanged: (consumerIds) =>
          Effect.suspend(() => {
            consumerIds.forEach(evictConsumer)
            return invalidations.settled
          })
      }
    })
  )
}

const admitted: Effect.Effect<Admission> = Effect.succeed("admitted")
