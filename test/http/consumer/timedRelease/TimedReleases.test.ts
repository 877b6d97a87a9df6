/** The path of a consumer through a timed release, over HTTP. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { createLocalJWKSet, decodeJwt, jwtVerify } from "jose"
import { randomUUID } from "node:crypto"
import type { Tenant } from "../../../../src/domain/values/Ids.ts"
import { aProduct, aVariant } from "../../../store/catalogue/catalogueFixture.ts"
import { asServer, Usher } from "../../support/usherFixture.ts"
import * as Fixture from "../../support/testClockFixture.ts"
import { aMechanism, created, inMechanism, isoUtc, soon } from "../mechanism/mechanismFixture.ts"

const inRelease = Effect.fnUntraced(function* (settings: object = {}) {
  const id = yield* aMechanism("timed-releases", { ...settings })
  const { byConsumer, byServer, ...rest } = yield* inMechanism("timed-releases", id)
  return {
    id,
    enter: byConsumer("POST", "/enter"),
    leave: byConsumer("POST", "/leave"),
    status: byConsumer("GET", "/status"),
    deny: byServer("/deny"),
    complete: byServer("/complete"),
    validate: byServer("/validate"),
    ...rest
  }
})

/** Creates a product of the brand with so many variants. Returns its id and theirs. */
const aProductOf = Effect.fnUntraced(function* (count: number) {
  const { brand } = yield* Usher
  const tenant: Tenant = { organizationId: brand.organizationId, mode: "live" }
  const productId = yield* aProduct(tenant)
  const variantIds = yield* Effect.forEach(Array.from({ length: count }), () => aVariant(tenant, productId))
  return { productId, variantIds }
})

/** Creates a timed release below an experience that offers these products. */
const inReleaseOf = Effect.fnUntraced(function* (products: ReadonlyArray<object>, settings: object = {}) {
  const { id: experienceId } = yield* created("/experiences", { name: "Drop", products })
  const { id: sequenceId } = yield* created("/sequences", { experienceId, name: "General sale" })
  return { experienceId, ...(yield* inRelease({ sequenceId, ...settings })) }
})

/** Sends a change to the Admin API as the brand's server. */
const changed = Effect.fnUntraced(function* (path: string, body: object) {
  const { admin, brand } = yield* Usher
  return yield* admin({ method: "PUT", path: `/api${path}`, headers: asServer(brand.secretKey), body })
})

const notFound = [404, { error: "Variant not found" }]

const soldOut = { error: "Timed release is sold out", code: "SOLD_OUT" }

