/** A queue that sells from a stock with another mechanism, over HTTP, with the workers that carry units. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { eventually } from "../../admin/adminFixture.ts"
import { aStock, layer as stocks } from "../../support/stockFixture.ts"
import { asServer, Usher } from "../../support/usherFixture.ts"
import { aMechanism, aSequence, inMechanism } from "../mechanism/mechanismFixture.ts"

describe("A queue of a stock on the Consumer API", () => {
  layer(stocks, { excludeTestServices: true })((it) => {
    it.effect("says that it is sold out and whether units may come, keeps its places, and goes on by itself", () =>
      Effect.gen(function* () {
        const { admin, brand, consumer, guest } = yield* Usher
        const { id: stockId, adjust } = yield* aStock(2)
        const sequenceId = yield* aSequence()
        const queueId = yield* aMechanism("queues", { sequenceId, stockId, admitRate: 60_000 })
        const otherId = yield* aMechanism("waitlists", { offers: true, stockId })
        const queue = yield* inMechanism("queues", queueId)
        const other = yield* inMechanism("waitlists", otherId)
        const [enter, status] = [queue.byConsumer("POST", "/enter"), queue.byConsumer("GET", "/status")]
        const soldOut = (mayReturn: boolean) => (answer: { readonly body: any }) =>
          answer.body.soldOut?.mayReturn === mayReturn

        // One unit is offered to a member of the waitlist, the other one is admitted to.
        const [member, first, second] = [yield* guest(), yield* guest(), yield* guest()]
        yield* other.byConsumer("POST", "/enter")(member)
        yield* eventually(other.byConsumer("GET", "/status")(member), ({ body }) => body.status === "OFFERED")
        yield* enter(first)
        yield* eventually(status(first), ({ body }) => body.status === "GRANTED")
        yield* enter(second)
        const stream = yield* queue.follow(second)
        const inLine = yield* eventually(status(second), soldOut(true))
        assert.deepInclude(inLine.body, { status: "QUEUED", position: 1, soldOut: { mayReturn: true } })
        assert.notProperty(inLine.body, "estimatedWaitTimeInSeconds")

        // The queue's own unit is sold; that of the waitlist may still come back.
        yield* queue.byServer("/complete")({ consumerId: first.consumerId })
        const experienceId = (yield* admin({
          path: `/api/sequences/${sequenceId}`,
          headers: asServer(brand.secretKey)
        })).body.experienceId
        const live = Effect.map(consumer({ path: `/api/experiences/${experienceId}/live` }), ({ body }) => ({
          body: body.mechanisms[0]
        }))
        yield* eventually(live, soldOut(true))
        assert.isTrue((yield* status(second)).body.soldOut.mayReturn)
        yield* other.byServer("/complete")({ consumerId: member.consumerId })
        yield* eventually(status(second), soldOut(false))
        assert.strictEqual((yield* eventually(live, soldOut(false))).body.unitsLeft, 0)
        assert.strictEqual((yield* status(second)).body.position, 1)

        yield* adjust(1)
        yield* eventually(status(second), ({ body }) => body.status === "GRANTED")
        yield* eventually(live, ({ body }) => body.soldOut?.mayReturn === true)
        // Those who follow were told each of it.
        const told: Array<string> = []
        while (told.at(-1) !== "GRANTED") {
          const { status, soldOut } = (yield* stream.next).data
          const line = soldOut === undefined ? status : `${status}, mayReturn: ${soldOut.mayReturn}`
          if (line !== told.at(-1)) told.push(line)
        }
        assert.includeMembers(told, ["QUEUED, mayReturn: true", "QUEUED, mayReturn: false", "GRANTED"])
        yield* stream.leave
      })
    )

    it.effect("grants a unit that it has from memory: an entry runs no statement about its stock", () =>
      Effect.gen(function* () {
        const { admin, brand, guest } = yield* Usher
        const sql = yield* SqlClient.SqlClient
        const { id: stockId, read } = yield* aStock(2)
        const queueId = yield* aMechanism("queues", { stockId, admitRate: 60_000 })
        const takers = [{ distributionId: queueId, units: 2 }]
        const headers = asServer(brand.secretKey)
        yield* admin({ method: "PUT", path: `/api/stocks/${stockId}`, headers, body: { takers } })
        yield* eventually(read, ({ allocations }) => allocations[0]?.allocated === 2)
        const { byConsumer } = yield* inMechanism("queues", queueId)
        const buyers = [yield* guest(), yield* guest()]
        // A statement about the stock would now wait, and so would its request.
        yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`lock table stock_variants, stock_messages in access exclusive mode`
            for (const buyer of buyers) {
              assert.strictEqual((yield* byConsumer("POST", "/enter")(buyer)).status, 200)
              const status = byConsumer("GET", "/status")(buyer)
              const { body } = yield* eventually(status, ({ body }) => body.status === "GRANTED")
              assert.strictEqual(body.status, "GRANTED")
            }
          })
        )
      })
    )
  })
})
