import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schedule } from "effect"
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
      const next = { ...release, version: "2.0.0", protocol: [1, 2], level: [1, 2], schema: [36, 40] } as const
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

  it.live("is closed while too many others have not completed their handshake, and accepted once they are gone", () =>
    Effect.gen(function* () {
      const address = yield* listening
      const sockets = yield* Effect.forEach(
        Array.from({ length: halfOpenMax }),
        () =>
          Effect.callback<Socket>((resume) => {
            const socket = connect(address.port, address.host, () => resume(Effect.succeed(socket)))
            socket.on("error", () => undefined)
          }),
        { concurrency: 16 }
      )
      assert.notStrictEqual(yield* reasonOf(identity, address), "")
      for (const socket of sockets) socket.destroy()
      yield* Effect.retry(Transport.probe(identity, address), { times: 50, schedule: Schedule.spaced("20 millis") })
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
