/**
 * Whether a consumer may enter a sequence's mechanisms. Which sequences are not for everybody, or have a limit of orders, is
 * in memory, told by the database to every process (`Invalidations`), so that an entry into any other costs a look into a
 * set. For those the database is asked; whom it let in is remembered until something is taken away from anybody, but not
 * where there is a limit, as each order changes what is left.
 *
 * Where memory may have missed something, the database is asked for every sequence.
 */
import { Context, Effect, Layer } from "effect"
import type { MechanismIdentity } from "../domain/Decider.ts"
import { Invalidations } from "../store/Invalidations.ts"
import type { Unavailable } from "../store/Journal.ts"
import { type Admission, protectionTopic, SequenceAccess } from "../store/SequenceAccess.ts"
import { Recent } from "./Recent.ts"

/** Sequences known at most not to be for everybody; beyond it the database is asked for every sequence. */
const protectedMax = 200_000

/** Admitted consumers remembered at least. */
const rememberedAdmissions = 50_000

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
  }
>()("usher/auth/Protection") {
  static readonly layer = Layer.effect(
    Protection,
    Effect.gen(function* () {
      const access = yield* SequenceAccess
      const invalidations = yield* Invalidations
      const protectedIds = new Set<string>()
      let overflowed = false
      let remembered = new Recent<true>(rememberedAdmissions)

      const forget = () => {
        remembered = new Recent(rememberedAdmissions)
      }
      const protect = (sequenceId: string) => {
        if (protectedIds.size < protectedMax) protectedIds.add(sequenceId)
        else overflowed = true
      }

      yield* invalidations.subscribe(protectionTopic, {
        handle: (payload) =>
          Effect.sync((): void => {
            const [what, sequenceId] = payload.split(" ") as [string, string?]
            if (what === "open") return void protectedIds.delete(sequenceId!)
            if (what === "protected") protect(sequenceId!)
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

      const ask = (
        { sequenceId, ...tenant }: Pick<MechanismIdentity, "organizationId" | "mode" | "sequenceId">,
        consumerId: string
      ) => {
        const key = `${sequenceId} ${consumerId}`
        // What is forgotten while the database is asked is not remembered anew by the answer.
        const memory = remembered
        if (invalidations.isCurrent() && memory.get(key) !== undefined) return admitted
        return Effect.map(access.admission(tenant, sequenceId, consumerId), (admission) => {
          if (admission === "admitted") memory.set(key, true)
          return admission
        })
      }

      return {
        admission: (mechanism, consumerId) =>
          Effect.suspend(() => (isOpen(mechanism.sequenceId) ? admitted : ask(mechanism, consumerId))),
        changed: (...sequenceIds) =>
          Effect.flatMap(access.protectedAmong(sequenceIds), (ids) => {
            for (const id of ids) protect(id)
            forget()
            return invalidations.settled
          })
      }
    })
  )
}

const admitted: Effect.Effect<Admission> = Effect.succeed("admitted")
