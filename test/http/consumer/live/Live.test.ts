/** The public facts of an experience over HTTP: no credential, one buffer for all callers, and a stream. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Schedule, Schema } from "effect"
import { randomUUID } from "node:crypto"
import { openRequestsMax } from "../../../../src/http/credentials/Credentials.ts"
import { LiveFacts } from "../../../../src/api/consumer/LiveApi.ts"
import { openStream } from "../../support/eventStream.ts"
import { asServer, layer as usherLayer, Usher } from "../../support/usherFixture.ts"
import { created, inMechanism, isoUtc, soon } from "../mechanism/mechanismFixture.ts"

/** Creates an experience with one mechanism of each kind. Returns their ids. */
const aDrop = Effect.fnUntraced(function* (
  settings: { readonly [kind: string]: object } = {},
  experience: object = {}
) {
  const { id } = yield* created("/experiences", { name: "Drop", ...experience })
  const { id: sequenceId } = yield* created("/sequences", { experienceId: id, name: "General sale" })
  const later = soon(3_600)
  const defaults: { readonly [group: string]: object } = {
    queues: { admitRate: 0 },
    draws: { drawAt: later, winnerCount: 3 },
    auctions: { settleAt: later, startPrice: "10", minBidIncrement: "5" },
    appointments: { slotDurationMinutes: 30, slotsFrom: soon(0), slotsUntil: soon(86_400) },
    "timed-releases": { capacity: 2 },
    waitlists: {}
  }
  const ids: { [group: string]: string } = {}
  for (const [group, own] of Object.entries(defaults)) {
    ids[group] = (yield* created(`/${group}`, { sequenceId, name: group, ...own, ...settings[group] })).id
  }
  return { id, sequenceId, ids, later }
})

const livePath = (id: string) => `/api/experiences/${id}/live`

/** Reads the facts in a new second. */
const factsOf = Effect.fnUntraced(function* (id: string) {
  const { consumer } = yield* Usher
  const answer = yield* consumer({ path: livePath(id) })
  assert.strictEqual(answer.status, 200, answer.text)
  return answer.body as { readonly now: string; readonly name: string; readonly mechanisms: ReadonlyArray<any> }
})

/** Repeats the reading until the facts of a mechanism are these. */
const eventually = Effect.fnUntraced(function* (id: string, mechanismId: string, expected: object) {
  let found: object = {}
  for (let attempt = 0; attempt < 50; attempt++) {
    found = (yield* factsOf(id)).mechanisms.find((mechanism) => mechanism.id === mechanismId)
    const facts = new Map<string, unknown>(Object.entries(found))
    const isRight = Object.entries(expected).every(
      ([name, value]) => JSON.stringify(facts.get(name)) === JSON.stringify(value)
    )
    if (isRight) return found
    yield* Effect.sleep("100 millis")
  }
  assert.deepInclude(found, expected)
  return found
})

const asAdmin = Effect.fnUntraced(function* (method: string, path: string, body?: object) {
  const { admin, brand } = yield* Usher
  return yield* admin({ method, path: `/api${path}`, headers: asServer(brand.secretKey), body })
})

