/** The path of a consumer through a waitlist, over HTTP, until the notification that the sequence is open. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import * as WaitlistNotices from "../../../../src/workers/WaitlistNotices.ts"
import { eventually } from "../../admin/adminFixture.ts"
import { asServer, type Guest, Usher } from "../../support/usherFixture.ts"
import * as Fixture from "../../support/usherFixture.ts"
import { aMechanism, aSequence, inMechanism, isoUtc, soon } from "../mechanism/mechanismFixture.ts"

const services = Layer.provideMerge(WaitlistNotices.layer, Fixture.layer)

const inWaitlist = Effect.fnUntraced(function* (settings: { readonly [name: string]: unknown } = {}) {
  const id = yield* aMechanism("waitlists", settings)
  const { byConsumer, byServer: _, ...rest } = yield* inMechanism("waitlists", id)
  return {
    id,
    enter: byConsumer("POST", "/enter"),
    leave: byConsumer("POST", "/leave"),
    leaveByDelete: byConsumer("DELETE", "/leave"),
    status: byConsumer("GET", "/status"),
    ...rest
  }
})

const guests = (count: number) =>
  Effect.flatMap(Usher, ({ guest }) => Effect.all(Array.from({ length: count }, () => guest())))

/** Stores the email and the phone number of the guest. */
const known = Effect.fnUntraced(function* (
  { consumerId }: Guest,
  { email = null, phone = null }: { readonly email?: string | null; readonly phone?: string | null }
) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`update consumers set email = ${email}, phone = ${phone} where id = ${consumerId}`
})

/** Returns the messages to an address, the latest first. */
const sentTo = Effect.fnUntraced(function* (to: string) {
  const { admin, brand } = yield* Usher
  const path = `/api/outbox?to=${encodeURIComponent(to)}`
  return (yield* admin({ path, headers: asServer(brand.secretKey) })).body.data as ReadonlyArray<{
    readonly subject: string
    readonly text: string
    readonly sentAt: string
  }>
})

const standing = (isEntered: boolean, waitlistId: string) => ({
  waitlistId,
  isEntered,
  enteredAt: null,
  position: null
})

