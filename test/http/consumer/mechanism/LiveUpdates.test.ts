/** The live updates of a consumer's place, over HTTP. */
import { assert, describe, layer } from "@effect/vitest"
import { Context, Effect, Layer, Schedule } from "effect"
import { Engine } from "../../../../src/engine/Engine.ts"
import { codings, compressingProxy } from "../../support/compressingProxy.ts"
import { type OpenStream, openStream } from "../../support/eventStream.ts"
import { asConsumer, asServer, type Guest, Usher } from "../../support/usherFixture.ts"
import * as Fixture from "../../support/usherFixture.ts"
import { inQueue } from "../queue/queueFixture.ts"

/** Opens the consumer's stream of a queue. */
const follow = Effect.fnUntraced(function* (queueId: string, guest: Guest, lastEventId?: string) {
  const { consumerUrl, brand } = yield* Usher
  return yield* openStream(consumerUrl, `/api/queues/${queueId}/events`, {
    ...asConsumer(brand.publishableKey, guest.accessToken),
    ...(lastEventId !== undefined && { "last-event-id": lastEventId })
  })
})

/** Creates a queue that admits by hand, and enters guests in this order. */
const line = Effect.fnUntraced(function* (count: number) {
  const usher = yield* Usher
  const queueId = yield* usher.queue()
  const queue = yield* inQueue(queueId)
  const guests = yield* Effect.forEach(Array.from({ length: count }), () => usher.guest())
  yield* Effect.forEach(guests, queue.enter)
  return { queueId, guests, ...queue }
})

/** Reads events until one shows the position. */
const positionsUpTo = (stream: OpenStream, position: number) =>
  Effect.gen(function* () {
    const positions: Array<number> = []
    while (positions.at(-1) !== position) positions.push((yield* stream.next).data.position)
    return positions
  })

