/** The actions of an organization's server on consumers' places, in mechanisms of every kind, over HTTP. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { anAppointment, type Slot } from "../consumer/appointment/appointmentFixture.ts"
import { admin, anExperience, aSequence, oneOfEach } from "../consumer/experience/experienceFixture.ts"
import { type Answer, asConsumer, asServer, type Guest, Usher } from "../support/usherFixture.ts"
import * as Fixture from "../support/usherFixture.ts"

const soon = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()

const lots = { auctionType: "dutch", quantity: 100, startPrice: "100", floorPrice: "1", settleAt: soon(3600) }

/** Mechanisms that can grant at once, by their groups, with the action that enters each. */
const granting = {
  queues: { settings: { admitRate: 0 }, entry: "enter" },
  draws: { settings: { winnerCount: 1, closeAt: soon(3600), drawAt: soon(3600) }, entry: "enter" },
  auctions: { settings: { ...lots, priceDropAmount: "1", priceDropIntervalSeconds: 3600 }, entry: "bid" },
  "timed-releases": { settings: {}, entry: "enter" }
} as const

type Group = keyof typeof granting
const groups = Object.keys(granting) as ReadonlyArray<Group>

const inGroup = Effect.fnUntraced(function* (group: Group, id: string) {
  const { consumer, brand } = yield* Usher
  const path = (operation: string) => `/api/${group}/${id}/${operation}`
  return {
    id,
    byServer: (operation: string, body: object, secretKey = brand.secretKey) =>
      consumer({ method: "POST", path: path(operation), headers: asServer(secretKey), body }),
    byConsumer: ({ accessToken }: Guest, method: string, operation: string) =>
      consumer({ method, path: path(operation), headers: asConsumer(brand.publishableKey, accessToken) })
  }
})

/** Creates a mechanism of the kind. */
const aMechanism = Effect.fnUntraced(function* (group: Group, settings: object = {}) {
  const sequenceId = yield* aSequence(yield* anExperience())
  const body = { sequenceId, name: "Main", ...granting[group].settings, ...settings }
  return yield* inGroup(group, (yield* admin("POST", `/${group}`, body)).id)
})

/** Creates a mechanism in which these consumers have grants. Returns their tokens in the same sequence. */
const granted = Effect.fnUntraced(function* (group: Group, holders: ReadonlyArray<Guest>) {
  const mechanism = yield* aMechanism(group, group === "draws" ? { winnerCount: holders.length } : {})
  for (const holder of holders) {
    assert.strictEqual((yield* mechanism.byConsumer(holder, "POST", granting[group].entry)).status, 200)
    if (group === "queues") yield* mechanism.byServer("admit", { consumerId: holder.consumerId })
  }
  const past = soon(-1)
  if (group === "draws") yield* admin("PUT", `/draws/${mechanism.id}`, { closeAt: past, drawAt: past })
  const tokens = yield* Effect.forEach(holders, (holder) =>
    mechanism.byConsumer(holder, "GET", "status").pipe(
      Effect.map(({ body }) => body.admissionGrant as string | undefined),
      Effect.repeat({ until: (token) => token !== undefined })
    )
  )
  return { ...mechanism, tokens: tokens.map(String) }
})

const guests = (count: number) =>
  Effect.flatMap(Usher, ({ guest }) => Effect.all(Array.from({ length: count }, () => guest())))

const shown = ({ status, body }: Answer) => [status, body] as const

const unknownConsumer = [404, { error: "Consumer not found" }] as const

/** Returns each server action of a kind on this consumer. */
const actions = (group: Group, consumerId: string) => [
  ...(group === "queues" ? [["admit", { consumerId }] as const] : []),
  ["deny", { consumerId, reason: "ADMIN_ACTION" }] as const,
  ["complete", { consumerId }] as const,
  ["validate", { consumerId, token: "shown" }] as const
]

