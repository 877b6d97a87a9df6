/** The path of a consumer to a unit that a waitlist offers, over HTTP, with the workers that carry units. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { eventually } from "../../admin/adminFixture.ts"
import { aStock, layer as stocks } from "../../support/stockFixture.ts"
import { advances, withTestClock } from "../../support/testClockFixture.ts"
import { asServer, type Guest, Usher } from "../../support/usherFixture.ts"
import { aMechanism, aSequence, inMechanism } from "../mechanism/mechanismFixture.ts"

/** Creates a stock of so many units, and a waitlist that offers them. */
const anOffering = Effect.fnUntraced(function* (units: number, settings: { readonly [name: string]: unknown } = {}) {
  const { admin, brand } = yield* Usher
  const stock = yield* aStock(units)
  const id = yield* aMechanism("waitlists", { offers: true, stockId: stock.id, ...settings })
  const { byConsumer, byServer, ...rest } = yield* inMechanism("waitlists", id)
  const headers = asServer(brand.secretKey)
  const status = byConsumer("GET", "/status")
  return {
    id,
    variantId: stock.variantId,
    status,
    enter: byConsumer("POST", "/enter"),
    leave: byConsumer("POST", "/leave"),
    complete: byServer("/complete"),
    validate: byServer("/validate"),
    stock: stock.read,
    adjust: stock.adjust,
    order: (body: object) => admin({ method: "POST", path: "/api/orders", headers, body }),
    /** Waits until the member has this status, and returns its standing. */
    whenIn: (guest: Guest, expected: string) =>
      Effect.map(
        eventually(status(guest), ({ body }) => body.status === expected),
        ({ body }) => body
      ),
    ...rest
  }
})

const twoGuests = Effect.flatMap(Usher, ({ guest }) => Effect.all([guest(), guest()]))

describe("A waitlist with offers on the Consumer API", () => {
  layer(Layer.provideMerge(advances, stocks), { excludeTestServices: true })((it) => {
    it.effect("offers its unit to the first member with a token, and the token completes the member's order", () =>
      Effect.gen(function* () {
        const waitlist = yield* anOffering(0)
        const [ada, bob] = yield* twoGuests
        const { body: entered } = yield* waitlist.enter(ada)
        assert.deepInclude(entered, { isEntered: true, position: 1 })
        assert.notProperty(entered, "status")
        yield* waitlist.enter(bob)
        yield* waitlist.adjust(1)
        const offer = yield* waitlist.whenIn(ada, "OFFERED")
        assert.deepInclude(offer, { waitlistId: waitlist.id, isEntered: true, position: null })
        // Without a setting, an offer lasts for an hour.
        assert.strictEqual(Date.parse(offer.expiresAt) - Date.parse(offer.offeredAt), 3_600_000)
        assert.strictEqual((yield* waitlist.status(bob)).body.position, 1)
        const { consumerId } = ada
        const token = offer.admissionGrant
        assert.strictEqual((yield* waitlist.validate({ consumerId, token })).body, true)
        const stolen = yield* waitlist.complete({ consumerId: bob.consumerId, token, redemptionId: "stolen" })
        assert.deepStrictEqual([stolen.status, stolen.body.code], [409, "INVALID_GRANT"])

        const externalId = `order-of-${consumerId}`
        const { body: used } = yield* waitlist.complete({ consumerId, token, redemptionId: externalId })
        assert.strictEqual(used.status, "COMPLETED")
        const items = [{ productVariantId: waitlist.variantId, quantity: 1, unitPrice: "9" }]
        const ordered = yield* waitlist.order({ consumerId, distributionId: waitlist.id, externalId, items })
        assert.deepStrictEqual([ordered.status, ordered.body.distributionId], [201, waitlist.id])
        const shown = yield* eventually(waitlist.stock, ({ sold }) => sold === 1)
        assert.deepInclude(shown, { onHand: 1, free: 0, underway: 0 })
        assert.deepInclude((yield* waitlist.validate({ consumerId, token })).body, { code: "GRANT_COMPLETED" })
        // Nothing is left for the next member.
        assert.notProperty((yield* waitlist.status(bob)).body, "status")
      })
    )

    it.effect("gives the unit to the next when a member declines it, and the member may join again", () =>
      Effect.gen(function* () {
        const waitlist = yield* anOffering(1)
        const [ada, bob] = yield* twoGuests
        yield* waitlist.enter(ada)
        const { admissionGrant: token } = yield* waitlist.whenIn(ada, "OFFERED")
        yield* waitlist.enter(bob)
        const declined = yield* waitlist.leave(ada)
        assert.deepInclude(declined.body, { isEntered: false, position: null })
        assert.notProperty(declined.body, "admissionGrant")
        yield* waitlist.whenIn(bob, "OFFERED")
        assert.deepInclude((yield* waitlist.validate({ consumerId: ada.consumerId, token })).body, {
          code: "NOT_GRANTED"
        })
        assert.strictEqual((yield* waitlist.enter(ada)).body.position, 1)
      })
    )

    it.effect("gives the unit to the next when an offer lapses, and follows the member live", () =>
      withTestClock((advance) =>
        Effect.gen(function* () {
          const waitlist = yield* anOffering(0, { admissionExpirationSeconds: 60 })
          const [ada, bob] = yield* twoGuests
          yield* waitlist.enter(ada)
          yield* waitlist.enter(bob)
          const stream = yield* waitlist.follow(ada)
          assert.strictEqual((yield* stream.next).data.position, 1)
          yield* waitlist.adjust(1)
          yield* advance(0)
          const offered = (yield* stream.next).data
          assert.strictEqual(offered.status, "OFFERED")
          assert.isString(offered.admissionGrant)
          yield* advance(60)
          const lapsed = (yield* stream.next).data
          assert.deepInclude(lapsed, { status: "EXPIRED", isEntered: false, expiresAt: offered.expiresAt })
          yield* stream.leave
          const { status, admissionGrant: token, offeredAt } = (yield* waitlist.status(bob)).body
          assert.deepStrictEqual([status, offeredAt], ["OFFERED", offered.expiresAt])
          const late = yield* waitlist.complete({ consumerId: ada.consumerId, token: offered.admissionGrant })
          assert.strictEqual(late.status, 409)
          yield* waitlist.complete({ consumerId: bob.consumerId, token })
          yield* advance(0)
          assert.strictEqual((yield* waitlist.stock).sold, 1)
        })
      )
    )

    it.effect("needs a stock, and a stock needs offers", () =>
      Effect.gen(function* () {
        const { admin, brand } = yield* Usher
        const sequenceId = yield* aSequence()
        const { id: stockId } = yield* aStock(1)
        const headers = asServer(brand.secretKey)
        const post = (settings: object) =>
          admin({
            method: "POST",
            path: "/api/waitlists",
            headers,
            body: { name: "Waiting", sequenceId, ...settings }
          })
        for (const [settings, field] of [
          [{ offers: true }, "offers"],
          [{ stockId }, "stockId"],
          [{ admissionExpirationSeconds: 60 }, "admissionExpirationSeconds"]
        ] as const) {
          const refused = yield* post(settings)
          assert.strictEqual(refused.status, 400, refused.text)
          assert.include(JSON.stringify(refused.body.issues), `"${field}"`)
        }
        const id = yield* aMechanism("waitlists", { offers: true, stockId })
        const withdrawn = yield* admin({
          method: "PUT",
          path: `/api/waitlists/${id}`,
          headers,
          body: { stockId: null }
        })
        assert.include([400, 409], withdrawn.status)
      })
    )
  })
})
