/** The handler of `renew`: the visitors to a site that its gate has seen. */
import { Effect, Result } from "effect"
import { type GrantClaims, Grants } from "../../../auth/tokens/Grants.ts"
import { GrantNames } from "../../../auth/tokens/GrantNames.ts"
import type { Renewal } from "../../../api/consumer/PassApi.ts"
import { namedGrant } from "../../../domain/mechanism/GrantName.ts"
import type { MechanismRef, RefusalOf } from "../../../domain/mechanism/Mechanism.ts"
import { NotRenewable } from "../../../domain/mechanism/Refusals.ts"
import { SegmentedCache } from "../../../domain/values/SegmentedCache.ts"
import { Engine, type EngineError } from "../../../engine/Engine.ts"
import { GrantHolders } from "../../../store/mechanism/GrantHolders.ts"
import { callerAt } from "../../credentials/OpenedQueues.ts"
import { orAnswer } from "../../errors/Refusals.ts"

/** Renewals of one request that are in the engine at the same time. It records them together. */
const renewalsAtOnce = 250

/** Grants whose consumers are remembered: those inside of a large site. */
const rememberedMax = 50_000

/** A grant of the queue that a text names. */
interface Seen {
  readonly jti: string
  readonly sequence: number
  /** Known from the token. */
  readonly consumerId?: string
}

interface RenewRequest {
  readonly params: { readonly queueId: string }
  readonly payload: { readonly grants: ReadonlyArray<string> }
}

export const make = Effect.gen(function* () {
  const engine = yield* Engine
  const seenIn = yield* makeSeenIn
  const holdersOf = yield* makeHoldersOf

  const renewed = (queue: MechanismRef<"queue">, { jti, sequence }: Seen, consumerId: string) =>
    engine.send(queue, { _tag: "Renew", consumerId, grantSequence: sequence }).pipe(
      Effect.map((view): Renewal => ({ jti, expiresAt: "expiresAt" in view ? (view.expiresAt ?? null) : null })),
      Effect.catchTag(["WrongStatus", "InvalidGrant"], () => Effect.succeed<Renewal>({ jti, code: "GRANT_ENDED" }))
    )

  const renew = Effect.fnUntraced(function* (
    queue: MechanismRef<"queue">,
    texts: ReadonlyArray<string>
  ): Effect.fn.Return<ReadonlyArray<Renewal>, RefusalOf<"queue"> | EngineError> {
    const { configuration } = yield* engine.definition(queue)
    if (configuration.admissionRenewal === undefined) return yield* new NotRenewable()
    const seen = yield* Effect.forEach(texts, (text) => seenIn(queue, text))
    const consumers = yield* holdersOf(queue, seen)
    return yield* Effect.forEach(
      seen,
      (grant, index) => {
        const consumerId = consumers[index]
        if (grant === undefined || consumerId === undefined) {
          return Effect.succeed<Renewal>({ jti: null, code: "INVALID_GRANT" })
        }
        return renewed(queue, grant, consumerId)
      },
      { concurrency: renewalsAtOnce }
    )
  })

  return Effect.fnUntraced(function* ({ params: { queueId }, payload: { grants } }: RenewRequest) {
    const { tenant } = yield* callerAt(queueId)
    // An archived queue has grants until the last of them has ended.
    const queue = { kind: "queue", id: queueId, tenant, includesArchived: true } as const
    const results = yield* orAnswer("queue")(renew(queue, grants))
    return { renewed: results.filter((result) => "expiresAt" in result).length, results }
  })
})

/** Makes the function that returns the grant of the queue that a text names: a token, or a `jti` with its proof. */
const makeSeenIn = Effect.gen(function* () {
  const grants = yield* Grants
  const names = yield* GrantNames

  const ofClaims = (
    { id, tenant }: MechanismRef<"queue">,
    { jti, consumerId, organizationId, distributionId }: GrantClaims
  ): Seen | undefined => {
    const named = namedGrant(jti)
    const isOwn = organizationId === tenant.organizationId && distributionId === id && named?.mechanismId === id
    return isOwn ? { jti, sequence: named.sequence, consumerId } : undefined
  }

  return (queue: MechanismRef<"queue">, text: string): Effect.Effect<Seen | undefined> => {
    const named = namedGrant(text)
    if (named !== undefined) {
      const isOwn = named.mechanismId === queue.id && names.isWhole(named)
      return Effect.succeed(isOwn ? { jti: named.name, sequence: named.sequence } : undefined)
    }
    return Effect.map(grants.verifyAnyTime(text), (claims) =>
      Result.isSuccess(claims) ? ofClaims(queue, claims.success) : undefined
    )
  }
})

/** Makes the function that returns the consumers of grants. A grant never changes its consumer. */
const makeHoldersOf = Effect.gen(function* () {
  const holders = yield* GrantHolders
  const remembered = new SegmentedCache<string>(rememberedMax)

  return Effect.fnUntraced(function* ({ id, tenant }: MechanismRef<"queue">, seen: ReadonlyArray<Seen | undefined>) {
    const keyOf = (sequence: number) => `${id}.${sequence}`
    const isUnknown = (grant: Seen | undefined): grant is Seen =>
      grant !== undefined && grant.consumerId === undefined && !remembered.has(keyOf(grant.sequence))
    const unknown = seen.filter(isUnknown).map(({ sequence }) => sequence)
    const found = unknown.length === 0 ? new Map<number, string>() : yield* holders.find(tenant, id, unknown)
    for (const [sequence, consumerId] of found) remembered.set(keyOf(sequence), consumerId)
    return seen.map((grant) => grant && (grant.consumerId ?? remembered.get(keyOf(grant.sequence))))
  })
})
