import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Option, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { createServer, type Socket } from "node:net"
import { Settings } from "../../../src/settings/Settings.ts"
import * as Database from "../../../src/store/postgres/Database.ts"
import * as TestDatabase from "../support/TestDatabase.ts"
import * as TestServer from "../support/TestServer.ts"

/** Opens the database at a URL as Usher does. */
const open = (url: string) =>
  Effect.gen(function* () {
    const settings = Settings.layerTest({ databaseUrl: Option.some(Redacted.make(url)) })
    const layer = Database.layer.pipe(Layer.provide(settings), Layer.provide(NodeServices.layer))
    return yield* Effect.provide(SqlClient.SqlClient, yield* Layer.build(layer))
  })

const refusal = (url: string) => Effect.map(Effect.flip(Effect.scoped(open(url))), (error) => error.message)

/** A server that implements just enough of Postgres' protocol to answer any one query with the given row of text. */
const impostor = (row: ReadonlyArray<string>) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly port: number; readonly close: () => void }>((resume) => {
      const sockets = new Set<Socket>()
      const server = createServer((socket) => {
        sockets.add(socket)
        socket.on("error", () => {})
        let greeted = false
        socket.on("data", (chunk) => {
          if (!greeted && chunk.readInt32BE(4) === 80_877_103) return void socket.write("N")
          if (!greeted) socket.write(Buffer.concat([message("R", int32(0)), message("K", int32(1), int32(2)), idle]))
          else for (const type of typesOf(chunk)) socket.write(answer(type, row))
          greeted = true
        })
      })
      server.listen(0, "127.0.0.1", () => {
        const { port } = server.address() as { readonly port: number }
        const close = () => {
          for (const socket of sockets) socket.destroy()
          server.close()
        }
        resume(Effect.succeed({ port, close }))
      })
    }),
    ({ close }) => Effect.sync(close)
  )

const int16 = (value: number) => Buffer.from([value >> 8, value & 0xff])
const int32 = (value: number) => Buffer.from([value >> 24, (value >> 16) & 0xff, (value >> 8) & 0xff, value & 0xff])
const message = (type: string, ...parts: ReadonlyArray<Uint8Array>) => {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body])
}
const idle = message("Z", Buffer.from("I"))

const typesOf = (chunk: Buffer) => {
  const types: Array<string> = []
  for (let at = 0; at < chunk.length; at += 1 + chunk.readInt32BE(at + 1)) {
    const type = String.fromCharCode(chunk[at]!)
    // Describe has one reply for a statement and another for a portal.
    types.push(type === "D" ? `D${String.fromCharCode(chunk[at + 5]!)}` : type)
  }
  return types
}

const answer = (type: string, row: ReadonlyArray<string>): Uint8Array => {
  const column = (index: number) => Buffer.from(`c${index}\0`)
  const columns = row.map((_, index) =>
    Buffer.concat([column(index), int32(0), int16(0), int32(25), int16(-1), int32(-1), int16(1)])
  )
  const values = row.map((text) => Buffer.concat([int32(text.length), Buffer.from(text)]))
  switch (type) {
    case "P":
      return message("1")
    case "DS":
      return Buffer.concat([message("t", int16(0)), message("T", int16(row.length), ...columns)])
    case "DP":
      return message("T", int16(row.length), ...columns)
    case "B":
      return message("2")
    case "E":
      return Buffer.concat([message("D", int16(row.length), ...values), message("C", Buffer.from("SELECT 1\0"))])
    case "S":
      return idle
    default:
      return Buffer.alloc(0)
  }
}

describe("a server named by DATABASE_URL", () => {
  it.live("that is too old is refused with its version and the required one", () =>
    Effect.gen(function* () {
      const { port } = yield* impostor(["14.11 (Debian 14.11-1)", "UTF8", "false"])
      const message = yield* refusal(`postgres://usher@127.0.0.1:${port}/usher`)
      assert.include(message, "Postgres 14.11")
      assert.include(message, "15 or newer")
    })
  )

  it.live("whose database is not in UTF8 is refused with the statement that creates one", () =>
    Effect.gen(function* () {
      const { port } = yield* impostor(["16.2", "SQL_ASCII", "false"])
      const message = yield* refusal(`postgres://usher@127.0.0.1:${port}/usher`)
      assert.include(message, "SQL_ASCII")
      assert.include(message, "create database")
    })
  )

  it.live("that is a standby is refused", () =>
    Effect.gen(function* () {
      const { port } = yield* impostor(["16.2", "UTF8", "true"])
      assert.include(yield* refusal(`postgres://usher@127.0.0.1:${port}/usher`), "standby")
    })
  )

  it.live("that is suitable passes the same checks", () =>
    Effect.gen(function* () {
      const { port } = yield* impostor(["15.0", "UTF8", "false"])
      yield* open(`postgres://usher@127.0.0.1:${port}/usher`)
    })
  )

  it.live("where nothing listens is named with host and port, and never with the password", () =>
    Effect.gen(function* () {
      const message = yield* refusal("postgres://usher:geheim@127.0.0.1:1/drops")
      assert.include(message, 'the server in DATABASE_URL (127.0.0.1, port 1, database "drops")')
      assert.include(message, "nothing listens there")
      assert.notInclude(message, "geheim")
    })
  )

  it.live("whose host is unknown is refused", () =>
    Effect.gen(function* () {
      const message = yield* refusal("postgres://usher:geheim@no-such-host.invalid/drops")
      assert.include(message, "no-such-host.invalid, port 5432")
      assert.include(message, "host's name is unknown")
      assert.notInclude(message, "geheim")
    })
  )

  it.live("with invalid options is refused without the password in the message", () =>
    Effect.gen(function* () {
      const message = yield* refusal("postgres://usher:geheim@127.0.0.1:1/drops?sslmode=maybe")
      assert.include(message, "sslmode")
      assert.notInclude(message, "geheim")
    })
  )

  describe("and exists", () => {
    it.live("is used", () =>
      Effect.gen(function* () {
        const { url, name } = yield* TestDatabase.emptyDatabase
        const sql = yield* open(url)
        assert.deepStrictEqual(yield* sql`select current_database() as name`, [{ name }])
      })
    )

    it.live("without the named database is refused", () =>
      Effect.gen(function* () {
        const url = new URL(TestServer.current.url)
        url.pathname = "/usher_no_such_database"
        assert.include(yield* refusal(url.href), "no such database")
      })
    )
  })
})
