/** The issues of all parts of a request: path, query, headers and body. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { asConsumer, asServer, type Call, Usher } from "../support/usherFixture.ts"
import * as Fixture from "../support/usherFixture.ts"

describe("The issues of a request", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    const keysOf = (body: any): ReadonlyArray<string> =>
      body.issues.map(({ path }: any) => path.map(({ key }: any) => key).join(".")).toSorted()

    it.effect("of the Consumer API come together from path, query, headers and body", () =>
      Effect.gen(function* () {
        const { consumer, brand, guest } = yield* Usher
        const someone = yield* guest()
        const asSomeone = asConsumer(brand.publishableKey, someone.accessToken)
        const asPublic = { "x-publishable-key": brand.publishableKey }
        const calls: ReadonlyArray<readonly [Call, ReadonlyArray<string>]> = [
          [
            { path: "/api/appointments/none/slots?startDate=x&endDate=y&timezone=z", headers: asPublic },
            ["appointmentId", "endDate", "startDate", "timezone"]
          ],
          [{ path: "/api/auctions/none/bids?limit=many", headers: asPublic }, ["auctionId", "limit"]],
          [
            { method: "POST", path: "/api/auctions/none/bid", headers: asSomeone, body: { amount: 5 } },
            ["amount", "auctionId"]
          ],
          [
            {
              method: "POST",
              path: "/api/auctions/none/bid",
              headers: asServer(brand.secretKey, "nobody"),
              body: { amount: 5 }
            },
            ["amount", "auctionId", "x-consumer-id"]
          ],
          [
            { method: "POST", path: "/api/appointments/none/book", headers: asServer(brand.secretKey, "1"), body: {} },
            ["appointmentId", "slotId", "x-consumer-id"]
          ],
          [
            { path: "/api/queues/none/status", headers: asServer(brand.secretKey, "nobody") },
            ["queueId", "x-consumer-id"]
          ]
        ]
        for (const [call, keys] of calls) {
          const { status, body } = yield* consumer(call)
          assert.deepStrictEqual([status, keysOf(body)], [400, keys], `${call.method ?? "GET"} ${call.path}`)
        }
      })
    )

    it.effect("of the Admin API come together from path, query, headers and body", () =>
      Effect.gen(function* () {
        const { admin, brand } = yield* Usher
        const headers = asServer(brand.secretKey)
        const repeatable = { ...headers, "idempotency-key": "two words" }
        const calls: ReadonlyArray<readonly [Call, ReadonlyArray<string>]> = [
          [{ path: "/api/consumers?first=many&search=a&sortDir=up", headers }, ["first", "search", "sortDir"]],
          [{ method: "PUT", path: "/api/queues/none", headers, body: { admitRate: "x" } }, ["admitRate", "id"]],
          [
            { method: "POST", path: "/api/sequences", headers: repeatable, body: { name: 1 } },
            ["experienceId", "idempotency-key", "name"]
          ],
          [{ method: "POST", path: "/api/queues/none/end", headers: repeatable }, ["id", "idempotency-key"]],
          [
            { method: "POST", path: "/api/audiences/none/members", headers: repeatable, body: { consumerIds: ["x"] } },
            ["consumerIds.0", "id", "idempotency-key"]
          ]
        ]
        for (const [call, keys] of calls) {
          const { status, body } = yield* admin(call)
          assert.deepStrictEqual([status, keysOf(body)], [400, keys], `${call.method ?? "GET"} ${call.path}`)
        }
      })
    )
  })
})
