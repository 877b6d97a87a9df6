/** The handler of `pass`: a session and its entry into a queue, for a visitor to a site behind a gate. */
import { Effect } from "effect"
import type { HttpServerRequest } from "effect/http"
import { Sessions } from "../../../auth/sessions/Sessions.ts"
import { Tokens } from "../../../auth/tokens/Tokens.ts"
import { VisitTokens } from "../../../auth/tokens/VisitTokens.ts"
import { type Consumer, CurrentConsumer } from "../../../api/Credentials.ts"
import { Forbidden } from "../../../api/Errors.ts"
import type { Pass } from "../../../api/consumer/PassApi.ts"
import type { QueueState } from "../../../api/consumer/QueueApi.ts"
import { defaults, type Settings } from "../../../domain/consumer/Consumer.ts"
import { WrongStatus } from "../../../domain/mechanism/Refusals.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import { SegmentedCache } from "../../../domain/values/SegmentedCache.ts"
import { Engine } from "../../../engine/Engine.ts"
import { ConsumerRecords } from "../../../store/consumer/ConsumerRecords.ts"
import * as Gate from "../../challenge/Gate.ts"
import { callerAt } from "../../credentials/OpenedQueues.ts"
import { orAnswer, orServiceUnavailable } from "../../errors/Refusals.ts"
import { plain } from "../../server/Origins.ts"
import * as PublicUrl from "../../server/PublicUrl.ts"

interface PassRequest {
  readonly params: { readonly queueId: string }
  readonly headers: { readonly "idempotency-key"?: string }
  readonly payload: { readonly externalId?: string | null; readonly clientAddress?: string | null } | null
  readonly request: HttpServerRequest.HttpServerRequest
}

/** Makes the handler; `enter` is that of `enter`. */
export const make = Effect.fnUntraced(function* <E, R>(
  enter: (request: PassRequest) => Effect.Effect<QueueState, E, R | CurrentConsumer>
) {
  const engine = yield* Engine
  const { visitUrl } = yield* PublicUrl.make
  const tokens = yield* Tokens
  const visits = yield* VisitTokens
  const started = yield* makeStarted
  const ifNotCrowded = yield* makeIfNotCrowded

  return Effect.fnUntraced(function* (request: PassRequest) {
    const { queueId } = request.params
    const { tenant, by, gate } = yield* callerAt(queueId)
    const externalId = request.payload?.externalId ?? undefined
    // It would open the account of any consumer to a machine at the edge.
    if (externalId !== undefined && gate !== undefined) {
      return yield* new Forbidden({ error: "A gate's key cannot name a consumer" })
    }
    // An unknown queue starts no session.
    const { experienceId } = yield* orAnswer("queue")(engine.identity({ kind: "queue", id: queueId, tenant }))
    const attempt = request.headers["idempotency-key"]
    const named = attempt === undefined ? undefined : `pass ${queueId} ${attempt}`
    const address = request.payload?.clientAddress ?? undefined
    if (address !== undefined) yield* orAnswer("queue")(ifNotCrowded(tenant, experienceId, address, named))
    const { consumerId, isGuest, accessToken, refreshToken } = yield* orServiceUnavailable(
      started(tenant, by, externalId, named)
    )
    const consumer: Consumer = { tenant, consumerId, isGuest, by }
    const state = yield* Effect.provideService(enter(request), CurrentConsumer, consumer)
    const session = { consumerId, accessToken, refreshToken }
    switch (state.status) {
      case "GRANTED": {
        const { status, admissionGrant, expiresAt } = state
        return { status, ...session, admissionGrant, ...(expiresAt !== undefined && { expiresAt }) } satisfies Pass
      }
      case "QUEUED": {
        const { status, position } = state
        const subject = yield* orServiceUnavailable(tokens.verifyAccess(accessToken))
        const roomUrl = visitUrl(experienceId, yield* visits.issue({ subject: subject!, queueId }))
        return { status, ...session, ...(position !== undefined && { position }), roomUrl } satisfies Pass
      }
      default:
        return yield* orAnswer("queue")(Effect.fail(new WrongStatus({ status: state.status })))
    }
  })
})

/** Attempts that may be repeated although their address has become crowded since. */
const attemptsMax = 10_000

/** Makes the function that refuses a visitor whose address is crowded. A repeated attempt is one visitor. */
const makeIfNotCrowded = Effect.gen(function* () {
  const checked = yield* Gate.makeForAddresses
  const attempts = new SegmentedCache<true>(attemptsMax)
  return Effect.fnUntraced(function* (tenant: Tenant, experienceId: string, address: string, named?: string) {
    const attempt = named === undefined ? undefined : `${tenant.organizationId} ${tenant.mode} ${named}`
    if (attempt !== undefined && attempts.has(attempt)) return
    yield* checked(plain(address), { action: "entry", tenant, experienceId })
    if (attempt !== undefined) attempts.set(attempt, true)
  })
})

/** Makes the function that starts a session of the consumer with this external id, or of a guest. */
const makeStarted = Effect.gen(function* () {
  const sessions = yield* Sessions
  const records = yield* ConsumerRecords

  return Effect.fnUntraced(function* (tenant: Tenant, by: string, externalId: string | undefined, attempt?: string) {
    if (externalId === undefined) {
      const started = yield* sessions.guest(tenant, attempt)
      return { ...started, consumerId: started.session.consumerId, isGuest: true }
    }
    const revise = (settings: Partial<Settings>) => ({ ...defaults, ...settings, externalId })
    const upserted = records.upsert(tenant, by, [{ keys: { externalId }, revise }])
    const [consumer] = yield* Effect.catchTag(upserted, "AmbiguousRows", Effect.die)
    const { id: consumerId, type } = consumer!
    return { ...(yield* sessions.start({ tenant, consumerId })), consumerId, isGuest: type === "guest" }
  })
})
