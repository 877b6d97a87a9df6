import { assert, describe, it } from "@effect/vitest"
import { connect, createServer, type Socket } from "node:net"
import { beyondIdle, openSqlTap, since, total } from "../../../bench/setup/SqlTap.ts"

const message = (type: string, ...fields: ReadonlyArray<Buffer>) => {
  const body = Buffer.concat(fields)
  const head = Buffer.alloc(type.length + 4)
  head.write(type, "latin1")
  head.writeInt32BE(body.length + 4, type.length)
  return Buffer.concat([head, body])
}
const text = (value: string) => Buffer.from(`${value}\0`)
const int32 = (value: number) => {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

const int16 = (value: number) => int32(value).subarray(2)

describe("the tap before Postgres", () => {
  it("counts simple queries and executions of prepared statements by their text, and keeps the last parameters, wherever the bytes are cut", async () => {
    const sockets: Array<Socket> = []
    let received = 0
    const sent = Buffer.concat([
      message("", int32(196_608), text("user"), text("bench"), text("")),
      message("Q", text("select 1")),
      message("P", text("enter"), text("insert …"), int16(3), int32(23), int32(25), int32(25)),
      ...[1, 2, 3].flatMap((number) => [
        message(
          "B",
          text(""),
          text("enter"),
          // Three formats and three values, the first of four bytes and binary, the last null.
          Buffer.concat([3, 1, 0, 0, 3].map(int16)),
          Buffer.concat([int32(4), int32(number), int32(3), Buffer.from("abc"), int32(-1)]),
          int16(0)
        ),
        message("E", text(""), int32(0)),
        message("S")
      ])
    ])
    const arrived = Promise.withResolvers<void>()
    const database = createServer((socket) => {
      sockets.push(socket)
      socket.on("data", (bytes) => {
        received += bytes.length
        if (received === sent.length) arrived.resolve()
      })
    })
    await new Promise<void>((resolve) => database.listen(0, "127.0.0.1", resolve))
    const { port } = database.address() as { readonly port: number }
    const tap = await openSqlTap(`postgres://127.0.0.1:${port}/x`)
    const program = connect({
      host: "127.0.0.1",
      port: Number(new URL(tap.url("postgres://u@h/y")).port),
      noDelay: true
    })
    for (let at = 0; at < sent.length; at += 7) {
      program.write(sent.subarray(at, at + 7))
      await new Promise((resolve) => setImmediate(resolve))
    }
    await arrived.promise
    assert.deepStrictEqual(
      [...tap.statements()],
      [
        ["select 1", 1],
        ["insert …", 3]
      ]
    )
    assert.deepStrictEqual(tap.parameters().get("insert …"), [
      { type: 23, value: int32(3) },
      { type: 25, value: "abc" },
      { type: 25, value: null }
    ])
    program.destroy()
    tap.stop()
    for (const socket of sockets) socket.destroy()
    database.close()
  })

  it("leaves to the program what it also does at rest", () => {
    const idle = new Map([["sweep", 5]])
    assert.strictEqual(beyondIdle(new Map([["sweep", 6]]), idle), 0)
    assert.strictEqual(beyondIdle(new Map([["sweep", 50]]), idle), 43)
    assert.strictEqual(beyondIdle(new Map([["select a place", 1]]), idle), 1)
    assert.strictEqual(
      total(
        since(
          new Map([["a", 2]]),
          new Map([
            ["a", 5],
            ["b", 1]
          ])
        )
      ),
      4
    )
  })
})