describe("A timed release on the Consumer API", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("grants at once on entry, and the grant can be verified offline", () =>
      Effect.gen(function* () {
        const { guest, consumer, brand } = yield* Usher
        const { id, enter, status, get } = yield* inRelease({ admissionExpirationSeconds: 600 })
        const someone = yield* guest()
        assert.deepStrictEqual((yield* status(someone)).body, { status: "NOT_ENTERED" })
        const entered = yield* enter(someone)
        const { admissionGrant, enteredAt, expiresAt, ...rest } = entered.body
        assert.deepStrictEqual([entered.status, rest], [200, { status: "ENTERED" }])
        assert.match(enteredAt, isoUtc)
        assert.strictEqual(Date.parse(expiresAt) - Date.parse(enteredAt), 600_000)
        const jwks = (yield* consumer({ path: "/.well-known/jwks.json" })).body
        const { payload } = yield* Effect.promise(() =>
          jwtVerify(admissionGrant, createLocalJWKSet(jwks), { issuer: "usher", audience: "usher:admission" })
        )
        const { experienceId, sequenceId } = (yield* get).body
        assert.deepInclude(payload, {
          type: "admission",
          consumerId: someone.consumerId,
          organizationId: brand.organizationId,
          distributionId: id,
          distributionType: "timed_release",
          experienceId,
          sequenceId,
          iat: Math.floor(Date.parse(enteredAt) / 1000),
          exp: Math.ceil(Date.parse(expiresAt) / 1000)
        })
        assert.deepStrictEqual((yield* enter(someone)).body, entered.body)
        assert.deepStrictEqual((yield* status(someone)).body, entered.body)
      })
    )

    it.effect("accepts a selection, then another one, and keeps the grant", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const [red, blue, green] = [randomUUID(), randomUUID(), randomUUID()]
        const { enter, status, complete, get } = yield* inRelease({ variantIds: [red, blue.toUpperCase()] })
        assert.deepStrictEqual((yield* get).body.variantIds, [red, blue])
        const someone = yield* guest()
        const unknown = yield* enter(someone, { variantId: green })
        assert.deepStrictEqual([unknown.status, unknown.body], [404, { error: "Variant not found" }])
        assert.deepStrictEqual((yield* status(someone)).body, { status: "NOT_ENTERED" })
        const plain = yield* enter(someone, {})
        assert.notProperty(plain.body, "selectedVariantId")
        assert.notProperty(plain.body, "expiresAt")
        assert.notProperty(decodeJwt(plain.body.admissionGrant), "exp")
        const first = yield* enter(someone, { variantId: red.toUpperCase() })
        assert.deepStrictEqual(first.body, { ...plain.body, selectedVariantId: red })
        assert.deepStrictEqual((yield* enter(someone, { variantId: null })).body, first.body)
        const second = yield* enter(someone, { variantId: blue })
        assert.deepStrictEqual(second.body, { ...plain.body, selectedVariantId: blue })
        assert.strictEqual((yield* enter(someone, { variantId: green })).status, 404)
        assert.deepStrictEqual((yield* status(someone)).body, second.body)
        const done = (yield* complete({ consumerId: someone.consumerId })).body
        assert.deepStrictEqual([done.status, done.selectedVariantId], ["COMPLETED", blue])
        const malformed = yield* enter(yield* guest(), { variantId: "red" })
        assert.deepStrictEqual([malformed.status, malformed.body.issues[0].type], [400, "uuid"])
      })
    )

    it.effect("accepts the variants that its experience offers, and no others", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const [whole, single, other] = [yield* aProductOf(2), yield* aProductOf(2), yield* aProductOf(1)]
        const [offered, hidden] = single.variantIds as [string, string]
        const products = [{ productId: whole.productId }, { productId: single.productId, productVariantId: offered }]
        const { experienceId, enter, status, byAdmin } = yield* inReleaseOf(products)
        const someone = yield* guest()
        for (const variantId of [hidden, ...other.variantIds, randomUUID()]) {
          const { status, body } = yield* enter(someone, { variantId })
          assert.deepStrictEqual([status, body], notFound)
        }
        assert.deepStrictEqual((yield* status(someone)).body, { status: "NOT_ENTERED" })
        for (const variantId of [...whole.variantIds, offered]) {
          assert.strictEqual((yield* enter(someone, { variantId })).body.selectedVariantId, variantId)
        }
        // The selection is kept, and no other variant replaces it.
        assert.strictEqual((yield* enter(someone, { variantId: hidden })).status, 404)
        assert.strictEqual((yield* status(someone)).body.selectedVariantId, offered)

        const change = { products: [{ productId: other.productId }] }
        assert.strictEqual((yield* changed(`/experiences/${experienceId}`, change)).status, 200)
        const next = yield* guest()
        assert.strictEqual((yield* enter(next, { variantId: offered })).status, 404)
        const [variantId] = other.variantIds
        assert.strictEqual((yield* enter(next, { variantId })).body.selectedVariantId, variantId)
        yield* byAdmin("PUT", "", { variantIds: other.variantIds })
        assert.strictEqual((yield* enter(yield* guest(), { variantId })).status, 200)
      })
    )

    it.effect("accepts no selection where its experience offers nothing, and accepts entries without one", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const { variantIds } = yield* aProductOf(1)
        const { enter } = yield* inReleaseOf([])
        const someone = yield* guest()
        for (const variantId of [...variantIds, randomUUID()]) {
          const { status, body } = yield* enter(someone, { variantId })
          assert.deepStrictEqual([status, body], notFound)
        }
        assert.strictEqual((yield* enter(someone)).body.status, "ENTERED")
      })
    )

    it.effect("is sold out when all units are held, and says when to retry", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const { enter, leave, complete } = yield* inRelease({ capacity: 1, admissionExpirationSeconds: 600 })
        const [first, second] = [yield* guest(), yield* guest()]
        yield* enter(first)
        const refused = yield* enter(second)
        assert.deepStrictEqual([refused.status, refused.body], [409, soldOut])
        const seconds = Number(refused.headers["retry-after"])
        assert.isTrue(seconds > 590 && seconds <= 600)
        const left = yield* leave(first)
        assert.deepStrictEqual([left.status, left.body.status], [200, "LEFT"])
        assert.match(left.body.leftAt, isoUtc)
        assert.strictEqual((yield* enter(second)).body.status, "ENTERED")
        assert.strictEqual((yield* enter(first)).body.code, "SOLD_OUT")
        yield* complete({ consumerId: second.consumerId })
        const over = yield* enter(first)
        assert.deepStrictEqual([over.status, over.body], [409, soldOut])
        assert.notProperty(over.headers, "retry-after")
      })
    )

    it.effect("passes a unit on when its grant expires, without a request", () =>
      Fixture.withTestClock((advance) =>
        Effect.gen(function* () {
          const { guest } = yield* Usher
          const { enter, status, validate } = yield* inRelease({ capacity: 1, admissionExpirationSeconds: 1 })
          const [first, second] = [yield* guest(), yield* guest()]
          const { body } = yield* enter(first)
          assert.strictEqual((yield* enter(second)).status, 409)
          yield* advance(1)
          const { consumerId } = first
          const shown = (yield* validate({ consumerId, token: body.admissionGrant })).body
          assert.deepStrictEqual([shown.valid, shown.code], [false, "GRANT_EXPIRED"])
          assert.deepStrictEqual((yield* status(first)).body, {
            status: "EXPIRED",
            enteredAt: body.enteredAt,
            expiresAt: body.expiresAt
          })
          assert.strictEqual((yield* enter(second)).body.status, "ENTERED")
          yield* advance(1)
          assert.strictEqual((yield* enter(first)).body.status, "ENTERED")
        })
      )
    )

    it.effect("validates a grant, and returns whether it admits", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const { enter, leave, validate, complete, deny } = yield* inRelease()
        const someone = yield* guest()
        const { consumerId } = someone
        const shown = (token: string) => Effect.map(validate({ consumerId, token }), ({ body }) => body.code ?? body)
        const first = (yield* enter(someone)).body.admissionGrant as string
        assert.isTrue(yield* shown(first))
        yield* leave(someone)
        assert.strictEqual(yield* shown(first), "NOT_GRANTED")
        const second = (yield* enter(someone)).body.admissionGrant as string
        assert.strictEqual(yield* shown(first), "GRANT_REPLACED")
        assert.isTrue(yield* shown(second))
        const done = yield* complete({ consumerId })
        assert.deepStrictEqual([done.status, done.body.status], [200, "COMPLETED"])
        assert.match(done.body.completedAt, isoUtc)
        const again = (yield* complete({ consumerId })).body
        assert.deepStrictEqual(again, { ...done.body, alreadyCompleted: true })
        assert.strictEqual(yield* shown(second), "GRANT_COMPLETED")

        const other = yield* guest()
        const token = (yield* enter(other)).body.admissionGrant as string
        const denied = yield* deny({ consumerId: other.consumerId, reason: "FRAUD_DETECTED" })
        assert.deepStrictEqual([denied.status, Object.keys(denied.body)], [200, ["status", "enteredAt"]])
        assert.strictEqual(denied.body.status, "DENIED")
        const refused = yield* validate({ consumerId: other.consumerId, token })
        assert.strictEqual(refused.body.code, "GRANT_DENIED")
        assert.strictEqual((yield* enter(other)).body.status, "DENIED")
        const twice = yield* complete({ consumerId: other.consumerId })
        assert.deepStrictEqual([twice.status, twice.body.code], [409, "INVALID_STATUS"])
      })
    )

    it.effect("cannot be entered before it opens or after it ends; grants stay", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const opensAt = soon(3600)
        const early = yield* (yield* inRelease({ openAt: opensAt })).enter(yield* guest())
        assert.deepStrictEqual(
          [early.status, early.body],
          [423, { error: "Timed release is not open yet", code: "NOT_OPEN", opensAt }]
        )
        const { enter, status, byAdmin } = yield* inRelease()
        const someone = yield* guest()
        yield* enter(someone)
        assert.strictEqual((yield* byAdmin("POST", "/end")).status, 200)
        const late = yield* enter(yield* guest())
        assert.deepStrictEqual([late.status, late.body], [409, { error: "Timed release is closed", code: "CLOSED" }])
        assert.strictEqual((yield* status(someone)).body.status, "ENTERED")
      })
    )

    it.effect("refuses guests where they are not supported", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const { enter } = yield* inRelease({ supportsGuest: false })
        const { status, body } = yield* enter(yield* guest())
        assert.deepStrictEqual([status, body], [403, { error: "Timed release does not admit guests" }])
      })
    )

    it.effect("sends subscribers the content of the status, until no more changes can follow", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const { productId, variantIds } = yield* aProductOf(1)
        const { enter, leave, status, follow, byAdmin } = yield* inReleaseOf([{ productId }])
        const someone = yield* guest()
        const stream = yield* follow(someone)
        assert.deepStrictEqual((yield* stream.next).data, { status: "NOT_ENTERED" })
        yield* enter(someone)
        assert.deepStrictEqual((yield* stream.next).data, (yield* status(someone)).body)
        yield* enter(someone, { variantId: variantIds[0] })
        const selected = (yield* stream.next).data
        assert.deepStrictEqual(selected, (yield* status(someone)).body)
        assert.isString(selected.admissionGrant)
        yield* leave(someone)
        assert.strictEqual((yield* stream.next).data.status, "LEFT")
        yield* byAdmin("POST", "/end")
        assert.deepStrictEqual((yield* stream.next).data, { reason: "CLOSED" })
      })
    )

    it.effect("accepts the entry of a server for its consumer, and is left once", () =>
      Effect.gen(function* () {
        const { guest, consumer, brand } = yield* Usher
        const { productId, variantIds } = yield* aProductOf(1)
        const { id, status, leave } = yield* inReleaseOf([{ productId }])
        const someone = yield* guest()
        const nowhere = yield* leave(someone)
        assert.deepStrictEqual([nowhere.status, nowhere.body.code], [409, "INVALID_STATUS"])
        const entered = yield* consumer({
          method: "POST",
          path: `/api/timed-releases/${id}/enter`,
          headers: asServer(brand.secretKey, someone.consumerId),
          body: { variantId: variantIds[0] }
        })
        assert.deepStrictEqual([entered.status, entered.body.status], [200, "ENTERED"])
        assert.deepStrictEqual((yield* status(someone)).body, entered.body)
        const left = yield* leave(someone)
        assert.deepStrictEqual((yield* leave(someone)).body, left.body)
      })
    )

    it.effect("shows its public fields without a session", () =>
      Effect.gen(function* () {
        const openAt = soon(60)
        const { id, get } = yield* inRelease({ openAt, capacity: 500, admissionExpirationSeconds: 60 })
        const { status, body } = yield* get
        assert.strictEqual(status, 200)
        assert.deepInclude(body, {
          id,
          name: "Main",
          timeZone: "UTC",
          openAt,
          closeAt: null,
          supportsGuest: true,
          capacity: 500,
          admissionExpirationSeconds: 60,
          variantIds: null,
          lifecycle: "scheduled",
          statusOverride: null,
          teardownStatus: null
        })
        const { consumer, brand } = yield* Usher
        const unknown = yield* consumer({
          path: `/api/timed-releases/${randomUUID()}`,
          headers: { "x-publishable-key": brand.publishableKey }
        })
        assert.deepStrictEqual([unknown.status, unknown.body], [404, { error: "Timed release not found" }])
      })
    )
  })
})