describe("An action of a server", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("on a consumer that is unknown, archived or another tenant's is a 404 in every kind", () =>
      Effect.gen(function* () {
        const { brand, stranger, guest } = yield* Usher
        const archived = yield* guest()
        yield* admin("DELETE", `/consumers/${archived.consumerId}`)
        const foreign = yield* guest(stranger.publishableKey)
        const rehearsal = yield* guest(brand.testPublishableKey)
        const unknowns = [randomUUID(), ...[archived, foreign, rehearsal].map(({ consumerId }) => consumerId)]
        for (const group of groups) {
          const { byServer } = yield* aMechanism(group)
          for (const consumerId of unknowns) {
            for (const [operation, body] of actions(group, consumerId)) {
              const answer = yield* byServer(operation, body)
              assert.deepStrictEqual(shown(answer), unknownConsumer, `${group} ${operation}`)
            }
          }
        }
      })
    )

    it.effect("on a consumer without a place is refused by the mechanism", () =>
      Effect.gen(function* () {
        const [guest] = (yield* guests(1)) as [Guest]
        for (const group of groups) {
          const { byServer } = yield* aMechanism(group)
          const [operation, body] = actions(group, guest.consumerId).at(-2)!
          const answer = yield* byServer(operation, body)
          assert.deepStrictEqual([answer.status, answer.body.code], [409, "INVALID_STATUS"], group)
        }
      })
    )

    it.effect("on a mechanism that is unknown or another tenant's is a 404 of the mechanism for every consumer", () =>
      Effect.gen(function* () {
        const { stranger, guest } = yield* Usher
        const [own] = (yield* guests(1)) as [Guest]
        const foreign = yield* guest(stranger.publishableKey)
        for (const group of groups) {
          const mechanism = yield* aMechanism(group)
          const unknown = yield* inGroup(group, randomUUID())
          for (const { consumerId } of [own, foreign]) {
            for (const [operation, body] of actions(group, consumerId)) {
              const answers = [
                yield* unknown.byServer(operation, body, stranger.secretKey),
                yield* mechanism.byServer(operation, body, stranger.secretKey)
              ]
              assert.strictEqual(answers[0]!.status, 404)
              assert.notInclude(answers[0]!.text, "Consumer")
              assert.strictEqual(answers[1]!.text, answers[0]!.text)
            }
          }
        }
      })
    )

    it.effect("for an unknown or archived consumer in a header is refused in every kind", () =>
      Effect.gen(function* () {
        const { brand, consumer, guest } = yield* Usher
        const archived = yield* guest()
        yield* admin("DELETE", `/consumers/${archived.consumerId}`)
        const ids = yield* oneOfEach(yield* aSequence(yield* anExperience()))
        const slot = { slotId: randomUUID() }
        for (const [group, method, operation, body] of [
          ["queues", "POST", "enter"],
          ["queues", "POST", "leave"],
          ["queues", "GET", "status"],
          ["draws", "POST", "enter"],
          ["draws", "POST", "leave"],
          ["draws", "GET", "status"],
          ["auctions", "POST", "enter"],
          ["auctions", "POST", "bid", { amount: "12" }],
          ["auctions", "GET", "status"],
          ["timed-releases", "POST", "enter"],
          ["timed-releases", "POST", "leave"],
          ["timed-releases", "GET", "status"],
          ["appointments", "POST", "book", slot],
          ["appointments", "POST", "reschedule", { newSlotId: slot.slotId }],
          ["appointments", "POST", "cancel"],
          ["appointments", "GET", "me"],
          ["waitlists", "POST", "enter"],
          ["waitlists", "DELETE", "leave"],
          ["waitlists", "GET", "status"],
          ["waitlists", "GET", "events"]
        ] as const) {
          for (const consumerId of [randomUUID(), archived.consumerId]) {
            const answer = yield* consumer({
              method,
              path: `/api/${group}/${ids[group]}/${operation}`,
              headers: asServer(brand.secretKey, consumerId),
              body
            })
            assert.deepStrictEqual(shown(answer), unknownConsumer, `${group} ${operation}`)
          }
        }
      })
    )

    it.effect("costs no statement for a cached consumer", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const [holder] = (yield* guests(1)) as [Guest]
        const { consumerId } = holder
        for (const group of groups) {
          const { byServer, tokens } = yield* granted(group, [holder])
          const validated = byServer("validate", { consumerId, token: tokens[0]! })
          assert.strictEqual((yield* validated).body, true)
          // Any statement on these tables would wait, and the request with it.
          const { body } = yield* sql.withTransaction(
            Effect.gen(function* () {
              yield* sql`lock table organizations, api_keys, consumers, mechanisms, journal, places in access exclusive mode`
              return yield* Effect.timeout(validated, "5 seconds")
            })
          )
          assert.strictEqual(body, true, group)
        }
      })
    )

    it.effect("denies with a manual reason, and never with a reason of the mechanism", () =>
      Effect.gen(function* () {
        const system = ["ADMISSION_EXPIRED", "NOT_SELECTED", "QUEUE_CLOSED", "DRAW_CLOSED", "AUCTION_CLOSED"]
        const never = [...system, "TIMED_RELEASE_CLOSED", "WAITLIST_CLOSED", "APPOINTMENT_CLOSED", "NONSENSE"]
        const byHand = ["FRAUD_DETECTED", "BOT_DETECTED", "ADMIN_ACTION", "ORDER_LIMIT_EXCEEDED"]
        for (const group of groups) {
          const mechanism = yield* aMechanism(group)
          const refused = group === "queues" ? never : [...never, "ORDER_LIMIT_EXCEEDED"]
          const [guest] = (yield* guests(1)) as [Guest]
          const { consumerId } = guest
          yield* mechanism.byConsumer(guest, "POST", granting[group].entry)
          for (const reason of refused) {
            const { status, body } = yield* mechanism.byServer("deny", { consumerId, reason })
            assert.deepStrictEqual([status, body.issues?.[0].type], [400, "picklist"], `${group} ${reason}`)
          }
          for (const reason of byHand.filter((each) => !refused.includes(each))) {
            const [other] = (yield* guests(1)) as [Guest]
            yield* mechanism.byConsumer(other, "POST", granting[group].entry)
            const { status, body } = yield* mechanism.byServer("deny", { consumerId: other.consumerId, reason })
            assert.deepStrictEqual([status, body.status], [200, "DENIED"], `${group} ${reason}`)
            if (group !== "timed-releases") assert.strictEqual(body.reason, reason)
          }
        }
      })
    )

    it.effect("on a grant is the only one that works in an archived mechanism, until the last grant has ended", () =>
      Effect.gen(function* () {
        const { stranger } = yield* Usher
        for (const group of groups) {
          const [used, denied, spare] = (yield* guests(3)) as [Guest, Guest, Guest]
          const mechanism = yield* granted(group, [used, denied])
          const { id, byServer, byConsumer, tokens } = mechanism
          const shop = (operation: string, { consumerId }: Guest, more: object = {}) =>
            byServer(operation, { consumerId, ...more })
          yield* admin("DELETE", `/${group}/${id}`)
          const gone = yield* byConsumer(used, "GET", "status")
          assert.strictEqual(gone.status, 404)
          assert.strictEqual((yield* byConsumer(spare, "POST", granting[group].entry)).text, gone.text)
          if (group === "queues") assert.strictEqual((yield* shop("admit", spare)).text, gone.text)
          for (const [index, holder] of [used, denied].entries()) {
            assert.strictEqual((yield* shop("validate", holder, { token: tokens[index] })).body, true, group)
            const body = { consumerId: holder.consumerId, token: tokens[index] }
            assert.strictEqual((yield* byServer("validate", body, stranger.secretKey)).text, gone.text)
          }
          const completed = yield* shop("complete", used)
          assert.deepStrictEqual([completed.status, completed.body.status], [200, "COMPLETED"])
          assert.strictEqual((yield* shop("validate", used, { token: tokens[0] })).body.code, "GRANT_COMPLETED")
          const refused = yield* shop("deny", denied, { reason: "FRAUD_DETECTED" })
          assert.deepStrictEqual([refused.status, refused.body.status], [200, "DENIED"])
          for (const [operation, body] of actions(group, used.consumerId)) {
            const answer = yield* byServer(operation, body)
            assert.deepStrictEqual([answer.status, answer.text], [404, gone.text], `${group} ${operation}`)
          }
        }
      })
    )

    it.effect("is recorded with its key, which consumers cannot read", () =>
      Effect.gen(function* () {
        const usher = yield* Usher
        const [own, other] = (yield* guests(2)) as [Guest, Guest]
        const authorsOf = (id: string) =>
          Effect.map(admin("GET", `/distributions/${id}/history?first=100`), ({ data }) =>
            data
              .filter(({ consumerId }: any) => consumerId !== null)
              .map(({ type, data: { by } }: any) => [type, by === undefined ? "consumer" : by === author ? "key" : by])
          )
        const { createdBy: author } = yield* admin("POST", "/experiences", { name: "Whose" })
        assert.match(author, /^api_key:[0-9a-f-]{36}$/)

        const queue = yield* granted("queues", [own])
        yield* queue.byConsumer(other, "POST", "enter")
        yield* queue.byConsumer(other, "POST", "leave")
        const completed = yield* queue.byServer("complete", { consumerId: own.consumerId })
        assert.notProperty(completed.body, "by")
        yield* queue.byConsumer(other, "POST", "enter")
        yield* queue.byServer("deny", { consumerId: other.consumerId, reason: "FRAUD_DETECTED" })
        assert.deepStrictEqual(yield* authorsOf(queue.id), [
          ["Entered", "consumer"],
          ["Granted", "key"],
          ["Entered", "consumer"],
          ["Left", "consumer"],
          ["Completed", "key"],
          ["Entered", "consumer"],
          ["Denied", "key"]
        ])
        assert.notInclude((yield* queue.byConsumer(other, "GET", "status")).text, author)
        assert.notInclude(JSON.stringify(yield* admin("GET", `/distributions/${queue.id}/consumers`)), author)

        const line = yield* aMechanism("queues")
        for (const operation of ["enter", "leave"]) {
          const headers = asServer(usher.brand.secretKey, own.consumerId)
          yield* usher.consumer({ method: "POST", path: `/api/queues/${line.id}/${operation}`, headers })
        }
        assert.deepStrictEqual(yield* authorsOf(line.id), [
          ["Entered", "consumer"],
          ["Left", "key"]
        ])

        const fitting = yield* anAppointment()
        const [first, second] = (yield* fitting.offered) as [Slot, Slot]
        const byServer = (operation: string, body: object) =>
          usher.consumer({
            method: "POST",
            path: `/api/appointments/${fitting.id}/${operation}`,
            headers: asServer(usher.brand.secretKey, own.consumerId),
            body
          })
        yield* fitting.book(own, first.id)
        yield* byServer("reschedule", { newSlotId: second.id })
        yield* byServer("cancel", {})
        yield* fitting.book(own, first.id)
        yield* fitting.cancel(own)
        yield* fitting.book(own, first.id)
        yield* fitting.checkIn(own)
        yield* fitting.complete(own)
        assert.deepStrictEqual(yield* authorsOf(fitting.id), [
          ["Booked", "consumer"],
          ["Rescheduled", "key"],
          ["Cancelled", "key"],
          ["Booked", "consumer"],
          ["Cancelled", "consumer"],
          ["Booked", "consumer"],
          ["CheckedIn", "key"],
          ["Completed", "key"]
        ])
        assert.notProperty((yield* fitting.me(own)).body, "by")

        for (const group of ["draws", "auctions", "timed-releases"] as const) {
          const { id, byServer } = yield* granted(group, [own, other])
          yield* byServer("complete", { consumerId: own.consumerId })
          yield* byServer("deny", { consumerId: other.consumerId, reason: "BOT_DETECTED" })
          const last = (yield* authorsOf(id)).filter(([type]: [string]) => type === "Completed" || type === "Denied")
          assert.deepStrictEqual(
            last,
            [
              ["Completed", "key"],
              ["Denied", "key"]
            ],
            group
          )
        }
      })
    )
  })
})
