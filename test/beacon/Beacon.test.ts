/** Fetches rounds over real HTTP, from relays in this process that are honest, false, slow or absent. */
import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber, Layer } from "effect"
import { Beacon } from "../../src/beacon/Beacon.ts"
import { Settings } from "../../src/settings/Settings.ts"
import { type Respond, honest, published, relay, respondWith } from "./relay.ts"

const [one, thousand] = published as [(typeof published)[number], (typeof published)[number]]

/** No server listens on this port. */
const nowhere = "http://127.0.0.1:1"

const asking = <A, E, R>(
  drandUrls: ReadonlyArray<string>,
  use: (beacon: Beacon["Service"]) => Effect.Effect<A, E, R>
) =>
  Effect.flatMap(Beacon, use).pipe(Effect.provide(Beacon.layer.pipe(Layer.provide(Settings.layerTest({ drandUrls })))))

describe("A round", () => {
  it.live("is fetched from a relay and verified", () =>
    Effect.gen(function* () {
      const { url, requested } = yield* relay()
      for (const round of published) {
        assert.deepStrictEqual(yield* asking([url], (beacon) => beacon.round(round.round)), round)
      }
      assert.strictEqual(requested[1], "/52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971/public/1000")
    })
  )

  it.live("is verified on a thread of its own, so that it holds up no other work", () =>
    Effect.gen(function* () {
      const { url } = yield* relay()
      const { url: tampered } = yield* relay(respondWith({ ...one, signature: thousand.signature }))
      let threads = 0
      const count = () => void threads++
      yield* Effect.acquireRelease(
        Effect.sync(() => process.on("worker", count)),
        () => Effect.sync(() => process.off("worker", count))
      )
      for (let round = 0; round < 4; round++) yield* asking([tampered, url], (beacon) => beacon.round(1))
      assert.strictEqual(threads, 8)
    })
  )

  const useless: ReadonlyArray<readonly [what: string, respond: Respond, reason: RegExp]> = [
    ["a tampered signature", respondWith({ ...one, signature: thousand.signature }), /invalid signature/],
    ["other randomness", respondWith({ ...one, randomness: thousand.randomness }), /invalid signature/],
    ["another round", respondWith(thousand), /returned round 1000/],
    ["another round under this one's number", respondWith({ ...thousand, round: 1 }), /invalid signature/],
    ["an incomplete response", respondWith({ round: 1, randomness: one.randomness }), /SchemaError/],
    ["no JSON", (_, response) => response.end("<html>"), /DecodeError/],
    ["an endless response", endless, /DecodeError/],
    ["a response with too large a length", respondWith({ ...one, more: "x".repeat(10_000) }), /DecodeError/],
    ["a redirection", (_, response) => response.writeHead(302, { location: nowhere }).end(), /HTTP 302/],
    ["an error", (_, response) => response.writeHead(500).end(), /HTTP 500/],
    ["a closed connection", (_, response) => response.destroy(), /TransportError/]
  ]

  it.live("is taken from the first relay that returns it", () =>
    Effect.gen(function* () {
      const bad = yield* Effect.forEach(useless, ([, respond]) => relay(respond))
      const good = yield* relay()
      const urls = [...bad, good].map(({ url }) => url)
      assert.deepStrictEqual(yield* asking(urls, (beacon) => beacon.round(1)), one)
      assert.deepStrictEqual(
        useless.map(([what], index) => [what, bad[index]!.requested.length]),
        useless.map(([what]) => [what, 1])
      )
    })
  )

  it.live("is unavailable while every relay fails, with the reason of each, and available when one works again", () =>
    Effect.gen(function* () {
      const bad = yield* Effect.forEach(useless, ([, respond]) => relay(respond))
      yield* asking([...bad.map(({ url }) => url), nowhere], (beacon) =>
        Effect.gen(function* () {
          const { round, reasons } = yield* Effect.flip(beacon.round(1))
          assert.deepStrictEqual([round, reasons.length], [1, bad.length + 1])
          for (const [index, [what, , reason]] of useless.entries()) {
            assert.isTrue(reasons[index]!.startsWith(`${bad[index]!.url}: `), what)
            assert.match(reasons[index]!, reason, what)
            assert.strictEqual(bad[index]!.requested.length, 4, what)
          }
          bad[3]!.respond = honest
          assert.deepStrictEqual(yield* beacon.round(1), one)
        })
      )
    })
  )

  it.live("is taken from the next relay when the first does not respond in time", () =>
    Effect.gen(function* () {
      const silent = yield* relay(() => {})
      const good = yield* relay()
      const [taken, round] = yield* Effect.timed(asking([silent.url, good.url], (beacon) => beacon.round(1)))
      assert.deepStrictEqual(round, one)
      assert.isBelow(Duration.toMillis(taken), 60_000)
    })
  )

  it.live(
    "is taken from the next relay when the first is down, and the next round is fetched from there directly",
    () =>
      Effect.gen(function* () {
        const first = yield* relay((_, response) => response.destroy())
        const good = yield* relay()
        yield* asking([first.url, nowhere, good.url], (beacon) =>
          Effect.gen(function* () {
            assert.deepStrictEqual(yield* beacon.round(1), one)
            assert.deepStrictEqual(yield* beacon.round(1_000), thousand)
          })
        )
        assert.strictEqual(first.requested.length, 1)
      })
  )

  it.live("that is not signed yet is requested again until it is", () =>
    Effect.gen(function* () {
      const late = yield* relay((_, response) => response.writeHead(404).end())
      yield* asking([late.url], (beacon) =>
        Effect.gen(function* () {
          const waiting = yield* Effect.forkChild(beacon.round(1_000))
          yield* Effect.sleep("300 millis")
          assert.strictEqual(late.requested.length, 1)
          late.respond = honest
          assert.deepStrictEqual(yield* Fiber.join(waiting), thousand)
        })
      )
    })
  )
})

function endless(...[, response]: Parameters<Respond>): void {
  response.writeHead(200, { "content-type": "application/json" })
  const writing = setInterval(() => response.write(" ".repeat(1_000)), 1)
  response.on("close", () => clearInterval(writing))
}
