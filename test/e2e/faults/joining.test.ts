/**
 * Processes that must not join the running nodes. Each refuses to start with code 1 and one clear sentence, before it
 * serves a request.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer as createTcpServer, type Server } from "node:net"
import * as UsherInProcess from "../../cli/usherInProcess.ts"
import * as Usher from "../../cli/usherProcess.ts"
import { serving } from "../../cli/servingProcess.ts"
import * as TestDatabase from "../../store/support/TestDatabase.ts"
import * as FreshDatabase from "../support/FreshDatabase.ts"
import { nodeSettings } from "../support/Nodes.ts"
import { freePort } from "../support/Processes.ts"

const nodeOn = (url: string) =>
  Effect.map(Effect.promise(nodeSettings), (address) => ({
    DATABASE_URL: url,
    LOG_LEVEL: "warn",
    CONSUMER_PORT: "0",
    ADMIN_PORT: "0",
    ...address
  }))

/** Returns the sentence with which `usher serve` refuses to start, as a process or here. */
const refusal = Effect.fnUntraced(function* (settings: Record<string, string>, run: typeof Usher.run = Usher.run) {
  const { code, stderr } = yield* run(["serve"], settings)
  assert.strictEqual(code, 1, stderr)
  const complaints = stderr.split("\n").filter((line) => line !== "" && !/level=WARN|\] WARN /.test(line))
  assert.strictEqual(complaints.length, 1, stderr)
  return complaints[0]!.replace(/^usher: /, "")
})

/** Listens on a free port and passes each connection to a callback. */
const listener = (onConnection: (socket: import("node:net").Socket) => void) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly server: Server; readonly port: number }>((resume) => {
      const server = createTcpServer(onConnection).listen(0, "127.0.0.1", () =>
        resume(Effect.succeed({ server, port: (server.address() as { port: number }).port }))
      )
    }),
    ({ server }) => Effect.sync(() => server.close())
  )

/** Inserts a node with a heartbeat at this address. */
const pretend = (url: string, node: { readonly port: number }) =>
  Effect.promise(() =>
    FreshDatabase.query(url, (sql) =>
      Effect.gen(function* () {
        const address = `127.0.0.1:${node.port}`
        yield* sql`
          insert into nodes (address, name, release, lock_seconds, started_at)
          select ${address}, 'other', release, lock_seconds, now() from nodes limit 1`
        yield* sql`
          insert into cluster_runners (address, runner, healthy, last_heartbeat)
          select ${address}, runner, true, localtimestamp + interval '1 hour' from cluster_runners limit 1`
      })
    )
  )

it.live("A node without a shared database refuses to start", () =>
  Effect.gen(function* () {
    const { DATABASE_URL: _, ...settings } = yield* nodeOn("")
    assert.include(yield* refusal(settings, UsherInProcess.run), "CLUSTER is true, and needs DATABASE_URL")
  })
)

describe("A process that tries to join the nodes", () => {
  it.live("refuses to start if it or the others are unreachable, or if their settings differ", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase.migratedDatabase
      const first = yield* nodeOn(url)
      yield* serving(first)
      const own = yield* nodeOn(url)

      const taken = yield* listener((socket) => socket.destroy())
      assert.include(
        yield* refusal({ ...own, CLUSTER_PORT: `${taken.port}` }, UsherInProcess.run),
        `port ${taken.port} of 127.0.0.1 is taken`
      )
      assert.include(yield* refusal({ ...own, CLUSTER_PORT: first.CLUSTER_PORT }), "is the address of the node")
      assert.include(
        yield* refusal({ ...own, CLUSTER_HOST: "0.0.0.0" }, UsherInProcess.run),
        "CLUSTER_HOST: other nodes cannot reach this one"
      )
      assert.include(
        yield* refusal({ ...own, CLUSTER_HOST: "203.0.113.1" }, UsherInProcess.run),
        "is not an address of this machine"
      )
      assert.include(yield* refusal({ ...own, CLUSTER_LOCK_SECONDS: "5" }), "CLUSTER_LOCK_SECONDS is 5 here, and 3 at")
    })
  )

  it.live("refuses to start if a node has another version, belongs to another installation, or does not respond", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase.migratedDatabase
      yield* serving(yield* nodeOn(url))
      const own = yield* nodeOn(url)
      const forget = Effect.promise(() =>
        FreshDatabase.query(url, (sql) =>
          Effect.andThen(
            sql`delete from cluster_runners where address in (select address from nodes where name = 'other')`,
            sql`delete from nodes where name = 'other'`
          )
        )
      )

      const unused = yield* Effect.promise(freePort)
      yield* pretend(url, { port: unused })
      const unreached = yield* refusal(own)
      assert.include(unreached, "does not reach the node other")
      // As two machines with --processes and no CLUSTER on one database would find each other.
      assert.include(unreached, "If that node runs on another machine, start both with CLUSTER=true and a CLUSTER_HOST")
      yield* forget

      // A copy of the migrated database would have the same key.
      const elsewhere = yield* nodeOn((yield* TestDatabase.emptyDatabase).url)
      yield* serving(elsewhere)
      yield* pretend(url, { port: Number(elsewhere.CLUSTER_PORT) })
      assert.include(
        yield* refusal(own, UsherInProcess.run),
        "does not have this database's key, so it belongs to another installation"
      )
      yield* forget

      const mute = yield* listener(() => {})
      yield* pretend(url, { port: mute.port })
      assert.include(yield* refusal(own, UsherInProcess.run), "does not reach the node other")
      yield* forget

      // After the correction it may join.
      yield* serving(own)
    })
  )
})
