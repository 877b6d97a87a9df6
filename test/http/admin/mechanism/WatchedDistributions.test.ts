/** The live state of a mechanism, as an admin watches it over HTTP. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Engine } from "../../../../src/engine/Engine.ts"
import { watchersMax } from "../../../../src/http/admin/mechanism/WatchedDistributions.ts"
import { type OpenStream, openStream, type StreamEvent } from "../../support/eventStream.ts"
import { aBrokenQueue, Admin, aQueue, enter, layer as adminLayer, type Organization } from "../adminFixture.ts"

const watch = Effect.fnUntraced(function* (id: string, lastEventId?: string, as?: Organization) {
  const { url, brand } = yield* Admin
  return yield* openStream(url, `/api/distributions/${id}/events`, {
    authorization: `Bearer ${(as ?? brand).key}`,
    ...(lastEventId !== undefined && { "last-event-id": lastEventId })
  })
})

const shown = (id: string) => Effect.flatMap(Admin, ({ call }) => call("GET", `/distributions/${id}`))

/** Reads events until one matches, and returns all that were read. */
const upTo = (stream: OpenStream, isRight: (told: StreamEvent) => boolean) =>
  Effect.gen(function* () {
    const taken: Array<StreamEvent> = []
    do taken.push(yield* stream.next)
    while (!isRight(taken.at(-1)!))
    return taken
  })

const isChange =
  (change: string) =>
  ({ event, data }: StreamEvent) =>
    event === "lifecycle" && data.change === change

const hasQueued =
  (count: number) =>
  ({ event, data }: StreamEvent) =>
    event === "counters" && data.counts.QUEUED === count

const changesIn = (taken: ReadonlyArray<StreamEvent>) =>
  taken.flatMap(({ event, data }) => (event === "lifecycle" ? [data.change as string] : []))

const soon = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()

