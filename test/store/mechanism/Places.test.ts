import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { slotId } from "../../../src/domain/appointment/Appointment.ts"
import { endStatuses } from "../../../src/domain/mechanism/PlaceFields.ts"
import type { Tenant } from "../../../src/domain/values/Ids.ts"
import { Places } from "../../../src/store/mechanism/Places.ts"
import { aQueue, aTenant, inTestMode, layer as records, walk } from "../support/recordsFixture.ts"
import { withoutBounds } from "../../../src/store/postgres/BoundedClient.ts"

const aConsumer = Effect.fnUntraced(function* (
  tenant: Tenant,
  known: { readonly email?: string; readonly phone?: string; readonly fullName?: string } = {}
) {
  const sql = yield* SqlClient.SqlClient
  const id = randomUUID()
  yield* sql`
    insert into consumers (id, organization_id, mode, type, email, phone, full_name, created_at)
    values (${id}, ${tenant.organizationId}, ${tenant.mode}, 'guest', ${known.email ?? null}, ${known.phone ?? null},
      ${known.fullName ?? null}, now())`
  return id
})

const enteredAt = Date.parse("2026-11-21T18:00:00.000Z")

const place = (consumerId: string, n: number, status = "QUEUED", fields = {}) => ({
  consumerId,
  status,
  enteredAt: enteredAt + n,
  updatedAt: enteredAt + n + 5,
  fields
})

