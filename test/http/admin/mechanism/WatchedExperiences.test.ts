/** All mechanisms of an experience, as an admin watches them on one stream. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { watchersMax } from "../../../../src/http/admin/mechanism/WatchedDistributions.ts"
import { type OpenStream, openStream, type StreamEvent } from "../../support/eventStream.ts"
import {
  Admin,
  anExperience,
  aQueue,
  aSequence,
  enter,
  layer as adminLayer,
  type Organization
} from "../adminFixture.ts"

const watch = Effect.fnUntraced(function* (id: string, lastEventId?: string, as?: Organization) {
  const { url, brand } = yield* Admin
  return yield* openStream(url, `/api/experiences/${id}/events`, {
    authorization: `Bearer ${(as ?? brand).key}`,
    ...(lastEventId !== undefined && { "last-event-id": lastEventId })
  })
})

/** Reads events until one matches. Returns it. */
const upTo = (stream: OpenStream, isRight: (told: StreamEvent) => boolean) =>
  Effect.gen(function* () {
    for (;;) {
      const told = yield* stream.next
      if (isRight(told)) return told
    }
  })

const isAbout =
  (id: string, isRight: (data: any) => boolean = () => true) =>
  ({ event, data }: StreamEvent) =>
    event === "distribution" && data.id === id && isRight(data)

describe("Watching an experience", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("begins with all its mechanisms, and continues with those that change", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id: sequenceId, experienceId } = yield* aSequence()
        const one = yield* aQueue({ sequenceId, name: "One" })
        const { id: elsewhere } = yield* aQueue()
        const stream = yield* watch(experienceId)
        assert.deepInclude(stream.headers, {
          "content-type": "text/event-stream",
          "cache-control": "no-store, no-transform"
        })
        const first = yield* stream.next
        const { body } = yield* call("GET", `/distributions?experienceId=${experienceId}`)
        assert.deepStrictEqual([first.event, first.data], ["state", { distributions: body.data }])

        yield* enter(elsewhere, 1)
        yield* enter(one.id, 2)
        const entered = yield* upTo(
          stream,
          isAbout(one.id, ({ live }) => live.counts.QUEUED === 2)
        )
        assert.strictEqual(entered.data.live.entriesPerMinute, 2)

        yield* call("POST", `/queues/${one.id}/pause`, { reason: "OTHER" })
        yield* upTo(
          stream,
          isAbout(one.id, ({ pauseReason }) => pauseReason === "OTHER")
        )

        const two = yield* aQueue({ sequenceId, name: "Two" })
        yield* upTo(
          stream,
          isAbout(two.id, ({ name }) => name === "Two")
        )
        yield* call("DELETE", `/queues/${one.id}`)
        const removed = yield* upTo(stream, ({ event }) => event === "removed")
        assert.deepStrictEqual(removed.data, { id: one.id })
        yield* stream.leave
      })
    )

    it.effect("sends no state to a caller that names the present one, and nothing while nothing changes", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id: sequenceId, experienceId } = yield* aSequence()
        const queue = yield* aQueue({ sequenceId })
        const [one, two] = [yield* watch(experienceId), yield* watch(experienceId)]
        const first = yield* one.next
        assert.deepStrictEqual(yield* two.next, first)
        const back = yield* watch(experienceId, first.id)
        yield* call("PUT", `/queues/${queue.id}`, { name: "Renamed" })
        for (const stream of [one, two, back]) {
          const { event, data } = yield* stream.next
          assert.deepStrictEqual([event, data.name], ["distribution", "Renamed"])
        }
      })
    )

    it.effect("ends with the experience, and is a 404 for others", () =>
      Effect.gen(function* () {
        const { call, stranger, rehearsal } = yield* Admin
        const { id: sequenceId, experienceId } = yield* aSequence()
        yield* aQueue({ sequenceId })
        const stream = yield* watch(experienceId)
        yield* stream.next
        for (const other of [stranger, rehearsal]) {
          assert.strictEqual((yield* watch(experienceId, undefined, other)).status, 404)
        }
        yield* call("DELETE", `/experiences/${experienceId}`)
        const end = yield* upTo(stream, ({ event }) => event === "end")
        assert.deepStrictEqual(end.data, { reason: "CLOSED" })
        assert.strictEqual(yield* stream.over, "ended")
        for (const gone of [experienceId, randomUUID()]) assert.strictEqual((yield* watch(gone)).status, 404)
      })
    )

    it.effect("shows an experience without mechanisms, and ends the oldest of too many streams", () =>
      Effect.gen(function* () {
        const { id } = yield* anExperience()
        const oldest = yield* watch(id)
        assert.deepStrictEqual((yield* oldest.next).data, { distributions: [] })
        const others = yield* Effect.forEach(Array.from({ length: watchersMax }), () => watch(id), { concurrency: 10 })
        const end = yield* upTo(oldest, ({ event }) => event === "end")
        assert.deepStrictEqual(end.data, { reason: "REPLACED" })
        for (const stream of others) yield* stream.leave
      })
    )
  })
})
