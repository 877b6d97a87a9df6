/** The places of a consumer that is archived, over HTTP. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { asServer, type Guest, Usher } from "../../support/usherFixture.ts"
import * as Fixture from "../../support/usherFixture.ts"
import { anAppointment } from "../appointment/appointmentFixture.ts"
import { aDutchAuction, anAuction } from "../auction/auctionFixture.ts"
import { aDraw } from "../draw/drawFixture.ts"
import { admin } from "../experience/experienceFixture.ts"
import { aMechanism, inMechanism } from "./mechanismFixture.ts"
import { inQueue } from "../queue/queueFixture.ts"
import { placesWritten } from "../../../store/support/placesWritten.ts"

const guests = (count: number) =>
  Effect.flatMap(Usher, ({ guest }) => Effect.all(Array.from({ length: count }, () => guest())))

const archive = ({ consumerId }: Guest) => admin("DELETE", `/consumers/${consumerId}`)

/** Returns the recorded status of a consumer. */
const placesOf = Effect.fnUntraced(function* ({ consumerId }: Guest) {
  const sql = yield* SqlClient.SqlClient
  yield* placesWritten
  const rows = yield* sql<{ readonly id: string; readonly status: string; readonly reason: string | null }>`
    select mechanism_id as id, status, fields ->> 'reason' as reason from places where consumer_id = ${consumerId}`
  return new Map(rows.map(({ id, status, reason }) => [id, reason === null ? status : `${status} ${reason}`]))
})

/** Returns the consumer's events in a mechanism, and whether each names the actor that caused it. */
const recordedOf = Effect.fnUntraced(function* (id: string, { consumerId }: Guest) {
  const { data } = yield* admin("GET", `/distributions/${id}/history?first=100`)
  return data
    .filter((event: any) => event.consumerId === consumerId)
    .map(({ type, data: { by } }: any) => [type, by?.startsWith("api_key:") ?? false])
})

const aQueue = Effect.fnUntraced(function* (settings: object = {}) {
  const { queue } = yield* Usher
  const id = yield* queue(settings)
  return { id, ...(yield* inQueue(id)) }
})

