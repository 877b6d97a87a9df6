/**
 * Whether a consumer may enter a sequence's mechanisms. Which sequences are not for everybody, or have a limit of orders, is
 * in memory, told by the database to every process (`Invalidations`), so that an entry into any other costs a look into a
 * set. For those the database is asked; whom it let in is remembered for ten seconds, unless before that something is taken
 * away from anybody, or the consumer changes; but not where there is a limit, as each order changes what is left.
 *
 * Where memory may have missed something, the database is asked for every sequence.
 */
import { Clock, Context, Effect, Layer } from "effect"
import type { MechanismIdentity } from "../../domain/mechanism/Decider.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { Invalidations } from "../../store/coordination/Invalidations.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import { type Admission, protectionTopic, SequenceAccess } from "../../store/experience/SequenceAccess.ts"
import { SegmentedCache } from "./SegmentedCache.ts"

/** Sequences known at most not to be for everybody; beyond it the database is asked for every sequence. */
const protectedMax = 200_000

/** Admitted consumers remembered at least. */
const rememberedAdmissions = 50_000

/** How long an admission is remembered: what an audience's rules look at may change without anybody being told. */
const rememberedMillis = 10_000

/** Admissions of one consumer that are remembered. */
const admissionsMax = 100

export class Protection extends Context.Service<
  Protection,
  {
    /** Whether the sequence the mechanism belongs to is for the consumer. */
    admission(
      mechanism: Pick<MechanismIdentity, "organizationId" | "mode" | "sequenceId">,
      consumerId: string
    ): Effect.Effect<Admission, Unavailable>
    /**
     * To be asked after a change to sequences or to an audience's members, before it is answered: returns when every
     * process acts on it, in this one at once. Those who have changed for whom a sequence is name it.
     */
    changed(...sequenceIds: ReadonlyArray<string>): Effect.Effect<void, Unavailable>
    /** The same after a change to consumers, who may fit an audience's rules no more. */
    consumersChanged(consumerIds: ReadonlyArray<string>): Effect.Effect<void>
  }
>()("usher/auth/sessions/Protection") {
  static readonly layer = Layer.effect(
    Protection,
    Effect.gen(function* () {
      const access = yield* SequenceAccess
      const invalidations = yield* Invalidations
      const protectedIds = new Set<string>()
      let overflowed = false
      /** By consumer: until when which sequence is known to be for it. */
      let remembered = new SegmentedCache<Map<string, Millis>>(rememberedAdmissions)
      /** How often something was forgotten. */
      let changes = 0

      const forget = () => {
        changes++
        remembered = new SegmentedCache(rememberedAdmissions)
      }
      const forgetConsumer = (consumerId: string) => {
        changes++
        remembered.delete(consumerId)
      }
      const remember = (consumerId: string, sequenceId: string, until: Millis) => {
        const known = remembered.get(consumerId)
        if (known === undefined || known.size >= admissionsMax)
          remembered.set(consumerId, new Map([[sequenceId, until]]))
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
            if (what === "consumer") return forgetConsumer(id!)
            if (what === "protected") protect(id!)
            forget()
          }),
        // What is told meanwhile stays: to ask about a sequence that is for everybody is only slower.
        refresh: Effect.suspend(() => {
          overflowed = false
          return Effect.map(access.protectedIds(protectedMax + 1), (ids) => {
            for (const id of ids) protect(id)
            forget()
          })
        })
      })

      /** True if memory says so for certain. */
      const isOpen = (sequenceId: string) => invalidations.isCurrent() && !overflowed && !protectedIds.has(sequenceId)

      const ask = Effect.fnUntraced(function* (
        { sequenceId, ...tenant }: Pick<MechanismIdentity, "organizationId" | "mode" | "sequenceId">,
        consumerId: string
      ) {
        const now = yield* Clock.currentTimeMillis
        const until = remembered.get(consumerId)?.get(sequenceId)
        if (until !== undefined && until > now && invalidations.isCurrent()) return yield* admitted
        const asOf = changes
        const admission = yield* access.admission(tenant, sequenceId, consumerId)
        // What is forgotten while the database is asked is not remembered anew by the answer.
        if (admission === "admitted" && changes === asOf) remember(consumerId, sequenceId, now + rememberedMillis)
        return admission
      })

      return {
        admission: (mechanism, consumerId) =>
          Effect.suspend(() => (isOpen(mechanism.sequenceId) ? admitted : ask(mechanism, consumerId))),
        changed: (...sequenceIds) =>
          Effect.flatMap(access.protectedAmong(sequenceIds), (ids) => {
            for (const id of ids) protect(id)
            forget()
            return invalidations.settled
          }),
        consumersChanged: (consumerIds) =>
          Effect.suspend(() => {
            consumerIds.forEach(forgetConsumer)
            return invalidations.settled
          })
      }
    })
  )
}

const admitted: Effect.Effect<Admission> = Effect.succeed("admitted")
