/** The declarations of both APIs give clients, without anything of the server. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Cause, Effect, Exit, Schema } from "effect"
import { HttpClientRequest, HttpClientResponse } from "effect/http"
import { HttpApi, HttpApiClient } from "effect/http-api"
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { AdminApi } from "../../src/api/admin/AdminApi.ts"
import { ChallengeRequired } from "../../src/api/Challenge.ts"
import { InvalidExchangeCode, InvalidOneTimeCode, InvalidRefreshToken } from "../../src/api/consumer/AuthApi.ts"
import { ConsumerApi } from "../../src/api/consumer/ConsumerApi.ts"
import * as Errors from "../../src/api/Errors.ts"
import { Usher } from "../http/support/usherFixture.ts"
import * as Fixture from "../http/support/usherFixture.ts"

const clientProcess = fileURLToPath(new URL("clientProcess.ts", import.meta.url))

layer(Fixture.layer, { excludeTestServices: true })("a client of both APIs", (it) => {
  it.effect("calls a server and loads nothing of it", () =>
    Effect.gen(function* () {
      const { consumerUrl, adminUrl, brand } = yield* Usher
      const TARGET = JSON.stringify([consumerUrl, adminUrl, brand.publishableKey, brand.secretKey])
      const { stdout } = yield* Effect.promise(() =>
        promisify(execFile)(process.execPath, [clientProcess], { env: { PATH: process.env["PATH"], TARGET } })
      )
      const { created, shown, loaded } = JSON.parse(stdout) as {
        readonly created: string
        readonly shown: string
        readonly loaded: ReadonlyArray<string>
      }
      assert.deepStrictEqual([created, shown], ["Drop", "Drop"])
      const rings = new Set(loaded.map((path) => path.slice(0, path.indexOf("/"))))
      assert.deepStrictEqual([...rings].toSorted(), ["api", "domain"])
    })
  )
})

/** An error of each class. */
const errors = [
  new Errors.ValidationError({ error: "validation_error", issues: [] }),
  new Errors.Unauthorized({ error: "Authentication required" }),
  new Errors.Forbidden({ error: "Guests are not admitted" }),
  new Errors.HttpsRequired({ error: "HTTPS required" }),
  new Errors.NotFound({ error: "Queue not found" }),
  new Errors.Conflict({ error: "Closed", code: "CLOSED" }),
  new Errors.ConflictForNow({ error: "In progress", code: "IDEMPOTENCY_IN_PROGRESS", retryAfterSeconds: 3 }),
  new Errors.BidConflict({ error: "Too low", code: "BID_TOO_LOW", minimumBid: "1" }),
  new Errors.BidTooHighConflict({ error: "Too high", code: "BID_TOO_HIGH", maximumBid: "1" }),
  new Errors.BidUnlikelyConflict({ error: "Unlikely", code: "BID_UNLIKELY", maximumBid: "1" }),
  new Errors.StockConflict({ error: "Sold", code: "OUT_OF_STOCK", productVariantId: "variant", available: 1 }),
  new Errors.PayloadTooLarge({ error: "Request body is larger than 1 MiB" }),
  new Errors.UnsupportedMediaType({ error: "Content-Type must be application/json" }),
  new Errors.NotOpenYet({ error: "Not open", opensAt: 1_795_284_000_000, retryAfterSeconds: 3 }),
  new Errors.RateLimitExceeded({ retryAfterSeconds: 3 }),
  new Errors.InternalError({ error: "Internal server error" }),
  new Errors.ServiceUnavailable({ retryAfterSeconds: 3 }),
  new ChallengeRequired({
    error: "Challenge required",
    code: "CHALLENGE_REQUIRED",
    challenge: { provider: "hcaptcha", siteKey: "key" }
  }),
  new InvalidRefreshToken({ error: "Invalid refresh token" }),
  new InvalidOneTimeCode({ error: "otp_invalid", message: "Wrong" }),
  new InvalidExchangeCode({ error: "invalid_exchange_code" })
]

interface Declared {
  readonly status: number
  readonly schema: Schema.Codec<unknown, unknown>
  readonly decode: (response: HttpClientResponse.HttpClientResponse) => Effect.Effect<unknown, unknown>
}

/** The errors of an API's operations, each with the decoder of the operation's client. */
const errorsOf = (api: HttpApi.Top): ReadonlyArray<Declared> => {
  const declared: Array<Declared> = []
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ group, endpoint, errors }) => {
      const names = { group: group.identifier, endpoint: endpoint.identifier }
      const decode = HttpApiClient.decodeResponse(api as never, names as never) as unknown as Declared["decode"]
      for (const [status, schemas] of errors) {
        for (const schema of schemas) declared.push({ status, schema: schema as Declared["schema"], decode })
      }
    }
  })
  return declared
}

describe("an error that an operation declares", () => {
  for (const [name, api] of Object.entries({ ConsumerApi, AdminApi })) {
    it.effect(`arrives as an instance of its class, for each operation of ${name}`, () =>
      Effect.gen(function* () {
        for (const { status, schema, decode } of errorsOf(api as never)) {
          const samples = errors.filter(Schema.is(Schema.toType(schema)))
          assert.isAbove(samples.length, 0, `${schema.ast.annotations?.["identifier"]} has no sample`)
          for (const sample of samples) {
            const encoded = Schema.encodeSync(schema)(sample) as { readonly body?: unknown; readonly headers?: {} }
            const { body, headers = {} } = "body" in encoded ? encoded : { body: encoded }
            const response = Response.json(body, { status, headers })
            const exit = yield* Effect.exit(decode(HttpClientResponse.fromWeb(HttpClientRequest.get("/"), response)))
            const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
            assert.strictEqual((error as Error).constructor, sample.constructor)
            assert.deepStrictEqual(Object.entries(error as Error), Object.entries(sample))
            assert.strictEqual(Errors.statusOf(error), status)
          }
        }
      })
    )
  }
})
