/** `POST /hooks/{receiverId}` over real HTTP, on one listener and on two. */
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect } from "effect"
import { IpNetwork } from "effect/net"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { Agent } from "node:http"
import * as Server from "../../../../src/http/server/Server.ts"
import {
  stripeEvent,
  stripeRequest,
  stripeSecret,
  twilioRequest,
  twilioToken
} from "../../../domain/receiver/vectors.ts"
import { anotherServer, asServer, layer as usherLayer, layerWith, send, Usher } from "../../support/usherFixture.ts"
import { admin, aReceiver, logOf, postStripe, postTo } from "./receiverFixture.ts"

const event = (id: string) => stripeEvent("customer.created", {}, id)

describe("A request to a receiver", () => {
  layer(usherLayer, { excludeTestServices: true })((it) => {
    it.effect("is answered 200 and its event is written, once", () =>
      Effect.gen(function* () {
        const receiver = yield* aReceiver()
        for (let time = 0; time < 3; time++) {
          const answer = yield* postStripe(receiver, event("evt_once"))
          assert.deepStrictEqual([answer.status, answer.text], [200, ""])
        }
        assert.deepStrictEqual(yield* logOf(receiver), ["evt_once WAITING null"])
      })
    )

    it.effect("is written once if it comes at the same time to two processes", () =>
      Effect.gen(function* () {
        const receiver = yield* aReceiver()
        const { consumerUrl } = yield* Usher
        const other = Context.get(yield* anotherServer, Server.Listeners).consumerUrl
        const urls = Array.from({ length: 10 }, (_, index) => (index % 2 === 0 ? consumerUrl : other))
        const answers = yield* Effect.forEach(urls, (url) => postStripe(receiver, event("evt_two"), { url }), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([200]))
        assert.deepStrictEqual(yield* logOf(receiver), ["evt_two WAITING null"])
      })
    )

    it.effect("is refused if it is forged, late or malformed, and nothing is written", () =>
      Effect.gen(function* () {
        const { consumerUrl } = yield* Usher
        const receiver = yield* aReceiver()
        const codeOf = ({ status, body }: { readonly status: number; readonly body: any }) => [status, body.code]
        const now = Math.floor(Date.now() / 1_000)
        const forged = yield* postStripe(receiver, event("evt_forged"), { secret: "whsec_another" })
        assert.deepStrictEqual(codeOf(forged), [401, "WRONG_SIGNATURE"])
        const late = yield* postStripe(receiver, event("evt_late"), { at: now - 301 })
        assert.deepStrictEqual(codeOf(late), [401, "NOT_RECENT"])
        const malformed = yield* postStripe(receiver, "{}")
        assert.deepStrictEqual(codeOf(malformed), [400, "MALFORMED"])
        const unsigned = yield* postTo(consumerUrl, receiver, { headers: {}, rawBody: Buffer.from(event("evt_none")) })
        assert.deepStrictEqual(codeOf(unsigned), [401, "MISSING_SIGNATURE"])
        const { headers } = stripeRequest(event("evt_a"), { at: now })
        const altered = yield* postTo(consumerUrl, receiver, { headers, rawBody: Buffer.from(event("evt_b")) })
        assert.deepStrictEqual(codeOf(altered), [401, "WRONG_SIGNATURE"])
        assert.deepStrictEqual(yield* logOf(receiver), [])
      })
    )

    it.effect("is refused if it tells the provider's other mode, and nothing is written", () =>
      Effect.gen(function* () {
        const { admin: send, brand } = yield* Usher
        const live = yield* aReceiver()
        const made = yield* send({
          method: "POST",
          path: "/api/receivers",
          headers: asServer(brand.testSecretKey),
          body: { adapter: "stripe", secret: stripeSecret }
        })
        const told = (id: string, livemode?: boolean) => JSON.stringify({ ...JSON.parse(event(id)), livemode })
        const rows = [
          [live, true, 200],
          [live, false, 400],
          [live, undefined, 200],
          [made.body, true, 400],
          [made.body, false, 200],
          [made.body, undefined, 200]
        ] as const
        for (const [index, [receiver, livemode, status]] of rows.entries()) {
          const answer = yield* postStripe(receiver, told(`evt_mode_${index}`, livemode))
          assert.strictEqual(answer.status, status, `${index}`)
          if (status === 400) assert.strictEqual(answer.body.code, "WRONG_MODE")
        }
        assert.deepStrictEqual(yield* logOf(live), ["evt_mode_0 WAITING null", "evt_mode_2 WAITING null"])
      })
    )

    it.effect("gets a 404 without a receiver, a 405 with another method, and a 413 above 256 KiB", () =>
      Effect.gen(function* () {
        const { consumerUrl } = yield* Usher
        const receiver = yield* aReceiver()
        for (const id of [randomUUID(), "x", receiver.id.slice(1)]) {
          const answer = yield* postStripe({ path: `/hooks/${id}` }, event("evt"))
          assert.deepStrictEqual([answer.status, answer.body], [404, { error: "Receiver not found" }])
        }
        yield* admin("DELETE", `/receivers/${receiver.id}`)
        assert.strictEqual((yield* postStripe(receiver, event("evt"))).status, 404)
        yield* admin("POST", `/receivers/${receiver.id}/restore`)
        const read = yield* send(consumerUrl, { path: receiver.path })
        assert.deepStrictEqual([read.status, read.headers["allow"]], [405, "POST"])
        const largest = 262_144 - event("").length
        assert.strictEqual((yield* postStripe(receiver, event("e".repeat(largest)))).status, 400)
        const large = yield* postStripe(receiver, event("e".repeat(largest + 1)))
        assert.deepStrictEqual([large.status, large.body], [413, { error: "Request body is larger than 256 KiB" }])
      })
    )

    it.effect("is checked with the URL of the request, or with the one that an admin has named", () =>
      Effect.gen(function* () {
        const { consumerUrl } = yield* Usher
        const fields = { MessageSid: "SM1", MessageStatus: "delivered" }
        const receiver = yield* aReceiver({ adapter: "twilio", secret: twilioToken })
        const own = `${consumerUrl}${receiver.path}`
        assert.strictEqual(
          (yield* postTo(consumerUrl, receiver, twilioRequest(fields, { signedUrl: own }))).status,
          200
        )
        const signedUrl = "https://hooks.example.com/twilio"
        assert.strictEqual((yield* postTo(consumerUrl, receiver, twilioRequest(fields, { signedUrl }))).status, 401)
        yield* admin("PUT", `/receivers/${receiver.id}`, { url: signedUrl })
        assert.strictEqual((yield* postTo(consumerUrl, receiver, twilioRequest(fields, { signedUrl }))).status, 200)
      })
    )

    it.effect("is accepted with the former secret after a change, and not with one before that", () =>
      Effect.gen(function* () {
        const receiver = yield* aReceiver({ secret: "whsec_the_first_secret" })
        const statusWith = (secret: string) =>
          Effect.map(postStripe(receiver, event("evt_secret"), { secret }), ({ status }) => status)
        yield* admin("PUT", `/receivers/${receiver.id}`, { secret: "whsec_the_second_secret" })
        assert.strictEqual(yield* statusWith("whsec_the_first_secret"), 200)
        yield* admin("PUT", `/receivers/${receiver.id}`, { secret: "whsec_the_third_secret" })
        assert.strictEqual(yield* statusWith("whsec_the_first_secret"), 401)
        assert.strictEqual(yield* statusWith("whsec_the_second_secret"), 200)
        assert.strictEqual(yield* statusWith("whsec_the_third_secret"), 200)
      })
    )

    it.effect("gets a 503 while nothing can be written, so that the provider sends it again", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const receiver = yield* aReceiver()
        yield* sql`
          create function refuse() returns trigger language plpgsql
          as $$ begin raise exception 'no room' using errcode = '53100'; end $$`
        yield* sql`create trigger refusing before insert on received_events for each row execute function refuse()`
        const answer = yield* postStripe(receiver, event("evt_again"))
        yield* sql`drop trigger refusing on received_events`
        assert.deepStrictEqual([answer.status, answer.headers["retry-after"]], [503, "1"])
        assert.strictEqual((yield* postStripe(receiver, event("evt_again"))).status, 200)
        assert.deepStrictEqual(yield* logOf(receiver), ["evt_again WAITING null"])
      })
    )
  })
})