describe("Live facts", () => {
  layer(usherLayer, { excludeTestServices: true })((it) => {
    it.effect("show each kind of mechanism to any caller, as the description says", () =>
      Effect.gen(function* () {
        const { id, sequenceId, ids, later } = yield* aDrop()
        const { now, ...facts } = yield* factsOf(id)
        assert.match(now, isoUtc)
        assert.isAtMost(Math.abs(Date.parse(now) - Date.now()), 60_000)
        const common = (group: string) => ({ id: ids[group], sequenceId, name: group, entries: 0, lifecycle: "open" })
        const always = { openAt: null, closeAt: null }
        assert.sameDeepMembers(
          [...facts.mechanisms],
          [
            {
              ...common("queues"),
              kind: "queue",
              ...always,
              waiting: 0,
              isFull: false,
              admitRate: 0,
              paused: false,
              pausedAt: null,
              pauseReason: null,
              unitsLeft: null,
              soldOut: null
            },
            {
              ...common("draws"),
              kind: "draw",
              ...always,
              closeAt: later,
              isFull: false,
              winnerCount: 3,
              drawAt: later,
              drawnAt: null
            },
            {
              ...common("auctions"),
              kind: "auction",
              ...always,
              closeAt: later,
              currentPrice: "10",
              highestBid: null,
              minimumBid: "10",
              unitsLeft: 1,
              auctionEnded: false
            },
            { ...common("appointments"), kind: "appointment", ...always },
            { ...common("timed-releases"), kind: "timed_release", ...always, unitsLeft: 2, isFull: false },
            { ...common("waitlists"), kind: "waitlist", ...always, waiting: 0, isFull: false }
          ]
        )
        Schema.decodeUnknownSync(Schema.toCodecJson(LiveFacts), { onExcessProperty: "error" })(facts)
      })
    )

    it.effect("follow entries, admissions, pauses, bids, units and closings", () =>
      Effect.gen(function* () {
        const { guest } = yield* Usher
        const soonest = soon(600)
        const { id, ids } = yield* aDrop({
          queues: { maxAdmissions: 5 },
          auctions: { settleAt: soonest, autoExtendSeconds: 3_600 }
        })
        const [ada, bob] = [yield* guest(), yield* guest()]
        const queue = yield* inMechanism("queues", ids["queues"]!)
        for (const one of [ada, bob]) yield* queue.byConsumer("POST", "/enter")(one)
        yield* queue.byServer("/admit")({ count: 1 })
        yield* asAdmin("POST", `/queues/${ids["queues"]}/pause`, { reason: "HIGH_LOAD" })
        yield* eventually(id, ids["queues"]!, {
          entries: 2,
          waiting: 1,
          unitsLeft: 4,
          paused: true,
          pauseReason: "HIGH_LOAD"
        })
        yield* queue.byConsumer("POST", "/leave")(bob)
        yield* asAdmin("POST", `/queues/${ids["queues"]}/resume`)
        yield* eventually(id, ids["queues"]!, {
          entries: 1,
          waiting: 0,
          paused: false,
          pausedAt: null,
          pauseReason: null
        })

        const auction = yield* inMechanism("auctions", ids["auctions"]!)
        const bid = yield* auction.byConsumer("POST", "/bid")(ada, { amount: "12" })
        assert.strictEqual(bid.status, 200, bid.text)
        const found: any = yield* eventually(id, ids["auctions"]!, { entries: 1, currentPrice: "12", minimumBid: "17" })
        assert.strictEqual(found.highestBid.amount, "12")
        assert.notInclude(JSON.stringify(found), ada.consumerId)
        assert.isAbove(Date.parse(found.closeAt), Date.parse(soonest))

        const release = yield* inMechanism("timed-releases", ids["timed-releases"]!)
        yield* release.byConsumer("POST", "/enter")(ada)
        yield* eventually(id, ids["timed-releases"]!, { entries: 1, unitsLeft: 1 })

        yield* asAdmin("POST", `/auctions/${ids["auctions"]}/end`)
        yield* eventually(id, ids["auctions"]!, { lifecycle: "closed", auctionEnded: true, minimumBid: null })
      })
    )

    it.effect("are one buffer for all callers, which caches keep for a second", () =>
      Effect.gen(function* () {
        const { brand, consumer, stranger } = yield* Usher
        const { id } = yield* aDrop()
        const { etag = "", ...headers } = (yield* consumer({ path: livePath(id) })).headers
        assert.strictEqual(headers["cache-control"], "public, max-age=1, s-maxage=1")
        assert.strictEqual(headers["access-control-allow-origin"], "*")
        assert.notProperty(headers, "vary")
        assert.strictEqual(headers["x-ratelimit-limit"], `${openRequestsMax}`)
        assert.match(etag, /^W\/"[0-9a-f]{16}"$/)
        const callers = [
          {},
          { "x-publishable-key": stranger.publishableKey },
          asServer(brand.secretKey),
          asServer("sk_live_no")
        ]
        const answers = yield* Effect.forEach(callers, (headers) => consumer({ path: livePath(id), headers }))
        for (const { status, headers, body } of answers) {
          assert.deepStrictEqual([status, headers["etag"], body.name], [200, etag, "Drop"])
        }
        const again = yield* consumer({ path: livePath(id), headers: { "if-none-match": etag } })
        assert.deepStrictEqual([again.status, again.text, again.headers["etag"]], [304, "", etag])
        const changed = yield* consumer({ path: livePath(id), headers: { "if-none-match": 'W/"0"' } })
        assert.strictEqual(changed.status, 200)
      })
    )

    it.effect("answer the same 404 for unknown and archived experiences, and know test mode", () =>
      Effect.gen(function* () {
        const { admin, brand, consumer } = yield* Usher
        const { id } = yield* aDrop()
        yield* factsOf(id)
        yield* asAdmin("DELETE", `/experiences/${id}`)
        // The facts that were read just before serve callers for the rest of their second.
        yield* Effect.repeat(consumer({ path: livePath(id) }), {
          until: ({ status }) => status === 404,
          schedule: Schedule.spaced("50 millis")
        })
        const never = yield* created("/experiences", { name: "Never asked for" })
        yield* asAdmin("DELETE", `/experiences/${never.id}`)
        for (const gone of [id, never.id, randomUUID()]) {
          for (const path of [livePath(gone), `${livePath(gone)}/events`]) {
            const { status, body } = yield* consumer({ path })
            assert.deepStrictEqual([status, body], [404, { error: "Experience not found" }])
          }
        }
        assert.strictEqual((yield* consumer({ path: livePath("drop") })).status, 400)

        const headers = asServer(brand.testSecretKey)
        const rehearsal = yield* admin({
          method: "POST",
          path: "/api/experiences",
          headers,
          body: { name: "Rehearsal" }
        })
        assert.deepInclude(yield* factsOf(rehearsal.body.id), { name: "Rehearsal", mechanisms: [] })
      })
    )

    it.effect("leave out sequences that are not for all consumers", () =>
      Effect.gen(function* () {
        const { id } = yield* aDrop()
        const { id: audienceId } = yield* created("/audiences", { name: "Members", type: "STATIC" })
        const { id: sequenceId } = yield* created("/sequences", { experienceId: id, name: "Members", audienceId })
        const { id: hidden } = yield* created("/queues", { sequenceId, name: "Early", admitRate: 0 })
        const { mechanisms } = yield* factsOf(id)
        assert.lengthOf(mechanisms, 6)
        assert.notInclude(JSON.stringify(mechanisms), hidden)
        const secret = yield* aDrop({}, { accessCode: "open-sesame" })
        assert.deepStrictEqual((yield* factsOf(secret.id)).mechanisms, [])
      })
    )

    it.effect("are followed on a stream that all callers share, until the experience is archived", () =>
      Effect.gen(function* () {
        const { consumerUrl, guest } = yield* Usher
        const { id, ids } = yield* aDrop()
        const open = (headers: { readonly [name: string]: string } = {}) =>
          openStream(consumerUrl, `${livePath(id)}/events`, headers)
        const [one, two] = [yield* open(), yield* open()]
        assert.deepStrictEqual([one.status, one.headers["content-type"]], [200, "text/event-stream"])
        assert.strictEqual(one.headers["cache-control"], "no-store, no-transform")
        const first = yield* one.next
        assert.deepStrictEqual([first.event, first.data.mechanisms.length], ["live", 6])
        assert.strictEqual((yield* two.next).id, first.id)

        const ada = yield* guest()
        yield* (yield* inMechanism("queues", ids["queues"]!)).byConsumer("POST", "/enter")(ada)
        const changed = yield* one.next
        const waiting = ({ data }: typeof changed) =>
          data.mechanisms.find((mechanism: { readonly id: string }) => mechanism.id === ids["queues"]).waiting
        assert.strictEqual(waiting(changed), 1)
        assert.deepStrictEqual(yield* two.next, changed)

        const three = yield* open({ "last-event-id": changed.id! })
        yield* asAdmin("DELETE", `/experiences/${id}`)
        for (const stream of [one, two, three]) {
          let last = yield* stream.next
          // Archiving ends the mechanisms first, which the streams may see.
          while (last.event === "live") {
            assert.notStrictEqual(last.id, changed.id)
            last = yield* stream.next
          }
          assert.deepStrictEqual([last.event, last.data], ["end", { reason: "CLOSED" }])
          assert.strictEqual(yield* stream.over, "ended")
        }
      })
    )
  })
})