describe("Live updates of a queue", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("send the content of the status at once, for every change of the consumer", () =>
      Effect.gen(function* () {
        const { guest, queue } = yield* Usher
        const queueId = yield* queue()
        const { enter, status, admit, complete } = yield* inQueue(queueId)
        const someone = yield* guest()
        const { consumerId } = someone
        const stream = yield* follow(queueId, someone)
        assert.strictEqual(stream.status, 200)
        assert.strictEqual(stream.headers["content-type"], "text/event-stream")
        assert.strictEqual(stream.headers["cache-control"], "no-store, no-transform")
        assert.match(stream.headers["x-request-id"]!, /^[0-9a-f-]{36}$/)
        assert.isDefined(stream.headers["x-ratelimit-remaining"])
        assert.deepStrictEqual(yield* stream.next, { id: "1", event: "state", data: { status: "NOT_QUEUED" } })
        yield* enter(someone)
        const entered = yield* stream.next
        assert.deepStrictEqual([entered.event, entered.id, entered.data], ["state", "2", (yield* status(someone)).body])
        assert.strictEqual(entered.data.position, 1)
        yield* admit({ consumerId })
        const granted = yield* stream.next
        assert.deepStrictEqual([granted.id, granted.data], ["3", (yield* status(someone)).body])
        assert.isString(granted.data.admissionGrant)
        yield* complete({ consumerId })
        assert.strictEqual((yield* stream.next).data.status, "COMPLETED")
        yield* stream.leave
      })
    )

    it.effect("come through a proxy that compresses, each as soon as it is sent", () =>
      Effect.gen(function* () {
        const { consumerUrl, brand } = yield* Usher
        const { queueId, guests, admit } = yield* line(1)
        const [guest] = guests
        const headers = {
          ...asConsumer(brand.publishableKey, guest!.accessToken),
          "accept-encoding": "gzip, deflate, br"
        }
        const streams = yield* Effect.forEach(codings, (coding) =>
          Effect.flatMap(compressingProxy(consumerUrl, coding), (url) =>
            openStream(url, `/api/queues/${queueId}/events`, headers)
          )
        )
        for (const { next } of streams) assert.strictEqual((yield* next).data.position, 1)
        yield* admit({ consumerId: guest!.consumerId })
        for (const { next } of streams) assert.strictEqual((yield* next).data.status, "GRANTED")
        for (const { leave } of streams) yield* leave
      })
    )

    it.effect("send a server the updates of the consumer that it names", () =>
      Effect.gen(function* () {
        const { consumerUrl, brand } = yield* Usher
        const { queueId, guests } = yield* line(2)
        const headers = asServer(brand.secretKey, guests[1]!.consumerId)
        const stream = yield* openStream(consumerUrl, `/api/queues/${queueId}/events`, headers)
        assert.strictEqual((yield* stream.next).data.position, 2)
        yield* stream.leave
      })
    )

    it.effect("send the position once a second at most, and finally the current one", () =>
      Effect.gen(function* () {
        const { queueId, guests, leave } = yield* line(13)
        const stream = yield* follow(queueId, guests[12]!)
        const from = performance.now()
        for (const someone of guests.slice(0, 12)) {
          yield* leave(someone)
          yield* Effect.sleep("150 millis")
        }
        const positions = yield* positionsUpTo(stream, 1)
        const seconds = (performance.now() - from) / 1000
        assert.strictEqual(positions[0], 13)
        assert.deepStrictEqual(
          positions,
          positions.toSorted((a, b) => b - a)
        )
        assert.isAtMost(positions.length, 2 + Math.ceil(seconds))
        assert.isAbove(positions.length, 2)
        yield* stream.leave
      })
    )

    it.effect("resume after a disconnect, without repeating known events", () =>
      Effect.gen(function* () {
        const { queueId, guests, leave } = yield* line(3)
        const last = guests[2]!
        const first = yield* follow(queueId, last)
        const { id } = yield* first.next
        yield* first.leave
        const present = yield* follow(queueId, last, id)
        yield* leave(guests[0]!)
        assert.strictEqual((yield* present.next).data.position, 2)
        yield* present.leave
        const former = yield* follow(queueId, last, id)
        const nonsense = yield* follow(queueId, last, "nonsense")
        for (const stream of [former, nonsense]) {
          assert.strictEqual((yield* stream.next).data.position, 2)
          yield* stream.leave
        }
      })
    )

    it.effect("continue from the stored state when the mechanism is rebuilt", () =>
      Effect.gen(function* () {
        const { brand } = yield* Usher
        const { queueId, guests, leave } = yield* line(3)
        const stream = yield* follow(queueId, guests[2]!)
        yield* stream.next
        const other = Context.get(yield* Layer.build(Layer.fresh(Engine.layer({ node: "other" }))), Engine)
        const ref = {
          kind: "queue",
          id: queueId,
          tenant: { organizationId: brand.organizationId, mode: "live" }
        } as const
        yield* other.send(ref, { _tag: "Leave", consumerId: guests[0]!.consumerId })
        // The next write of this process conflicts with the other process's write, so it reads the journal again.
        assert.strictEqual((yield* leave(guests[1]!)).status, 503)
        const positions = yield* positionsUpTo(stream, 2)
        yield* Effect.repeat(leave(guests[1]!), {
          until: ({ status }) => status === 200,
          schedule: Schedule.spaced("50 millis"),
          times: 100
        })
        assert.deepStrictEqual([...positions, ...(yield* positionsUpTo(stream, 1))], [2, 1])
        yield* stream.leave
      })
    )

    it.effect("end with the consumer's session, and send nothing more", () =>
      Effect.gen(function* () {
        const { consumer } = yield* Usher
        const { queueId, guests, admit } = yield* line(2)
        const [someone, another] = [guests[0]!, guests[1]!]
        const [stream, others] = [yield* follow(queueId, someone), yield* follow(queueId, another)]
        yield* stream.next
        yield* others.next
        const headers = { authorization: `Bearer ${someone.accessToken}` }
        assert.strictEqual((yield* consumer({ method: "POST", path: "/api/auth/logout", headers })).status, 204)
        yield* admit({ consumerId: someone.consumerId })
        const end = yield* stream.next
        assert.deepStrictEqual([end.event, end.data], ["end", { reason: "CREDENTIALS_ENDED" }])
        assert.strictEqual(yield* stream.over, "ended")
        assert.deepStrictEqual(yield* stream.arrived, [])
        assert.strictEqual((yield* others.next).data.position, 1)
        yield* others.leave
      })
    )

    it.effect("end when the queue is over, after the last state, also for a late subscriber", () =>
      Effect.gen(function* () {
        const { admin, brand } = yield* Usher
        const { queueId, guests } = yield* line(1)
        const stream = yield* follow(queueId, guests[0]!)
        yield* stream.next
        yield* admin({ method: "POST", path: `/api/queues/${queueId}/end`, headers: asServer(brand.secretKey) })
        assert.deepInclude((yield* stream.next).data, { status: "DENIED", reason: "QUEUE_CLOSED" })
        assert.deepStrictEqual((yield* stream.next).data, { reason: "CLOSED" })
        assert.strictEqual(yield* stream.over, "ended")
        const late = yield* follow(queueId, guests[0]!)
        assert.strictEqual((yield* late.next).data.status, "DENIED")
        assert.deepStrictEqual((yield* late.next).data, { reason: "CLOSED" })
        assert.strictEqual(yield* late.over, "ended")
      })
    )

    it.effect("end the oldest stream when a consumer opens more than five", () =>
      Effect.gen(function* () {
        const { queueId, guests } = yield* line(1)
        const streams: Array<OpenStream> = []
        for (let n = 0; n < 6; n++) {
          const stream = yield* follow(queueId, guests[0]!)
          yield* stream.next
          streams.push(stream)
        }
        assert.deepStrictEqual((yield* streams[0]!.next).data, { reason: "REPLACED" })
        assert.strictEqual(yield* streams[0]!.over, "ended")
        for (const stream of streams.slice(1)) {
          assert.deepStrictEqual(yield* stream.arrived, [])
          yield* stream.leave
        }
      })
    )

    it.effect("are refused in the same cases as the status", () =>
      Effect.gen(function* () {
        const { consumer, brand, stranger, guest } = yield* Usher
        const { queueId, guests } = yield* line(1)
        const { accessToken } = guests[0]!
        const foreign = yield* guest(stranger.publishableKey)
        const unknown = queueId.slice(0, -4) + "0000"
        for (const [id, headers] of [
          [queueId, {}],
          [queueId, { "x-publishable-key": brand.publishableKey }],
          [queueId, asConsumer(brand.publishableKey, "nonsense")],
          [queueId, asConsumer(stranger.publishableKey, foreign.accessToken)],
          [unknown, asConsumer(brand.publishableKey, accessToken)],
          ["nonsense", asConsumer(brand.publishableKey, accessToken)]
        ] as const) {
          const [stream, status] = yield* Effect.forEach(["events", "status"], (operation) =>
            consumer({ path: `/api/queues/${id}/${operation}`, headers })
          )
          assert.isAbove(stream!.status, 399)
          assert.deepStrictEqual([stream!.status, stream!.text], [status!.status, status!.text])
        }
      })
    )

    it.effect("are described with the data that they send", () =>
      Effect.gen(function* () {
        const { consumer } = yield* Usher
        const { paths } = (yield* consumer({ path: "/openapi.json" })).body
        const { responses, parameters, security } = paths["/api/queues/{queueId}/events"].get
        assert.deepStrictEqual(Object.keys(responses["200"].content), ["text/event-stream"])
        assert.deepStrictEqual(security, paths["/api/queues/{queueId}/status"].get.security)
        assert.includeMembers(
          parameters.map(({ name }: { readonly name: string }) => name),
          ["queueId", "last-event-id"]
        )
        assert.sameMembers(Object.keys(responses), ["200", "400", "401", "403", "404", "429", "500", "503"])
      })
    )
  })
})
