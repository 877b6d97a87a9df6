/** Receivers over real HTTP, the worker that handles what they get, and grants to pay for. */
import { Effect, Layer } from "effect"
import type { InboundRequest } from "../../../../src/domain/receiver/Adapter.ts"
import { Engine } from "../../../../src/engine/Engine.ts"
import * as Worker from "../../../../src/workers/ReceivedEvents.ts"
import { stripeEvent, stripeRequest, stripeSecret } from "../../../domain/receiver/vectors.ts"
import { asConsumer, asServer, send, Usher } from "../../support/usherFixture.ts"

/** A worker of its own. The effect handles events until none is due. */
export const aWorker = Effect.map(Effect.provide(Worker.make, Layer.fresh(Worker.stores)), (round) =>
  Effect.repeat(round, { while: (isMore) => isMore })
)

/** Sends a request of the Admin API with the brand's key. Returns the body of its answer. */
export const admin = Effect.fnUntraced(function* (method: string, path: string, body?: object) {
  const { admin, brand } = yield* Usher
  const answer = yield* admin({
    method,
    path: `/api${path}`,
    headers: asServer(brand.secretKey),
    ...(body && { body })
  })
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status} ${answer.text}`)
  return answer.body
})

/** Creates a receiver of the brand. */
export const aReceiver = Effect.fnUntraced(function* (settings: object = {}) {
  const created = yield* admin("POST", "/receivers", { adapter: "stripe", secret: stripeSecret, ...settings })
  return created as { readonly id: string; readonly path: string }
})

/** Posts a provider's request to the receiver, on any listener. */
export const postTo = (
  url: string,
  { path }: { readonly path: string },
  { headers, rawBody }: Pick<InboundRequest, "headers" | "rawBody">
) =>
  send(url, {
    method: "POST",
    path,
    headers: { "content-type": "application/octet-stream", ...(headers as { readonly [name: string]: string }) },
    body: Buffer.from(rawBody).toString("utf8")
  })

/** Posts an event of Stripe, signed now. */
export const postStripe = Effect.fnUntraced(function* (
  receiver: { readonly path: string },
  body: string,
  options: { readonly secret?: string; readonly at?: number; readonly url?: string } = {}
) {
  const { consumerUrl } = yield* Usher
  const at = options.at ?? Math.floor(Date.now() / 1_000)
  return yield* postTo(options.url ?? consumerUrl, receiver, stripeRequest(body, { ...options, at }))
})

/** The log of a receiver, oldest first, as type, status and outcome. */
export const logOf = Effect.fnUntraced(function* ({ id }: { readonly id: string }) {
  const { data } = yield* admin("GET", `/receivers/${id}/events?sortDir=asc`)
  return (data as ReadonlyArray<{ eventId: string; status: string; outcome: string }>).map(
    ({ eventId, status, outcome }) => `${eventId} ${status} ${outcome}`
  )
})

/** A guest that holds a grant in a new queue, and the `jti` of the grant's token. */
export const aGrant = Effect.fnUntraced(function* (settings: object = {}) {
  const usher = yield* Usher
  const engine = yield* Engine
  const { consumerId, accessToken } = yield* usher.guest()
  const distributionId = yield* usher.queue(settings)
  const tenant = { organizationId: usher.brand.organizationId, mode: "live" } as const
  const queue = { kind: "queue", id: distributionId, tenant } as const
  yield* engine.send(queue, { _tag: "Enter", consumerId, isGuest: true, loyaltyScore: 0 })
  yield* engine.send(queue, { _tag: "Admit", consumerId, by: "admin" })
  const { body } = yield* usher.consumer({
    path: `/api/queues/${distributionId}/status`,
    headers: asConsumer(usher.brand.publishableKey, accessToken)
  })
  const status = Effect.map(engine.view(queue, consumerId), (view) => view.status)
  return { consumerId, distributionId, queue, tenant, jti: jtiOf(body.admissionGrant), status }
})

/** A guest that has won a unit of a new dutch auction in EUR at this price, and the `jti` of the grant's token. */
export const aWonAuction = Effect.fnUntraced(function* (price: string) {
  const { guest, consumer, brand } = yield* Usher
  const { consumerId, accessToken } = yield* guest()
  const { id: experienceId } = yield* admin("POST", "/experiences", { name: "Drop", currencyCode: "EUR" })
  const { id: sequenceId } = yield* admin("POST", "/sequences", { experienceId, name: "Sale" })
  const { id } = yield* admin("POST", "/auctions", {
    sequenceId,
    name: "Last pair",
    auctionType: "dutch",
    settleAt: new Date(Date.now() + 3_600_000).toISOString(),
    openAt: new Date(Date.now() - 1_000).toISOString(),
    startPrice: price,
    floorPrice: "1.00",
    priceDropAmount: "1.00",
    priceDropIntervalSeconds: 3_600
  })
  const call = { headers: asConsumer(brand.publishableKey, accessToken), method: "POST", body: {} }
  const { body, text } = yield* consumer({ ...call, path: `/api/auctions/${id}/bid` })
  if (body?.status !== "WON") throw new Error(text)
  return { consumerId, jti: jtiOf(body.admissionGrant) }
})

/** A guest that holds a grant in a new queue or timed release of an experience, and the `jti` of the grant's token. */
export const aGrantIn = Effect.fnUntraced(function* (
  experience: object,
  { sequence = {}, variantId }: { readonly sequence?: object; readonly variantId?: string } = {}
) {
  const { guest, consumer, brand } = yield* Usher
  const { consumerId, accessToken } = yield* guest()
  const created = yield* admin("POST", "/experiences", { name: "Drop", currencyCode: "EUR", ...experience })
  const sequenceId = (yield* admin("POST", "/sequences", { experienceId: created.id, name: "Sale", ...sequence })).id
  const { id } = yield* admin("POST", "/timed-releases", { sequenceId, name: "Window" })
  const headers = asConsumer(brand.publishableKey, accessToken)
  const enter = (body: object) => consumer({ method: "POST", path: `/api/timed-releases/${id}/enter`, headers, body })
  const { body, text } = yield* enter(variantId === undefined ? {} : { variantId })
  if (body?.status !== "ENTERED") throw new Error(text)
  return { consumerId, distributionId: id as string, jti: jtiOf(body.admissionGrant), enter }
})

/** A new product whose variants have these prices. */
export const aProduct = (...prices: ReadonlyArray<string | null>) =>
  admin("POST", "/products", { name: "Cap", variants: prices.map((price) => ({ price })) })

/** The `jti` of a token. */
export const jtiOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString("utf8")).jti

/** The orders of a consumer. */
export const ordersOf = Effect.fnUntraced(function* (consumerId: string) {
  const { data } = yield* admin("GET", `/orders?consumerId=${consumerId}`)
  return data as ReadonlyArray<{ readonly [name: string]: unknown }>
})

let made = 0

/** An event that a checkout for the grant is paid, and the event of its refund. */
export const aCheckout = (jti: string | null, more: object = {}) => {
  const n = `${Date.now()}_${made++}`
  const session = {
    id: `cs_${n}`,
    client_reference_id: jti,
    payment_status: "paid",
    payment_intent: `pi_${n}`,
    amount_total: 4990,
    currency: "eur",
    ...more
  }
  const charge = { id: `ch_${n}`, payment_intent: session.payment_intent, refunded: true }
  return {
    session,
    charge,
    paid: stripeEvent("checkout.session.completed", session, `evt_paid_${n}`),
    paidLater: stripeEvent("checkout.session.async_payment_succeeded", session, `evt_later_${n}`),
    refunded: stripeEvent("charge.refunded", charge, `evt_refund_${n}`),
    ids: { paid: `evt_paid_${n}`, paidLater: `evt_later_${n}`, refunded: `evt_refund_${n}` }
  }
}