describe("A waitlist on the Consumer API", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("accepts consumers, each once, at its end, and lets them leave by either method", () =>
      Effect.gen(function* () {
        const { id, enter, leave, leaveByDelete, status } = yield* inWaitlist()
        const [first, second, third] = (yield* guests(3)) as [Guest, Guest, Guest]
        assert.deepStrictEqual((yield* status(first)).body, standing(false, id))
        const entered = yield* enter(first)
        assert.deepStrictEqual({ ...entered.body, enteredAt: null }, { ...standing(true, id), position: 1 })
        assert.match(entered.body.enteredAt, isoUtc)
        assert.deepStrictEqual((yield* enter(first)).body, entered.body)
        yield* enter(second)
        assert.strictEqual((yield* enter(third)).body.position, 3)
        const left = yield* leave(first)
        assert.deepStrictEqual([left.status, left.body], [200, standing(false, id)])
        assert.deepStrictEqual((yield* leaveByDelete(first)).body, left.body)
        assert.strictEqual((yield* status(third)).body.position, 2)
        assert.deepStrictEqual((yield* leaveByDelete(second)).body, standing(false, id))
        assert.strictEqual((yield* enter(first)).body.position, 2)
        const nobody = yield* leaveByDelete((yield* guests(1))[0]!)
        assert.deepStrictEqual([nobody.status, nobody.body.code], [409, "INVALID_STATUS"])
      })
    )

    it.effect("sends subscribers their position, also when consumers ahead of them leave", () =>
      Effect.gen(function* () {
        const { id, enter, leave, status, follow } = yield* inWaitlist()
        const [first, second] = (yield* guests(2)) as [Guest, Guest]
        yield* enter(first)
        const stream = yield* follow(second)
        assert.deepStrictEqual((yield* stream.next).data, standing(false, id))
        yield* enter(second)
        assert.deepStrictEqual((yield* stream.next).data, (yield* status(second)).body)
        yield* leave(first)
        assert.strictEqual((yield* stream.next).data.position, 1)
        yield* stream.leave
      })
    )

    it.effect("is full at its capacity, until a consumer leaves", () =>
      Effect.gen(function* () {
        const { enter, leave } = yield* inWaitlist({ capacity: 1 })
        const [first, second] = (yield* guests(2)) as [Guest, Guest]
        yield* enter(first)
        const full = yield* enter(second)
        assert.deepStrictEqual(
          [full.status, full.body, full.headers["retry-after"]],
          [409, { error: "Waitlist is full", code: "WAITLIST_FULL" }, "60"]
        )
        yield* leave(first)
        assert.strictEqual((yield* enter(second)).status, 200)
      })
    )

    it.effect("cannot be entered before it opens or after it ends", () =>
      Effect.gen(function* () {
        const opensAt = soon(3600)
        const [someone] = (yield* guests(1)) as [Guest]
        const early = yield* (yield* inWaitlist({ openAt: opensAt })).enter(someone)
        assert.deepStrictEqual(
          [early.status, early.body],
          [423, { error: "Waitlist is not open yet", code: "NOT_OPEN", opensAt }]
        )
        const { id, enter, status, byAdmin, get } = yield* inWaitlist()
        yield* enter(someone)
        yield* byAdmin("POST", "/end")
        assert.deepStrictEqual((yield* status(someone)).body, standing(false, id))
        const late = yield* enter((yield* guests(1))[0]!)
        assert.deepStrictEqual([late.status, late.body], [409, { error: "Waitlist is closed", code: "CLOSED" }])
        assert.deepInclude((yield* get).body, { id, name: "Main", capacity: null, statusOverride: "ended" })
      })
    )

    it.effect("accepts the entry of a server for its consumer, and is hidden from other organizations", () =>
      Effect.gen(function* () {
        const { consumer, brand, stranger } = yield* Usher
        const { id, status } = yield* inWaitlist()
        const [someone] = (yield* guests(1)) as [Guest]
        const path = `/api/waitlists/${id}/enter`
        const headers = asServer(brand.secretKey, someone.consumerId)
        const entered = yield* consumer({ method: "POST", path, headers })
        assert.deepStrictEqual([entered.status, entered.body.position], [200, 1])
        assert.deepStrictEqual((yield* status(someone)).body, entered.body)
        for (const [waitlistId, secretKey] of [
          [id, stranger.secretKey],
          [randomUUID(), brand.secretKey]
        ] as const) {
          const unknown = yield* consumer({ path: `/api/waitlists/${waitlistId}`, headers: asServer(secretKey) })
          assert.deepStrictEqual([unknown.status, unknown.body], [404, { error: "Waitlist not found" }])
        }
      })
    )

    it.effect("notifies each of its members once, as soon as a mechanism of the sequence opens", () =>
      Effect.gen(function* () {
        const { admin, brand } = yield* Usher
        const sequenceId = yield* aSequence("Moon boots")
        const { id, enter, leave, status } = yield* inWaitlist({ sequenceId })
        const other = yield* inWaitlist()
        const [ada, bob, eve, joe, kim] = (yield* guests(5)) as [Guest, Guest, Guest, Guest, Guest]
        const addresses = { ada: `${randomUUID()}@example.com`, kim: `${randomUUID()}@example.com` }
        yield* known(ada, { email: addresses.ada, phone: "+4915112345601" })
        yield* known(bob, { phone: "+4915112345602" })
        yield* known(joe, { phone: "+4915112345604" })
        yield* known(kim, { email: addresses.kim })
        for (const one of [ada, bob, eve, joe]) yield* enter(one)
        yield* other.enter(kim)
        yield* leave(joe)

        const openAt = soon(1.5)
        yield* aMechanism("queues", { sequenceId, admitRate: 0, openAt: soon(3600) })
        yield* aMechanism("timed-releases", { sequenceId, openAt })
        assert.deepStrictEqual(yield* sentTo(addresses.ada), [])
        const [message] = yield* eventually(sentTo(addresses.ada), (found) => found.length > 0)
        assert.deepInclude(message, { subject: "Moon boots is open" })
        const lateMillis = Date.parse(message!.sentAt) - Date.parse(openAt)
        assert.isTrue(lateMillis >= 0 && lateMillis < 20_000, `${lateMillis} ms after the opening`)
        yield* eventually(sentTo("+4915112345602"), (found) => found.length > 0)

        const late = (yield* guests(1))[0]!
        yield* known(late, { phone: "+4915112345606" })
        yield* enter(late)
        const toLate = yield* eventually(sentTo("+4915112345606"), (found) => found.length > 0)
        assert.strictEqual(toLate[0]!.text, "Moon boots is open now. You asked to be told.")

        const consumers = admin({ path: `/api/distributions/${id}/consumers`, headers: asServer(brand.secretKey) })
        const { body } = yield* eventually(consumers, (answer) =>
          answer.body.data.every((row: { readonly status: string }) => row.status !== "ENTERED")
        )
        assert.deepStrictEqual(
          body.data.map((row: { readonly [field: string]: unknown }) => [
            row["consumerId"],
            row["status"],
            row["channel"]
          ]),
          [
            [ada.consumerId, "NOTIFIED", "email"],
            [bob.consumerId, "NOTIFIED", "phone"],
            [eve.consumerId, "NOTIFIED", undefined],
            [joe.consumerId, "LEFT", undefined],
            [late.consumerId, "NOTIFIED", "phone"]
          ]
        )
        const after = (yield* status(late)).body
        assert.deepStrictEqual([after.isEntered, after.position], [true, 4])
        // Another opening notifies no member twice, and no consumer who has left or waits in another waitlist.
        yield* aMechanism("queues", { sequenceId, admitRate: 0 })
        yield* Effect.sleep("400 millis")
        for (const to of [addresses.ada, "+4915112345602", "+4915112345606"]) assert.lengthOf(yield* sentTo(to), 1)
        for (const to of [addresses.kim, "+4915112345604"]) assert.deepStrictEqual(yield* sentTo(to), [])
      })
    )
  })
})