describe("Requests to receivers", () => {
  layer(usherLayer, { excludeTestServices: true })((it) => {
    it.effect("of one address are limited, and those of another one are served", () =>
      Effect.gen(function* () {
        const { consumerUrl } = yield* Usher
        const agent = new Agent({ keepAlive: true, maxSockets: 20 })
        const statusFrom = (localAddress: string) =>
          Effect.map(
            send(consumerUrl, { method: "POST", path: "/hooks/x", localAddress, agent }),
            ({ status }) => status
          )
        const seen = new Set<number>()
        let sent = 0
        // The minute may end meanwhile, so twice the limit may be needed.
        while (!seen.has(429) && sent < 12_000) {
          const statuses = yield* Effect.all(
            Array.from({ length: 200 }, () => statusFrom("127.0.0.2")),
            { concurrency: 20 }
          )
          for (const status of statuses) seen.add(status)
          sent += statuses.length
        }
        assert.isAtLeast(sent, 6_000)
        assert.deepStrictEqual(seen, new Set([404, 429]))
        assert.strictEqual(yield* statusFrom("127.0.0.3"), 404)
        agent.destroy()
      })
    )
  })
})

describe("A request to a receiver over an open network", () => {
  const behindProxies = layerWith({ trustedProxies: [IpNetwork.fromStringUnsafe("127.0.0.0/8")] })
  layer(behindProxies, { excludeTestServices: true })((it) => {
    it.effect("needs HTTPS", () =>
      Effect.gen(function* () {
        const { consumerUrl } = yield* Usher
        const receiver = yield* aReceiver()
        const statusOver = (protocol: string) => {
          const request = stripeRequest(event("evt_https"), { at: Math.floor(Date.now() / 1_000) })
          const forwarded = { "x-forwarded-for": "203.0.113.7", "x-forwarded-proto": protocol }
          const sent = postTo(consumerUrl, receiver, { ...request, headers: { ...request.headers, ...forwarded } })
          return Effect.map(sent, ({ status }) => status)
        }
        assert.strictEqual(yield* statusOver("http"), 403)
        assert.strictEqual(yield* statusOver("https"), 200)
      })
    )
  })
})
