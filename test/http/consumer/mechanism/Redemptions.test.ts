/** Completing a grant over HTTP: one redemption wins. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import * as Fixture from "../../support/usherFixture.ts"
import { Usher } from "../../support/usherFixture.ts"
import { aMechanism, aQueueByHand, inMechanism } from "./mechanismFixture.ts"

describe("Completing a grant", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("with 50 redemptions at once succeeds for exactly one", () =>
      Effect.gen(function* () {
        const guest = yield* (yield* Usher).guest()
        const { consumerId } = guest
        const queue = yield* aQueueByHand()
        const token = yield* queue.granted(guest)
        const checkouts = Array.from({ length: 50 }, (_, index) => `checkout-${index}`)
        const answers = yield* Effect.forEach(
          checkouts,
          (redemptionId) => queue.complete({ consumerId, token, redemptionId }),
          { concurrency: "unbounded" }
        )
        assert.lengthOf(
          answers.filter(({ status }) => status === 200),
          1
        )
        for (const { status, body } of answers) {
          if (status !== 200) assert.strictEqual(body.code, "ALREADY_REDEEMED")
          else assert.notProperty(body, "alreadyCompleted")
        }
        const winner = checkouts[answers.findIndex(({ status }) => status === 200)]!
        const again = yield* queue.complete({ consumerId, token, redemptionId: winner })
        const first = answers.find(({ status }) => status === 200)!.body
        assert.deepStrictEqual([again.status, again.body], [200, { ...first, alreadyCompleted: true }])
      })
    )

    it.effect("without a redemption changes nothing the second time, and says so", () =>
      Effect.gen(function* () {
        const guest = yield* (yield* Usher).guest()
        const { consumerId } = guest
        const queue = yield* aQueueByHand()
        yield* queue.granted(guest)
        const first = yield* queue.complete({ consumerId })
        assert.deepStrictEqual([first.status, first.body.status], [200, "COMPLETED"])
        assert.hasAllKeys(first.body, ["status", "enteredAt", "completedAt"])
        const again = yield* queue.complete({ consumerId, token: null, redemptionId: null })
        assert.deepStrictEqual([again.status, again.body], [200, { ...first.body, alreadyCompleted: true }])
        const late = yield* queue.complete({ consumerId, redemptionId: "late" })
        assert.deepStrictEqual([late.status, late.body.code], [409, "ALREADY_REDEEMED"])
      })
    )

    it.effect("needs the token of this consumer's present grant here, if there is a token", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const [holder, other] = [yield* guest(), yield* guest()]
        const queue = yield* aQueueByHand()
        const elsewhere = yield* aQueueByHand()
        const former = yield* queue.granted(holder)
        yield* queue.leave(holder)
        const present = yield* queue.granted(holder)
        const wrong = [
          former,
          yield* queue.granted(other),
          yield* elsewhere.granted(holder),
          holder.accessToken,
          `${present.slice(0, -4)}AAAA`,
          "nonsense",
          ""
        ]
        const { consumerId } = holder
        for (const token of wrong) {
          const refused = yield* queue.complete({ consumerId, token, redemptionId: "one" })
          assert.deepStrictEqual([refused.status, refused.body.code], [409, "INVALID_GRANT"], token)
        }
        const completed = yield* queue.complete({ consumerId, token: present, redemptionId: "one" })
        assert.deepStrictEqual([completed.status, completed.body.status], [200, "COMPLETED"])
      })
    )

    it.effect("again with a redemption that completed an earlier grant does not use the present one", () =>
      Effect.gen(function* () {
        const guest = yield* (yield* Usher).guest()
        const { consumerId } = guest
        const queue = yield* aQueueByHand({ grantsPerConsumer: 2 })
        const token = yield* queue.granted(guest)
        yield* queue.complete({ consumerId, token, redemptionId: "first" })
        yield* queue.granted(guest)
        for (const body of [
          { consumerId, redemptionId: "first" },
          { consumerId, token, redemptionId: "first" }
        ]) {
          const again = yield* queue.complete(body)
          assert.deepStrictEqual([again.status, again.body.status], [200, "GRANTED"])
          assert.isTrue(again.body.alreadyCompleted)
        }
        const second = yield* queue.complete({ consumerId, redemptionId: "second" })
        assert.deepStrictEqual([second.status, second.body.status], [200, "COMPLETED"])
      })
    )

    it.effect("is refused for a redemption without a name, or with one that is too long", () =>
      Effect.gen(function* () {
        const guest = yield* (yield* Usher).guest()
        const queue = yield* aQueueByHand()
        for (const redemptionId of ["", "x".repeat(201), 7]) {
          const refused = yield* queue.complete({ consumerId: guest.consumerId, redemptionId })
          assert.deepStrictEqual([refused.status, refused.body.error], [400, "validation_error"])
        }
      })
    )
  })
})

describe("grantsPerConsumer", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("refuses one more entry into a queue and into a timed release", () =>
      Effect.gen(function* () {
        const guest = yield* (yield* Usher).guest()
        const { consumerId } = guest
        const queue = yield* aQueueByHand({ grantsPerConsumer: 2 })
        yield* queue.granted(guest)
        yield* queue.leave(guest)
        yield* queue.granted(guest)
        yield* queue.complete({ consumerId })
        const refused = yield* queue.enter(guest)
        assert.deepStrictEqual([refused.status, refused.body.code], [409, "GRANT_LIMIT_REACHED"])

        const id = yield* aMechanism("timed-releases", { grantsPerConsumer: 1, capacity: 1 })
        const release = yield* inMechanism("timed-releases", id)
        const [enter, leave] = [release.byConsumer("POST", "/enter"), release.byConsumer("POST", "/leave")]
        assert.strictEqual((yield* enter(guest)).body.status, "ENTERED")
        assert.strictEqual((yield* enter(guest)).status, 200)
        yield* leave(guest)
        const again = yield* enter(guest)
        assert.deepStrictEqual([again.status, again.body.code], [409, "GRANT_LIMIT_REACHED"])
        assert.strictEqual((yield* enter(yield* (yield* Usher).guest())).body.status, "ENTERED")
        assert.strictEqual((yield* release.get).body.grantsPerConsumer, 1)
      })
    )

    it.effect("is between 1 and 1,000", () =>
      Effect.gen(function* () {
        const { byAdmin } = yield* inMechanism("queues", yield* aMechanism("queues", { admitRate: 0 }))
        for (const grantsPerConsumer of [0, 1_001, 1.5, "2"]) {
          assert.strictEqual((yield* byAdmin("PUT", "", { grantsPerConsumer })).status, 400)
        }
        assert.strictEqual((yield* byAdmin("PUT", "", { grantsPerConsumer: 1_000 })).body.grantsPerConsumer, 1_000)
        assert.isNull((yield* byAdmin("PUT", "", { grantsPerConsumer: null })).body.grantsPerConsumer)
      })
    )
  })
})

describe("supportsGuest", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    const soon = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()
    const kinds: ReadonlyArray<
      readonly [group: string, settings: { readonly [name: string]: unknown }, entry: string, body?: object]
    > = [
      ["queues", { admitRate: 0 }, "/enter"],
      ["draws", { drawAt: soon(3600), winnerCount: 1 }, "/enter"],
      ["auctions", { startPrice: "10", settleAt: soon(3600) }, "/enter"],
      ["auctions", { startPrice: "10", settleAt: soon(3600) }, "/bid", { amount: "10" }],
      ["timed-releases", {}, "/enter"],
      ["waitlists", {}, "/enter"],
      ["appointments", { slotDurationMinutes: 30, slotsFrom: soon(0), slotsUntil: soon(864_000) }, "/book"]
    ]

    it.effect("is true by default, on all kinds, and refuses guests where it is false", () =>
      Effect.gen(function* () {
        const { guest, consumer, brand } = yield* Usher
        const someone = yield* guest()
        for (const [group, settings, entry, body] of kinds) {
          const slot = Effect.fnUntraced(function* (id: string) {
            if (entry !== "/book") return body
            const headers = { "x-publishable-key": brand.publishableKey }
            const slots = yield* consumer({ path: `/api/appointments/${id}/slots`, headers })
            return { slotId: slots.body.data.at(-1).id }
          })
          const openId = yield* aMechanism(group, settings)
          const open = yield* inMechanism(group, openId)
          assert.isTrue((yield* open.get).body.supportsGuest, group)
          const entered = yield* open.byConsumer("POST", entry)(someone, yield* slot(openId))
          assert.strictEqual(entered.status, 200, `${group} ${entered.text}`)

          const closedId = yield* aMechanism(group, { ...settings, supportsGuest: false })
          const closed = yield* inMechanism(group, closedId)
          assert.isFalse((yield* closed.get).body.supportsGuest, group)
          const refused = yield* closed.byConsumer("POST", entry)(someone, yield* slot(closedId))
          assert.deepStrictEqual([refused.status, typeof refused.body.error], [403, "string"], group)
        }
      })
    )
  })
})