describe("A mechanism's consumers in Postgres", () => {
  layer(records, { excludeTestServices: true })((it) => {
    it.effect("contain the known fields of the consumer and the fields of the status", () =>
      Effect.gen(function* () {
        const places = yield* Places
        const tenant = yield* aTenant()
        const known = { email: "jane@example.com", phone: "+4915112345678", fullName: "Jane Doe" }
        const jane = yield* aConsumer(tenant, known)
        const nobody = randomUUID()
        const { id } = yield* aQueue(tenant, {
          places: [place(jane, 0, "GRANTED", { grantedAt: "2026-11-21T18:00:00.005Z" }), place(nobody, 1)]
        })
        const { data } = yield* places.list(tenant, id, {}, {})
        assert.deepStrictEqual(data, [
          {
            consumerId: jane,
            ...known,
            status: "GRANTED",
            enteredAt,
            updatedAt: enteredAt + 5,
            risk: { score: 0, reasons: [] },
            fields: { grantedAt: "2026-11-21T18:00:00.005Z" }
          },
          {
            consumerId: nobody,
            email: null,
            phone: null,
            fullName: null,
            status: "QUEUED",
            enteredAt: enteredAt + 1,
            updatedAt: enteredAt + 6,
            risk: { score: 0, reasons: [] },
            fields: {}
          }
        ])
      })
    )

    it.effect("are visible to their tenant alone, and never show another tenant's data", () =>
      Effect.gen(function* () {
        const places = yield* Places
        const tenant = yield* aTenant()
        const stranger = yield* aTenant()
        const foreigner = yield* aConsumer(stranger, { email: "secret@example.com" })
        const { id } = yield* aQueue(tenant, { places: [place(foreigner, 0)] })
        assert.isNull((yield* places.list(tenant, id, {}, {})).data[0]!.email)
        assert.deepStrictEqual((yield* places.list(tenant, id, { search: "secret" }, {})).data, [])
        for (const other of [stranger, inTestMode(tenant)]) {
          assert.deepStrictEqual((yield* places.list(other, id, {}, {})).data, [])
        }
      })
    )

    it.effect("show the risk of their entries, and are filtered by its score", () =>
      Effect.gen(function* () {
        const places = yield* Places
        const tenant = yield* aTenant()
        const risk = (score: number) => ({ risk: { score, reasons: ["SHARED_ADDRESS"] } })
        const [low, high, none, ended] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
        const { id } = yield* aQueue(tenant, {
          places: [
            place(low, 0, "QUEUED", risk(0.29)),
            place(high, 1, "GRANTED", { grantedAt: "2026-11-21T18:00:00.005Z", ...risk(0.8) }),
            place(none, 2),
            place(ended, 3, "DENIED", risk(1))
          ]
        })
        yield* aQueue(tenant, { places: [place(randomUUID(), 0, "QUEUED", risk(1))] })
        const { data } = yield* places.list(tenant, id, {}, {})
        assert.deepStrictEqual(
          data.map(({ risk, fields }) => [risk.score, fields]),
          [
            [0.29, {}],
            [0.8, { grantedAt: "2026-11-21T18:00:00.005Z" }],
            [0, {}],
            [1, {}]
          ]
        )
        const found = (minRiskScore: number) =>
          Effect.map(
            walk(1, (query) => places.list(tenant, id, query, { minRiskScore })),
            (rows) => rows.map(({ consumerId }) => consumerId)
          )
        assert.deepStrictEqual(yield* found(0), [low, high, none, ended])
        assert.deepStrictEqual(yield* found(0.29), [low, high, ended])
        assert.deepStrictEqual(yield* found(0.3), [high, ended])
        assert.deepStrictEqual(yield* places.atRisk(tenant, id, 0.1, 10), [low, high])
        assert.deepStrictEqual(yield* places.atRisk(tenant, id, 0.1, 1), [low])
        assert.deepStrictEqual(yield* places.atRisk(tenant, id, 0, 10), [low, high, none])
        for (const other of [yield* aTenant(), inTestMode(tenant)]) {
          assert.deepStrictEqual(yield* places.atRisk(other, id, 0, 10), [])
        }
      })
    )

    it.effect("are listed once each by entry time, also with equal times, and filtered by status", () =>
      Effect.gen(function* () {
        const places = yield* Places
        const tenant = yield* aTenant()
        const rows = Array.from({ length: 50 }, (_, n) =>
          place(randomUUID(), Math.floor(n / 10), n % 5 === 0 ? "GRANTED" : "QUEUED")
        )
        const { id } = yield* aQueue(tenant, { places: rows })
        yield* aQueue(tenant, { places: [place(randomUUID(), 3)] })
        const expected = rows
          .toSorted((a, b) => a.enteredAt - b.enteredAt || (a.consumerId < b.consumerId ? -1 : 1))
          .map(({ consumerId }) => consumerId)
        for (const backward of [false, true]) {
          const walked = yield* walk(7, (query) => places.list(tenant, id, query, {}), { backward })
          assert.deepStrictEqual(
            walked.map(({ consumerId }) => consumerId),
            expected
          )
        }
        const granted = yield* walk(3, (query) => places.list(tenant, id, query, { status: "GRANTED" }))
        assert.lengthOf(granted, 10)
        assert.isTrue(granted.every(({ status }) => status === "GRANTED"))
        const byId = yield* walk(9, (query) => places.list(tenant, id, { ...query, sortBy: "consumerId" }, {}))
        assert.deepStrictEqual(
          byId.map(({ consumerId }) => consumerId),
          expected.toSorted()
        )
      })
    )

    it.effect("are found by a part of email or phone, by id, and by the beginning of the id", () =>
      Effect.gen(function* () {
        const places = yield* Places
        const tenant = yield* aTenant()
        const jane = yield* aConsumer(tenant, { email: "jane_doe@example.com" })
        const joe = yield* aConsumer(tenant, { phone: "+4915112345678" })
        const { id } = yield* aQueue(tenant, { places: [place(jane, 0), place(joe, 1)] })
        const found = (search: string) =>
          Effect.map(places.list(tenant, id, { search }, {}), ({ data }) => data.map(({ consumerId }) => consumerId))
        assert.deepStrictEqual(yield* found("Jane_DOE@Example"), [jane])
        assert.deepStrictEqual(yield* found("janeXdoe"), [])
        assert.deepStrictEqual(yield* found("4915112345"), [joe])
        assert.deepStrictEqual(yield* found(jane), [jane])
        assert.deepStrictEqual(yield* found(jane.toUpperCase()), [jane])
        assert.deepStrictEqual(yield* found(joe.slice(0, 13)), [joe])
        assert.deepStrictEqual(yield* found(randomUUID()), [])
      })
    )

    it.effect("are found by consumer with their status, in archived mechanisms too, except in excluded ones", () =>
      Effect.gen(function* () {
        const places = yield* Places
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant()
        const consumerId = randomUUID()
        const inQueue = (status: string, of: Tenant = tenant) =>
          Effect.map(aQueue(of, { places: [place(consumerId, 0, status), place(randomUUID(), 1)] }), ({ id }) => id)
        const standing: Array<string> = []
        const active = "QUEUED GRANTED ENTERED WON NOTIFIED BIDDING WINNING OUTBID BOOKED CHECKED_IN"
        for (const status of active.split(" ")) standing.push(yield* inQueue(status))
        for (const ended of endStatuses) yield* inQueue(ended)
        const archived = yield* inQueue("GRANTED")
        yield* sql`update mechanisms set archived = true, teardown_status = 'pending' where id = ${archived}`
        const over = yield* inQueue("GRANTED")
        yield* sql`update mechanisms set archived = true, teardown_status = 'completed' where id = ${over}`
        yield* inQueue("QUEUED", yield* aTenant())
        const found = (without: ReadonlyArray<string>) =>
          Effect.map(places.unfinished(tenant, consumerId, without), (all) => all.map(({ id }) => id))
        assert.sameMembers(yield* found([]), [...standing, archived])
        assert.deepStrictEqual(yield* found(standing), [archived])
        assert.deepStrictEqual((yield* places.unfinished(tenant, consumerId, standing))[0]!.kind, "queue")
        assert.deepStrictEqual(yield* places.unfinished(inTestMode(tenant), consumerId, []), [])
        assert.deepStrictEqual(yield* places.unfinished(tenant, randomUUID(), []), [])
      })
    )

    it.effect("are read page by page through an index, however many there are", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant()
        const { id } = yield* aQueue(tenant)
        yield* withoutBounds(sql`
          insert into places (mechanism_id, consumer_id, status, entered_at, updated_at)
          select ${id}, gen_random_uuid(), 'QUEUED', now() + n * interval '1 ms', now() from generate_series(1, 20000) n`)
        yield* sql`analyze places`
        const plan = yield* sql<{ readonly "QUERY PLAN": string }>`
          explain select * from places p
          where p.mechanism_id = ${id} and (p.entered_at, p.consumer_id) > (now(), ${id}::uuid)
          order by p.entered_at asc, p.consumer_id asc limit 20`
        const text = plan.map((row) => row["QUERY PLAN"]).join("\n")
        assert.include(text, "places_by_entry")
        assert.notInclude(text, "Sort")
      })
    )

    it.effect("are found by slot and confirmation code through an index, however many bookings there are", () =>
      Effect.gen(function* () {
        const places = yield* Places
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant()
        const { id } = yield* aQueue(tenant)
        const [slotMillis, everyMillis] = [Date.parse("2026-11-23T09:00:00.000Z"), 1_800_000]
        yield* withoutBounds(sql`
          with booked as (
            select gen_random_uuid() as consumer_id, n, 'CODE' || n as code,
              ${slotMillis}::bigint + n / 10 * ${everyMillis}::bigint as millis
            from generate_series(1, 20000) n
          ), recorded as (
            insert into journal (mechanism_id, sequence, at, type, consumer_id, data)
            select ${id}, 1 + n, now(), 'Booked', consumer_id,
              jsonb_build_object('startTime', millis, 'confirmationCode', code)
            from booked
          )
          insert into places (mechanism_id, consumer_id, status, entered_at, updated_at, fields)
          select ${id}, consumer_id, 'BOOKED', now() + n * interval '1 ms', now(), jsonb_build_object(
            'confirmationCode', code,
            'startTime', to_char(to_timestamp(millis / 1000) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
          from booked`)
        yield* sql`analyze places`
        yield* sql`analyze journal`
        const inSlot = { slotId: slotId(id, slotMillis + 1_234 * everyMillis) }
        const { data } = yield* places.list(tenant, id, {}, inSlot)
        assert.deepStrictEqual(
          data.map(({ fields }) => fields["confirmationCode"]),
          Array.from({ length: 10 }, (_, n) => `CODE${12_340 + n}`)
        )
        const byCode = yield* places.list(tenant, id, {}, { confirmationCode: "CODE777" })
        assert.deepStrictEqual(
          byCode.data.map(({ fields }) => fields["confirmationCode"]),
          ["CODE777"]
        )
        const startTime = new Date(slotMillis + 1_234 * everyMillis).toISOString()
        for (const [index, found] of [
          [
            "journal_by_confirmation_code",
            sql`select consumer_id from journal
              where mechanism_id = ${id} and type = 'Booked' and data ->> 'confirmationCode' = 'CODE777'`
          ],
          [
            "places_by_start",
            sql`select consumer_id from places p where mechanism_id = ${id} and p.start_time = ${startTime}`
          ]
        ] as const) {
          const plan = yield* sql<{ readonly "QUERY PLAN": string }>`
            explain select * from places p where p.mechanism_id = ${id} and p.consumer_id = any(array(${found}))
            order by p.entered_at asc, p.consumer_id asc limit 20`
          const text = plan.map((row) => row["QUERY PLAN"]).join("\n")
          assert.include(text, index)
          assert.include(text, "places_pkey")
          assert.notInclude(text, "Seq Scan")
        }
      })
    )
  })
})