describe("A consumer that is archived", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("has lost its places in mechanisms of every kind when the answer arrives", () =>
      Effect.gen(function* () {
        const [gone, other] = (yield* guests(2)) as [Guest, Guest]
        const [waiting, granted, completed, deleted] = [
          yield* aQueue(),
          yield* aQueue(),
          yield* aQueue(),
          yield* aQueue()
        ]
        for (const { enter } of [waiting, granted, completed, deleted]) yield* enter(gone)
        yield* waiting.enter(other)
        for (const { admit } of [granted, completed, deleted]) yield* admit({ consumerId: gone.consumerId })
        yield* completed.complete({ consumerId: gone.consumerId })
        yield* admin("DELETE", `/queues/${deleted.id}`)
        const [entered, won] = [yield* aDraw(), yield* aDraw()]
        for (const { enter } of [entered, won]) yield* enter(gone)
        yield* won.drawNow
        const [english, dutch] = [yield* anAuction(), yield* aDutchAuction()]
        yield* english.bid(other, "10")
        yield* english.bid(gone, "12")
        yield* dutch.bid(gone)
        const fitting = yield* anAppointment()
        const [slot] = yield* fitting.offered
        yield* fitting.book(gone, slot!.id)
        const release = yield* aMechanism("timed-releases", { capacity: 1 })
        const units = yield* inMechanism("timed-releases", release)
        yield* units.byConsumer("POST", "/enter")(gone)
        const waitlist = yield* aMechanism("waitlists")
        yield* (yield* inMechanism("waitlists", waitlist)).byConsumer("POST", "/enter")(gone)

        const archived = yield* archive(gone)
        assert.deepInclude(archived, { id: gone.consumerId, archived: true })
        assert.deepStrictEqual(
          yield* placesOf(gone),
          new Map([
            [waiting.id, "LEFT"],
            [granted.id, "DENIED ADMIN_ACTION"],
            [completed.id, "COMPLETED"],
            [deleted.id, "DENIED ADMIN_ACTION"],
            [entered.id, "LEFT"],
            [won.id, "DENIED ADMIN_ACTION"],
            [english.id, "DENIED ADMIN_ACTION"],
            [dutch.id, "DENIED ADMIN_ACTION"],
            [fitting.id, "CANCELLED"],
            [release, "DENIED ADMIN_ACTION"],
            [waitlist, "LEFT"]
          ])
        )
        assert.strictEqual((yield* waiting.status(other)).body.position, 1)
        assert.strictEqual((yield* english.status(other)).body.status, "WINNING")
        assert.lengthOf((yield* english.history()).body.data, 2)
        assert.strictEqual((yield* fitting.book(other, slot!.id)).status, 200)
        assert.strictEqual((yield* units.byConsumer("POST", "/enter")(other)).body.status, "ENTERED")
        for (const [id, expected] of [
          [waiting.id, ["Left", true]],
          [granted.id, ["Denied", true]],
          [english.id, ["Denied", true]],
          [fitting.id, ["Cancelled", true]],
          [waitlist, ["Left", true]]
        ] as const) {
          assert.deepStrictEqual((yield* recordedOf(id, gone)).at(-1), expected)
        }
      })
    )

    it.effect("is no longer found by its server, so its grant does not admit", () =>
      Effect.gen(function* () {
        const [gone] = (yield* guests(1)) as [Guest]
        const { consumerId } = gone
        const { enter, admit, validate } = yield* aQueue()
        yield* enter(gone)
        const token = (yield* admit({ consumerId })).body.admissionGrant
        assert.strictEqual((yield* validate({ consumerId, token })).body, true)
        yield* archive(gone)
        const { status, body } = yield* validate({ consumerId, token })
        assert.deepStrictEqual([status, body], [404, { error: "Consumer not found" }])
      })
    )

    it.effect("loses its remaining places when an interrupted removal is repeated, and is unknown after that", () =>
      Effect.gen(function* () {
        const { admin: call, brand } = yield* Usher
        const [gone] = (yield* guests(1)) as [Guest]
        const [first, second] = [yield* aQueue(), yield* aQueue()]
        for (const { enter } of [first, second]) yield* enter(gone)
        const sql = yield* SqlClient.SqlClient
        // The state after a process that died between archiving the consumer and removing its places.
        yield* sql`update consumers set archived = true, updated_by = 'someone' where id = ${gone.consumerId}`
        assert.deepStrictEqual([...(yield* placesOf(gone)).values()], ["QUEUED", "QUEUED"])
        const again = call({
          method: "DELETE",
          path: `/api/consumers/${gone.consumerId}`,
          headers: asServer(brand.secretKey)
        })
        const completed = yield* again
        assert.strictEqual(completed.status, 200)
        assert.deepInclude(completed.body, { id: gone.consumerId, archived: true, updatedBy: "someone" })
        assert.deepStrictEqual([...(yield* placesOf(gone)).values()], ["LEFT", "LEFT"])
        const { status, body } = yield* again
        assert.deepStrictEqual([status, body], [404, { error: "Consumer not found" }])
      })
    )

    it.effect("loses its places in a large number of mechanisms too", () =>
      Effect.gen(function* () {
        const [gone] = (yield* guests(1)) as [Guest]
        const { sequenceId } = yield* admin("GET", `/queues/${yield* (yield* Usher).queue()}`)
        const lines = yield* Effect.forEach(
          Array.from({ length: 40 }),
          () =>
            Effect.flatMap(admin("POST", "/queues", { sequenceId, name: "Line", admitRate: 0 }), ({ id }) =>
              inQueue(id)
            ),
          { concurrency: 4 }
        )
        yield* Effect.forEach(lines, ({ enter }) => enter(gone), { concurrency: 4 })
        yield* archive(gone)
        assert.deepStrictEqual(
          [...(yield* placesOf(gone)).values()],
          Array.from({ length: 40 }, () => "LEFT")
        )
      })
    )
  })
})
