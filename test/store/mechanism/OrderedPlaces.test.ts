/** Bookings and bids in the order of their kind, however many there are. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { orderOf } from "../../../src/domain/auction/State.ts"
import { ofText } from "../../../src/domain/values/Amount.ts"
import { OrderedPlaces } from "../../../src/store/mechanism/OrderedPlaces.ts"
import { withoutBounds } from "../../../src/store/postgres/BoundedClient.ts"
import { aQueue, aTenant, inTestMode, layer as records } from "../support/recordsFixture.ts"

const [firstSlot, everyMillis] = [Date.parse("2026-11-23T00:00:00.000Z"), 1_800_000]
const dayMillis = 86_400_000

/** Returns the plan of a page after a row of the mechanism's places, in an order. */
const planOf = Effect.fnUntraced(function* (id: string, order: string, after: string, condition: string) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly "QUERY PLAN": string }>`
    explain select * from places p
    where p.mechanism_id = ${id} and ${sql.literal(condition)} and (${sql.literal(order)}, p.consumer_id) > (${sql.literal(after)}, ${id}::uuid)
    order by ${sql.literal(order)}, p.consumer_id limit 20`
  return rows.map((row) => row["QUERY PLAN"]).join("\n")
})

describe("The ordered places of a mechanism in Postgres", () => {
  layer(records, { excludeTestServices: true })((it) => {
    it.effect("are the bookings of a day, and of all days, found through the index of slots", () =>
      Effect.gen(function* () {
        const ordered = yield* OrderedPlaces
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant()
        const { id } = yield* aQueue(tenant)
        yield* withoutBounds(sql`
          with booked as (
            select gen_random_uuid() as consumer_id, n, ${firstSlot}::bigint + (n * 7) % 20000 / 10 * ${everyMillis}::bigint as millis
            from generate_series(0, 19999) n
          )
          insert into places (mechanism_id, consumer_id, status, entered_at, updated_at, fields)
          select ${id}, consumer_id, 'BOOKED', now() + n * interval '1 ms', now(), jsonb_build_object(
            'startTime', to_char(to_timestamp(millis / 1000) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
          from booked`)
        yield* sql`analyze places`
        const [from, to] = [firstSlot + 10 * dayMillis, firstSlot + 11 * dayMillis]
        const times: Array<string> = []
        let after: string | undefined
        do {
          const query = { first: 100, ...(after !== undefined && { after }) }
          const { data, pageInfo } = yield* ordered.bookings(tenant, id, query, { begins: { from, to } })
          times.push(...data.map(({ fields }) => fields["startTime"] as string))
          after = data.length === 100 ? pageInfo.endCursor! : undefined
        } while (after !== undefined)
        const slots = Array.from({ length: 48 }, (_, n) => new Date(from + n * everyMillis).toISOString())
        assert.deepStrictEqual(
          times,
          slots.flatMap((slot) => Array.from({ length: 10 }, () => slot))
        )
        for (const other of [yield* aTenant(), inTestMode(tenant)]) {
          assert.isEmpty((yield* ordered.bookings(other, id, {}, { begins: { from, to } })).data)
        }

        const [day, all] = [
          `p.start_time >= '${new Date(from).toISOString()}' and p.start_time < '${new Date(to).toISOString()}'`,
          "p.start_time is not null"
        ]
        for (const condition of [day, all]) {
          const plan = yield* planOf(id, "p.start_time", `'${new Date(from).toISOString()}'`, condition)
          assert.include(plan, "places_by_start")
          assert.notInclude(plan, "Sort")
        }
      })
    )

    it.effect("are the bids in the order of the rules, of amounts of any length", () =>
      Effect.gen(function* () {
        const ordered = yield* OrderedPlaces
        const tenant = yield* aTenant()
        const at = firstSlot
        const bids = [
          ["00000000-0000-4000-8000-000000000001", "999", 3],
          ["00000000-0000-4000-8000-000000000002", "1000", 5],
          ["00000000-0000-4000-8000-000000000003", "999.00", 4],
          ["00000000-0000-4000-8000-000000000004", "999999999999", 9],
          ["00000000-0000-4000-8000-000000000005", "0.01", 2]
        ] as const
        const places = bids.map(([consumerId, amount, sequence]) => ({
          consumerId,
          status: "OUTBID",
          enteredAt: at,
          updatedAt: at,
          fields: { lastBidAmount: amount, bidOrder: `${orderOf(ofText(amount), sequence)}` }
        }))
        const others = [
          { ...places[0]!, consumerId: "00000000-0000-4000-8000-000000000006", status: "DENIED" },
          { ...places[0]!, consumerId: "00000000-0000-4000-8000-000000000007", fields: { bidCount: 0 } }
        ]
        const { id } = yield* aQueue(tenant, { places: [...places, ...others] })
        const ranked = Effect.map(ordered.bids(tenant, id, {}, {}), ({ data }) =>
          data.map(({ consumerId, fields }) => [Number(consumerId.at(-1)), Object.keys(fields)])
        )
        assert.deepStrictEqual(
          yield* ranked,
          [4, 2, 1, 3, 5].map((n) => [n, ["lastBidAmount"]])
        )
        assert.isEmpty((yield* ordered.bids(yield* aTenant(), id, {}, {})).data)
      })
    )

    it.effect("are the bids, read page by page through an index, however many there are", () =>
      Effect.gen(function* () {
        const ordered = yield* OrderedPlaces
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant()
        const { id } = yield* aQueue(tenant)
        yield* withoutBounds(sql`
          insert into places (mechanism_id, consumer_id, status, entered_at, updated_at, fields)
          select ${id}, gen_random_uuid(), 'OUTBID', now() + n * interval '1 ms', now(),
            jsonb_build_object('bidOrder', (n * 7 % 20000 - 9007199254740992)::text)
          from generate_series(0, 19999) n`)
        yield* sql`analyze places`
        const { data, pageInfo } = yield* ordered.bids(tenant, id, { first: 100 }, {})
        assert.strictEqual(new Set(data.map(({ consumerId }) => consumerId)).size, 100)
        const before = yield* ordered.bids(tenant, id, { last: 100, before: pageInfo.endCursor! }, {})
        assert.deepStrictEqual(before.data, data.slice(0, -1))
        const plan = yield* planOf(
          id,
          "p.bid_order",
          "-9007199254730000",
          "p.bid_order is not null and p.status <> 'DENIED'"
        )
        assert.include(plan, "places_by_bid")
        assert.notInclude(plan, "Sort")
      })
    )
  })
})
