import { assert, describe, it, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { IpNetwork } from "effect/net"
import { EventEmitter } from "node:events"
import { connect, type Socket } from "node:net"
import { Connections } from "../../../src/http/connections/Connections.ts"
import * as Server from "../../../src/http/server/Server.ts"
import { layerWith } from "../support/listenerFixture.ts"
import { send } from "../support/usherFixture.ts"

/** A connection that ends when it is destroyed. */
class FakeSocket extends EventEmitter {
  bytesRead = 0
  isOpen = true
  readonly remoteAddress: string
  constructor(remoteAddress: string) {
    super()
    this.remoteAddress = remoteAddress
  }
  destroy() {
    this.isOpen = false
    this.emit("close")
  }
}

const listener = (bounds: { readonly totalMax?: number; readonly perAddressMax?: number } = {}) => {
  const clock = { now: 0, idleClosed: 0 }
  const connections = new Connections({
    totalMax: 10,
    perAddressMax: 10,
    ...bounds,
    now: () => clock.now,
    addressOf: (socket) => (socket.remoteAddress === "proxy" ? undefined : socket.remoteAddress),
    closeIdle: () => void clock.idleClosed++,
    isEncrypted: false
  })
  const opened = (address: string, sends: "nothing" | "half" | "request" = "nothing") => {
    const socket = new FakeSocket(address)
    connections.accept(socket as unknown as Socket)
    if (sends !== "nothing") socket.bytesRead = 1
    if (sends === "request") connections.completed(socket as unknown as Socket)
    return socket
  }
  return { clock, connections, opened }
}

describe("The connections of a listener", () => {
  it("are cut if they send nothing for five seconds, and stay open if they send something", () => {
    const { clock, connections, opened } = listener()
    const silent = opened("a")
    const talking = opened("a", "half")
    clock.now = 4_999
    connections.cutSilent()
    assert.isTrue(silent.isOpen)
    clock.now = 5_000
    connections.cutSilent()
    assert.deepStrictEqual([silent.isOpen, talking.isOpen], [false, true])
    assert.deepStrictEqual(connections.takeReport(), [["silent", 1]])
    assert.deepStrictEqual(connections.takeReport(), [])
  })

  it("from one address are bounded, and from a trusted proxy are not", () => {
    const { connections, opened } = listener({ perAddressMax: 2 })
    const first = opened("a")
    assert.deepStrictEqual([opened("a").isOpen, opened("a").isOpen, opened("b").isOpen], [true, false, true])
    assert.deepStrictEqual(
      [1, 2, 3, 4].map(() => opened("proxy").isOpen),
      [true, true, true, true]
    )
    first.destroy()
    assert.isTrue(opened("a").isOpen)
    assert.deepStrictEqual(connections.takeReport(), [["address", 1]])
  })

  it("replace the one that waited longest without a complete request when all are taken, and close no idle one", () => {
    const { clock, opened } = listener({ totalMax: 3 })
    const [talking, oldest, next] = [opened("a", "request"), opened("a", "half"), opened("a")]
    assert.isTrue(opened("b", "request").isOpen)
    assert.deepStrictEqual([oldest.isOpen, next.isOpen], [false, true])
    assert.isTrue(opened("b", "request").isOpen)
    assert.deepStrictEqual([next.isOpen, talking.isOpen, clock.idleClosed], [false, true, 0])
  })

  it("make room by closing idle ones, twice a second at most", () => {
    const { clock, connections, opened } = listener({ totalMax: 1 })
    opened("a", "request")
    clock.now = 1_000
    assert.isFalse(opened("b").isOpen)
    assert.isFalse(opened("b").isOpen)
    assert.strictEqual(clock.idleClosed, 1)
    clock.now = 1_500
    assert.isFalse(opened("b").isOpen)
    assert.strictEqual(clock.idleClosed, 2)
    assert.deepStrictEqual(connections.takeReport(), [["total", 3]])
  })
})

/** Opens a connection. Returns its socket, and whether it ends within a second. */
const open = (url: string, localAddress: string) =>
  Effect.callback<{ readonly socket: Socket; readonly isCut: boolean }>((resume) => {
    const { hostname, port } = new URL(url)
    const socket = connect({ host: hostname, port: Number(port), localAddress })
    const timer = setTimeout(() => resume(Effect.succeed({ socket, isCut: false })), 300)
    socket.on("error", () => {})
    socket.on("close", () => {
      clearTimeout(timer)
      resume(Effect.succeed({ socket, isCut: true }))
    })
  })

layer(layerWith(Layer.empty, { connectionsPerAddress: 3 }), { excludeTestServices: true })("A listener", (it) => {
  it.effect("refuses an address's fourth connection, and answers another address", () =>
    Effect.gen(function* () {
      const { consumerUrl } = yield* Server.Listeners
      const opened = yield* Effect.forEach([1, 2, 3], () => open(consumerUrl, "127.0.0.2"), { concurrency: 3 })
      assert.deepStrictEqual(
        opened.map(({ isCut }) => isCut),
        [false, false, false]
      )
      assert.isTrue((yield* open(consumerUrl, "127.0.0.2")).isCut)
      const honest = yield* send(consumerUrl, { path: "/nothing", localAddress: "127.0.0.3" })
      assert.strictEqual(honest.status, 404)
      for (const { socket } of opened) socket.destroy()
    })
  )
})

const trustedProxies = [IpNetwork.fromStringUnsafe("127.0.0.4/32")]
layer(layerWith(Layer.empty, { connectionsPerAddress: 1, trustedProxies }), { excludeTestServices: true })(
  "A listener behind a proxy",
  (it) => {
    it.effect("takes any number of connections from the proxy", () =>
      Effect.gen(function* () {
        const { consumerUrl } = yield* Server.Listeners
        const opened = yield* Effect.forEach([1, 2, 3], () => open(consumerUrl, "127.0.0.4"), { concurrency: 3 })
        assert.deepStrictEqual(
          opened.map(({ isCut }) => isCut),
          [false, false, false]
        )
        for (const { socket } of opened) socket.destroy()
      })
    )
  }
)
