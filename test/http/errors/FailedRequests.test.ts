import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { HttpRouter, HttpServerResponse } from "effect/http"
import * as FailedRequests from "../../../src/http/errors/FailedRequests.ts"
import * as Server from "../../../src/http/server/Server.ts"
import { layerWith, Logged } from "../support/listenerFixture.ts"
import { send } from "../support/usherFixture.ts"

const unavailable = HttpRouter.add("GET", "/away", HttpServerResponse.jsonUnsafe({ error: "away" }, { status: 503 }))

describe("An answer of 5xx", () => {
  it.live("has one log line with its name, status, request and request id, without the query", () =>
    Effect.gen(function* () {
      const { consumerUrl } = yield* Server.Listeners
      const logged = yield* Logged
      yield* send(consumerUrl, { path: "/away?token=secret", headers: { "x-request-id": "r-1" } })
      yield* send(consumerUrl, { path: "/unknown", headers: { "x-request-id": "r-2" } })
      const entries = logged.map((line) => JSON.parse(line)).filter(({ annotations }) => "requestId" in annotations)
      assert.deepStrictEqual(
        entries.map(({ level, annotations }) => ({ level, ...annotations })),
        [{ level: "WARN", event: "request.failed", status: 503, requestId: "r-1", request: "GET /away" }]
      )
    }).pipe(Effect.provide(layerWith(unavailable)))
  )

  it.effect("is counted in the next line where a second has too many", () =>
    Effect.gen(function* () {
      const logged = yield* Logged
      const log = yield* FailedRequests.make
      const before = logged.length
      for (let index = 0; index < 15; index++) yield* log(503, { requestId: `${index}` })
      assert.lengthOf(logged, before + 10)
      yield* TestClock.adjust("1 second")
      yield* log(500, { requestId: "next" })
      assert.strictEqual(JSON.parse(logged.at(-1)!).annotations.leftOut, 5)
    }).pipe(Effect.provide(layerWith(Layer.empty)))
  )
})
