/** Messages and stopped addresses on the Admin API, from what is sent and reported to what an admin lifts. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer, Schedule } from "effect"
import { randomUUID } from "node:crypto"
import { Delivery } from "../../../../src/delivery/Delivery.ts"
import { SentMessages } from "../../../../src/store/message/SentMessages.ts"
import { StoppedAddresses } from "../../../../src/store/message/StoppedAddresses.ts"
import { Admin, issuesOf, layer as adminLayer } from "../adminFixture.ts"

const services = Layer.merge(SentMessages.layer, StoppedAddresses.layer).pipe(Layer.provideMerge(adminLayer))

/** A stopped address of the brand. */
const aStop = Effect.fnUntraced(function* (reason: "BOUNCED" | "COMPLAINED" | "OPTED_OUT", address: string) {
  const { call, brand } = yield* Admin
  const { id: receiverId } = (yield* call("POST", "/receivers", { adapter: "stripe", secret: "0123456789abcdef" })).body
  const channel = address.includes("@") ? "email" : "phone"
  yield* (yield* StoppedAddresses).stop(brand.tenant, receiverId, channel, [address], reason)
  const found = yield* call("GET", `/stopped-addresses?address=${encodeURIComponent(address)}`)
  assert.strictEqual(found.body.data.length, 1)
  return found.body.data[0]
})

describe("Messages on the Admin API", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("show address, purpose and status, and never the text", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const email = `ann.${randomUUID()}@example.com`
        const { id: consumerId } = (yield* call("POST", "/consumers", { email })).body
        const { send } = yield* Delivery
        const about = { tenant: brand.tenant, channel: "email", to: email.toUpperCase(), subject: "", text: "canary" }
        yield* send({ ...about, channel: "email", purpose: "GRANT", consumerId })
        // A message is remembered once it is sent.
        const listed = yield* Effect.repeat(call("GET", `/messages?address=${email}`), {
          until: ({ body }) => body.data.length > 0,
          schedule: Schedule.spaced("20 millis")
        })
        const [message] = listed.body.data
        assert.notInclude(listed.text, "canary")
        assert.deepInclude(message, { channel: "email", address: email, purpose: "GRANT", consumerId, status: "SENT" })
        assert.deepStrictEqual((yield* call("GET", `/messages/${message.id}`)).body, message)
        for (const [query, count] of [
          [`consumerId=${consumerId}`, 1],
          [`consumerId=${consumerId}&status=SENT&channel=email&purpose=GRANT`, 1],
          [`consumerId=${consumerId}&status=BOUNCED`, 0],
          [`consumerId=${consumerId}&channel=phone`, 0],
          [`consumerId=${consumerId}&purpose=CODE`, 0],
          [`consumerId=${randomUUID()}`, 0]
        ] as const) {
          assert.strictEqual((yield* call("GET", `/messages?${query}`)).body.data.length, count, query)
        }
      })
    )

    it.effect("are the consumer's own: exported with it, and gone when it is erased", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const sent = yield* SentMessages
        const email = `bob.${randomUUID()}@example.com`
        const { id } = (yield* call("POST", "/consumers", { email })).body
        const message = { tenant: brand.tenant, channel: "email", purpose: "GRANT" } as const
        yield* sent.record({ ...message, to: `former.${email}`, consumerId: id }, undefined, "FAILED")
        yield* sent.record({ ...message, to: email }, undefined, "SENT")
        const exported = (yield* call("GET", `/consumers/${id}/export`)).body.messages
        assert.sameDeepMembers(
          exported.map(({ address, status }: { address: string; status: string }) => [address, status]),
          [
            [email, "SENT"],
            [`former.${email}`, "FAILED"]
          ]
        )
        yield* call("DELETE", `/consumers/${id}?erase=true`)
        for (const address of [email, `former.${email}`]) {
          assert.isEmpty((yield* call("GET", `/messages?address=${address}`)).body.data)
        }
      })
    )

    it.effect("refuse filters that are none", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        for (const [path, issues] of [
          ["/messages?status=LOST", ["status: picklist"]],
          ["/messages?channel=fax", ["channel: picklist"]],
          ["/messages?consumerId=x", ["consumerId: uuid"]],
          ["/stopped-addresses?reason=LOST", ["reason: picklist"]],
          ["/stopped-addresses?address=", ["address: min_length"]]
        ] as const) {
          assert.deepStrictEqual(issuesOf(yield* call("GET", path)), issues, path)
        }
      })
    )
  })
})

describe("A stopped address on the Admin API", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("is found by its address, and gets messages again once an admin lifts the stop", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const { deliver } = yield* Delivery
        const to = `Eve.${randomUUID()}@example.com`
        const stop = yield* aStop("COMPLAINED", to)
        assert.deepInclude(stop, { channel: "email", address: to.toLowerCase(), reason: "COMPLAINED" })
        assert.deepStrictEqual((yield* call("GET", `/stopped-addresses/${stop.id}`)).body, stop)
        const message = { tenant: brand.tenant, channel: "email", purpose: "CODE", to, subject: "", text: "" } as const
        assert.strictEqual(yield* deliver(message), "undeliverable")
        const lifted = yield* call("DELETE", `/stopped-addresses/${stop.id}`)
        assert.deepStrictEqual([lifted.status, lifted.body], [200, stop])
        assert.strictEqual(yield* deliver(message), "delivered")
        for (const method of ["GET", "DELETE"]) {
          const gone = yield* call(method, `/stopped-addresses/${stop.id}`)
          assert.deepStrictEqual([gone.status, gone.body], [404, { error: "Stopped address not found" }])
        }
        // A later report stops it again, as another record.
        assert.notStrictEqual((yield* aStop("BOUNCED", to)).id, stop.id)
      })
    )

    it.effect("is in the audit log when it is lifted, once, with author and reason, without the address", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const stop = yield* aStop("BOUNCED", "adele.audited@example.com")
        yield* call("DELETE", `/stopped-addresses/${stop.id}`)
        yield* call("DELETE", `/stopped-addresses/${stop.id}`)
        const log = yield* call("GET", `/audit-log?subjectId=${stop.id}`)
        const [entry, ...more] = log.body.data
        assert.isEmpty(more)
        assert.strictEqual(entry.type, "stopped_address.lifted")
        assert.match(entry.actor, /^api_key:/)
        assert.deepStrictEqual(entry.before, {
          channel: "email",
          address: "a…@example.com",
          reason: "BOUNCED",
          receiverId: stop.receiverId
        })
        assert.deepStrictEqual(entry.after, {})
        assert.notInclude(log.text, "adele.audited")
      })
    )

    it.effect("is lifted by its own organization and mode only", () =>
      Effect.gen(function* () {
        const { call, stranger, rehearsal } = yield* Admin
        const stop = yield* aStop("OPTED_OUT", "+4930123456")
        for (const other of [stranger, rehearsal]) {
          assert.strictEqual((yield* call("DELETE", `/stopped-addresses/${stop.id}`, undefined, other)).status, 404)
          const found = yield* call("GET", "/stopped-addresses?address=%2B4930123456", undefined, other)
          assert.isEmpty(found.body.data)
        }
        assert.strictEqual((yield* call("GET", `/stopped-addresses/${stop.id}`)).body.address, "+4930123456")
      })
    )
  })
})