describe("Watching a mechanism", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("begins with the whole live state, and continues with the counters once a second at most", () =>
      Effect.gen(function* () {
        const { id } = yield* aQueue()
        const stream = yield* watch(id)
        assert.deepInclude(stream.headers, {
          "content-type": "text/event-stream",
          "cache-control": "no-store, no-transform"
        })
        assert.strictEqual(stream.status, 200)
        const first = yield* stream.next
        assert.deepStrictEqual([first.event, first.data], ["state", (yield* shown(id)).body])
        const from = performance.now()
        for (let n = 0; n < 12; n++) {
          yield* enter(id, 1)
          yield* Effect.sleep("100 millis")
        }
        const taken = yield* upTo(stream, hasQueued(12))
        const seconds = (performance.now() - from) / 1000
        assert.isAtMost(taken.length, 2 + Math.ceil(seconds))
        assert.isTrue(taken.every(({ event }) => event === "counters"))
        assert.deepInclude(taken.at(-1)!.data, { lastSequence: 13, node: "test", parked: false })
        assert.strictEqual(taken.at(-1)!.data.entriesPerMinute, 12)
        yield* stream.leave
      })
    )

    it.effect("sends each lifecycle change at once, in sequence, and ends when the mechanism is archived", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const engine = yield* Engine
        const { brand } = yield* Admin
        const { id } = yield* aQueue({ openAt: soon(3600) })
        const stream = yield* watch(id)
        assert.strictEqual((yield* stream.next).data.lifecycle, "scheduled")
        yield* call("PUT", `/queues/${id}`, { openAt: soon(2) })
        const opened = yield* upTo(stream, isChange("opened"))
        assert.strictEqual(opened.at(-1)!.data.lifecycle, "open")
        const [consumerId] = yield* enter(id, 1)
        const ref = { kind: "queue", id, tenant: brand.tenant } as const
        yield* engine.send(ref, { _tag: "Admit", consumerId: consumerId!, by: "admin" })
        yield* call("POST", `/queues/${id}/end`)
        const ended = yield* upTo(stream, isChange("ended"))
        const record = (yield* shown(id)).body
        assert.deepInclude(ended.at(-1)!.data, { lifecycle: "settling", teardownStatus: "pending" })
        assert.deepInclude(ended.at(-1)!.data, {
          statusOverride: "ended",
          statusOverrideBy: record.statusOverrideBy,
          updatedAt: record.updatedAt
        })
        yield* engine.send(ref, { _tag: "Complete", consumerId: consumerId!, by: "admin" })
        const settled = yield* upTo(stream, isChange("settled"))
        assert.deepInclude(settled.at(-1)!.data, { lifecycle: "closed", teardownStatus: "completed" })
        yield* call("DELETE", `/queues/${id}`)
        const rest = yield* upTo(stream, ({ event }) => event === "end")
        assert.deepStrictEqual(changesIn([...opened, ...ended, ...settled, ...rest]), [
          "opened",
          "ended",
          "settled",
          "archived"
        ])
        assert.deepStrictEqual(rest.at(-1)!.data, { reason: "CLOSED" })
        assert.strictEqual(yield* stream.over, "ended")
      })
    )

    it.effect("sends an event when the closing time comes", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* aQueue({ closeAt: soon(3600) })
        const stream = yield* watch(id)
        yield* stream.next
        yield* enter(id, 1)
        yield* call("PUT", `/queues/${id}`, { closeAt: soon(2) })
        const taken = yield* upTo(stream, isChange("settled"))
        assert.deepStrictEqual(changesIn(taken), ["closing", "settled"])
        yield* stream.leave
      })
    )

    it.effect("sends the whole state again when the configuration changes", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* aQueue()
        const stream = yield* watch(id)
        yield* stream.next
        const { body } = yield* call("PUT", `/queues/${id}`, { name: "Another", admitRate: 5 })
        const [changed] = (yield* upTo(stream, ({ event }) => event === "state")).slice(-1)
        assert.deepInclude(changed!.data, { name: "Another", admitRate: 5, updatedAt: body.updatedAt })
        yield* stream.leave
      })
    )

    it.effect("sends the same events to all watchers, and the current state to a late one", () =>
      Effect.gen(function* () {
        const { id } = yield* aQueue()
        const streams = yield* Effect.forEach(Array.from({ length: 20 }), () => watch(id))
        yield* Effect.forEach(streams, (stream) => stream.next)
        yield* enter(id, 3)
        const told = yield* Effect.forEach(streams, (stream) => upTo(stream, hasQueued(3)))
        assert.lengthOf(new Set(told.map((taken) => JSON.stringify(taken))), 1)
        const late = yield* watch(id)
        const first = yield* late.next
        assert.strictEqual(first.data.live.counts.QUEUED, 3)
        for (const stream of [...streams, late]) yield* stream.leave
      })
    )

    it.effect("resumes after a disconnect, without repeating known events", () =>
      Effect.gen(function* () {
        const { id } = yield* aQueue()
        const first = yield* watch(id)
        const known = (yield* first.next).id
        yield* first.leave
        const present = yield* watch(id, known)
        yield* enter(id, 1)
        // A known event would come first.
        assert.strictEqual((yield* present.next).event, "counters")
        for (const former of [known, "nonsense"]) {
          const stream = yield* watch(id, former)
          assert.strictEqual((yield* stream.next).event, "state")
          yield* stream.leave
        }
        yield* present.leave
      })
    )

    it.effect("ends the oldest stream if one mechanism has too many", () =>
      Effect.gen(function* () {
        const { id } = yield* aQueue()
        const [oldest, ...others] = yield* Effect.forEach(Array.from({ length: watchersMax + 1 }), () => watch(id))
        const taken = yield* upTo(oldest!, ({ event }) => event === "end")
        assert.deepStrictEqual(taken.at(-1)!.data, { reason: "REPLACED" })
        assert.strictEqual(yield* oldest!.over, "ended")
        yield* enter(id, 1)
        yield* Effect.forEach(others, (stream) => upTo(stream, hasQueued(1)))
        for (const stream of others) yield* stream.leave
      })
    )

    it.effect("ends within 15 seconds when its key is rotated", () =>
      Effect.gen(function* () {
        const { call, organization } = yield* Admin
        const as = yield* organization()
        const { id } = yield* aQueue({}, as)
        const stream = yield* watch(id, undefined, as)
        assert.strictEqual((yield* stream.next).event, "state")
        assert.strictEqual((yield* call("POST", "/api-keys/secret/rotate", undefined, as)).status, 200)
        const taken = yield* upTo(stream, ({ event }) => event === "end")
        assert.deepStrictEqual(taken.at(-1)!.data, { reason: "CREDENTIALS_ENDED" })
      })
    )

    it.effect("shows a parked mechanism as parked, stays open, and does not affect the others", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const healthy = yield* aQueue()
        const beside = yield* watch(healthy.id)
        yield* beside.next
        const { id } = yield* aBrokenQueue
        const early = yield* watch(id)
        const parked = (yield* upTo(early, ({ data }) => data.live?.parked === true || data.parked === true)).at(-1)!
        const state = (yield* shown(id)).body
        assert.deepInclude(state.live, { counts: { QUEUED: 1 }, node: null, parked: true })
        assert.include(["state", "counters"], parked.event)
        const late = yield* watch(id)
        const first = yield* late.next
        assert.deepStrictEqual([first.event, first.data], ["state", state])
        const resumed = yield* watch(id, first.id)
        // Each check sends a healthy mechanism's counters. After two checks, nothing more came for this one.
        for (const count of [1, 2]) {
          yield* enter(healthy.id, 1)
          assert.deepInclude((yield* upTo(beside, hasQueued(count))).at(-1)!.data, { parked: false })
        }
        assert.deepStrictEqual([yield* late.arrived, yield* resumed.arrived], [[], []])
        assert.strictEqual((yield* call("POST", `/queues/${id}/end`)).status, 503)
        for (const stream of [early, late, resumed, beside]) yield* stream.leave
      })
    )

    it.effect("is refused in the same cases as the state", () =>
      Effect.gen(function* () {
        const { call, stranger, rehearsal } = yield* Admin
        const { id } = yield* aQueue()
        const gone = yield* aQueue()
        yield* call("DELETE", `/queues/${gone.id}`)
        const unknown = `${id.slice(0, -4)}0000`
        for (const [of, as] of [
          [id, stranger],
          [id, rehearsal],
          [unknown, undefined],
          [gone.id, undefined],
          ["nonsense", undefined]
        ] as const) {
          const [stream, state] = yield* Effect.forEach(["/events", ""], (suffix) =>
            call("GET", `/distributions/${of}${suffix}`, undefined, as)
          )
          assert.isAbove(stream!.status, 399)
          assert.deepStrictEqual([stream!.status, stream!.text], [state!.status, state!.text])
        }
      })
    )
  })
})
