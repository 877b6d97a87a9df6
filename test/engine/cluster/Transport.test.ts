import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { RunnerAddress } from "effect/cluster"
import { connect, type Socket } from "node:net"
import { halfOpenMax } from "../../../src/engine/cluster/HalfOpenConnections.ts"
import * as Transport from "../../../src/engine/cluster/Transport.ts"
import { release, textOf } from "../../../src/domain/values/Release.ts"
import { freePort } from "../../e2e/support/Processes.ts"

const identity = { secret: new Uint8Array(32).fill(7), release }

/** A listening node; returns its address. */
const listening = Effect.gen(function* () {
  const address = RunnerAddress.make("127.0.0.1", yield* Effect.promise(freePort))
  yield* Layer.build(Transport.layerServer(identity, address))
  return address
})

const reasonOf = (own: Transport.Identity, address: RunnerAddress.RunnerAddress) =>
  Effect.map(Effect.flip(Transport.probe(own, address)), ({ reason }) => reason)

describe("a connection between nodes", () => {
  it.live("succeeds with the key of the same database", () =>
    Effect.flatMap(listening, (address) => Transport.probe(identity, address))
  )

  it.live("is refused to a node with another database's key", () =>
    Effect.gen(function* () {
      const stranger = { ...identity, secret: new Uint8Array(32).fill(8) }
      assert.strictEqual(yield* reasonOf(stranger, yield* listening), "stranger")
    })
  )

  it.live("succeeds with a release whose ranges overlap", () =>
    Effect.gen(function* () {
      const next = { ...release, version: "2.0.0", protocol: [1, 2], level: [1, 2], schema: [1, 5] } as const
      yield* Transport.probe({ ...identity, release: next }, yield* listening)
    })
  )

  for (const name of ["protocol", "level", "schema"] as const) {
    it.live(`is refused to a release without a common ${name}, with both ranges`, () =>
      Effect.gen(function* () {
        const other = { ...release, [name]: [90, 91] }
        const reason = yield* reasonOf({ ...identity, release: other }, yield* listening)
        assert.include(reason, `${name} 90 to 91 here, ${textOf(release[name])} there`)
      })
    )
  }

  /** What strangers send on their connections, and from where. */
  const strangers: { readonly [name: string]: { readonly sent: string; readonly from: ReadonlyArray<string> } } = {
    silent: { sent: "", from: ["127.0.0.1"] },
    "silent from many addresses": { sent: "", from: ["127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.5"] },
    "one byte": { sent: "\x16", from: ["127.0.0.1"] },
    "the beginning of a handshake": { sent: "\x16\x03\x01\x02\x00\x01\x00\x01\xfc", from: ["127.0.0.6"] },
    "a request of HTTP that does not end": { sent: "\x16GET / HTTP/1.1", from: ["127.0.0.1", "127.0.0.7"] }
  }

  /** A slow machine may need a second attempt. Incomplete connections that took every place would stay for 5 s. */
  const reach = (address: RunnerAddress.RunnerAddress) =>
    Transport.probe(identity, address).pipe(Effect.retry({ times: 2 }))

  for (const [name, { sent, from }] of Object.entries(strangers)) {
    it.live(`succeeds at once next to many that are incomplete (${name}), also while more come`, () =>
      Effect.gen(function* () {
        const address = yield* listening
        const opened = (count: number) =>
          Effect.forEach(
            Array.from({ length: count }, (_, index) => from[index % from.length]!),
            (localAddress) =>
              Effect.callback<Socket>((resume) => {
                const { host, port } = address
                const socket = connect({ host, port, localAddress }, () => {
                  if (sent !== "") socket.write(Buffer.from(sent, "latin1"))
                  resume(Effect.succeed(socket))
                })
                socket.on("error", () => undefined)
              }),
            { concurrency: 16 }
          )
        const first = yield* opened(halfOpenMax + 10)
        yield* reach(address)
        const more = yield* Effect.forkChild(opened(halfOpenMax))
        for (let probes = 0; probes < 20; probes++) yield* reach(address)
        const later = yield* Fiber.join(more)
        yield* reach(address)
        for (const socket of [...first, ...later]) socket.destroy()
      })
    )
  }

  it.live("is closed if it stays silent", () =>
    Effect.gen(function* () {
      const { host, port } = yield* listening
      yield* Effect.callback<void>((resume) => {
        const socket = connect(port, host)
        socket.on("error", () => undefined)
        socket.once("close", () => resume(Effect.void))
      })
    })
  )

  it.live("that is complete does not count as half-open", () =>
    Effect.gen(function* () {
      const address = yield* listening
      for (let probes = 0; probes < halfOpenMax + 5; probes++) yield* Transport.probe(identity, address)
    })
  )

  it.live("to an address without a listener says so", () =>
    Effect.gen(function* () {
      const address = RunnerAddress.make("127.0.0.1", yield* Effect.promise(freePort))
      assert.include(yield* reasonOf(identity, address), "ECONNREFUSED")
    })
  )

  it.live("cannot be accepted at a port that is taken", () =>
    Effect.gen(function* () {
      const { host, port } = yield* listening
      const address = RunnerAddress.make(host, port)
      const refused = yield* Effect.flip(Effect.asVoid(Layer.build(Transport.layerServer(identity, address))))
      assert.include(refused.message, `port ${port} of 127.0.0.1 is taken by another process`)
    })
  )
})
