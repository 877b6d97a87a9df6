/**
 * Brings the cause of each alert about on a real server, and evaluates the rule's condition on its scrapes: before, when
 * it must not hold, and afterwards, when it must. The duration in `for` is not waited for. Six causes are simulated, as
 * their cases say: a stalled machine, a leak, a wrong clock, a lost wake-up, and the ages of a delivery and of a backup.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import { Context, Effect, Layer, Schedule, Scope } from "effect"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { generate } from "selfsigned"
import * as Queue from "../../support/queueOnServer.ts"
import { aReceiver } from "../../workers/support/webhookReceiver.ts"
import * as Scraped from "../support/ScrapedServer.ts"

const preload = (name: string) => `--import=${fileURLToPath(new URL(`../support/${name}.ts`, import.meta.url))}`

/** A folder that is removed when the scope closes. */
const folder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "usher-alerts-"))),
  (path) => Effect.sync(() => rmSync(path, { recursive: true, force: true }))
)

const aQueue = (server: Scraped.ScrapedServer) => Effect.promise(() => Queue.createQueue(server))

/** A server that cases share, because what they change leaves the conditions of the others as they are. */
class Shared extends Context.Service<Shared, Scraped.ScrapedServer>()("usher/test/Shared") {
  static readonly layer = Layer.effect(Shared, Scraped.start())
}

/** A certificate for seven days. Returns the settings with which a server serves it. */
const shortCertificate = Effect.gen(function* () {
  const path = yield* folder
  const notAfterDate = new Date(Date.now() + 7 * 86_400_000)
  const pems = yield* Effect.promise(() => generate([{ name: "commonName", value: "localhost" }], { notAfterDate }))
  const [key, certificate] = [join(path, "key.pem"), join(path, "certificate.pem")]
  writeFileSync(key, pems.private)
  writeFileSync(certificate, pems.cert)
  return { TLS_CERT_FILE: certificate, TLS_KEY_FILE: key }
})

const causes: Readonly<Record<string, (alert: string) => Effect.Effect<void, unknown, Scope.Scope | Shared>>> = {
  /** A lock keeps the database from taking the heartbeat. */
  UsherDatabaseNotWritable: Effect.fnUntraced(function* (alert) {
    const server = yield* Shared
    yield* Scraped.locked(server, "nodes", Scraped.fires(alert, server))
  }),
  /** The server takes no writes any more, like a standby. Its sessions are new, so they follow its setting. */
  UsherStatementsFailing: Effect.fnUntraced(function* (alert) {
    const server = yield* Scraped.start()
    const name = new URL(server.databaseUrl).pathname.slice(1)
    const cause = Scraped.query(server, (sql) =>
      Effect.andThen(
        sql`alter database ${sql(name)} set default_transaction_read_only = on`,
        sql`select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`
      )
    )
    const each = Effect.promise(() => Queue.guest(server))
    const isReadOnly = ({ labels }: Scraped.Firing) => labels["cause"] === "read_only"
    yield* Scraped.fires(alert, server, { cause, each, by: isReadOnly })
    const isWritable = Effect.map(
      Effect.andThen(each, server.scrape),
      ({ samples }) => samples.get("usher_database_writable")![0]!.value
    )
    yield* Effect.repeat(isWritable, { until: (value) => value === 0, schedule: Schedule.spaced("200 millis") })
  }),
  /** A lock keeps the database from taking the only process's heartbeat. */
  UsherNoNodeReady: Effect.fnUntraced(function* (alert) {
    const server = yield* Shared
    yield* Scraped.locked(server, "nodes", Scraped.fires(alert, server))
  }),
  /** A lock keeps the journal's statement waiting. */
  UsherStatementsSlow: Effect.fnUntraced(function* (alert) {
    const server = yield* Shared
    const queueId = yield* aQueue(server)
    const entering = Effect.forkDetach(Scraped.enter(server, queueId), { startImmediately: true })
    const during = Effect.andThen(entering, Scraped.statementWaits(server))
    yield* Scraped.fires(alert, server, { cause: Scraped.locked(server, "mechanism_heads", during) })
  }),
  /** Simulated: the process is stopped for 300 milliseconds, as an overbooked machine stops it. */
  UsherEventLoopSlow: Effect.fnUntraced(function* (alert) {
    const server = yield* Shared
    const stall = Effect.acquireUseRelease(
      Effect.sync(() => server.child.kill("SIGSTOP")),
      () => Effect.sleep("300 millis"),
      () => Effect.sync(() => server.child.kill("SIGCONT"))
    )
    yield* Scraped.fires(alert, server, { each: stall })
  }),
  /** Simulated: the stored wake-up lies in the past, as if its actor had lost its timer. */
  UsherTransitionsOverdue: Effect.fnUntraced(function* (alert) {
    const server = yield* Shared
    const queueId = yield* aQueue(server)
    const cause = Scraped.query(
      server,
      (sql) => sql`update mechanism_heads set wake_at = now() - interval '1 minute' where mechanism_id = ${queueId}`
    )
    yield* Scraped.fires(alert, server, { cause })
  }),
  /** A lock keeps the places of an entry waiting. */
  UsherPlacesBehind: Effect.fnUntraced(function* (alert) {
    const server = yield* Shared
    const queueId = yield* aQueue(server)
    const during = Effect.andThen(Scraped.enter(server, queueId), Scraped.fires(alert, server))
    yield* Scraped.locked(server, "place_projections", during)
  }),
  /** An event of the journal that cannot be read. */
  UsherMechanismParked: Effect.fnUntraced(function* (alert) {
    const server = yield* Scraped.start()
    const queueId = yield* aQueue(server)
    assert.strictEqual(yield* Scraped.enter(server, queueId), 200)
    yield* Scraped.stop(server)
    yield* Scraped.query(
      server,
      (sql) => sql`update journal set type = 'Garbled' where mechanism_id = ${queueId} and type = 'Entered'`
    )
    const restarted = yield* Scraped.start({}, server)
    yield* Scraped.fires(alert, restarted, { healthy: yield* Shared })
  }),
  /** Simulated: a module in the process keeps memory that nothing else needs. */
  UsherHeapAlmostFull: Effect.fnUntraced(function* (alert) {
    const server = yield* Scraped.start({
      NODE_OPTIONS: `--max-old-space-size=512 --max-semi-space-size=8 ${preload("heapBallast")}`
    })
    yield* Scraped.fires(alert, server, { cause: Effect.sync(() => server.child.kill("SIGUSR2")) })
  }),
  /** 804 of the Admin API's 1,000 live streams are open: at most 500 of one organization, and 100 on one queue. */
  UsherStreamsAlmostFull: Effect.fnUntraced(function* (alert) {
    const server = yield* Shared
    const queueId = yield* aQueue(server)
    for (const setup of [server, yield* Scraped.forAnother(server)]) {
      const queues = yield* Effect.replicateEffect(aQueue(setup), 4)
      yield* Effect.forEach(queues, (queue) => Scraped.openStreams(setup, queue, 98))
    }
    const scope = yield* Effect.scope
    const cause = Scope.provide(Scraped.openStreams(server, queueId, 20), scope)
    yield* Scraped.fires(alert, server, { cause })
  }),
  /** A receiver refuses. Simulated: the first attempt was 20 minutes ago. */
  UsherWebhooksUndelivered: Effect.fnUntraced(function* (alert) {
    const receiver = yield* aReceiver
    receiver.answer = () => 500
    const server = yield* Scraped.start({ WEBHOOK_NETWORKS: "127.0.0.0/8" })
    yield* Effect.promise(async () => {
      await Queue.create(server, "/webhooks", { url: receiver.url, events: ["experience.created"] })
      await Queue.create(server, "/experiences", { name: "Drop" })
    })
    const held = Scraped.query(server, (sql) => sql`select 1 from webhook_held where retry_at is not null`).pipe(
      Effect.repeat({ until: (rows) => rows.length > 0, schedule: Schedule.spaced("100 millis") })
    )
    const aged = Scraped.query(
      server,
      (sql) => sql`update webhook_deliveries set created_at = created_at - interval '20 minutes'`
    )
    yield* Scraped.fires(alert, server, { cause: Effect.andThen(held, aged) })
  }),
  /** Nothing listens at the address of Redis. */
  UsherRedisAlone: Effect.fnUntraced(function* (alert) {
    const server = yield* Scraped.start({ REDIS_URL: "redis://127.0.0.1:1" })
    yield* Scraped.fires(alert, server, { healthy: yield* Shared })
  }),
  /** Simulated: the process reads a time of day that is five seconds ahead. */
  UsherClockOffset: Effect.fnUntraced(function* (alert) {
    const file = join(yield* folder, "offset")
    writeFileSync(file, "5000")
    const server = yield* Scraped.start({ NODE_OPTIONS: preload("jumpingClockServer"), CLOCK_OFFSET_FILE: file })
    yield* Scraped.fires(alert, server, { cause: Effect.sync(() => server.child.kill("SIGUSR2")) })
  }),
  /** One of two processes is killed. */
  UsherNodeMissing: Effect.fnUntraced(function* (alert) {
    const server = yield* Scraped.start({ NODE_NAME: "one" })
    const other = yield* Scraped.start({ NODE_NAME: "two" }, server)
    const heard = Effect.map(server.scrape, ({ samples }) => samples.get("usher_cluster_nodes")?.[0]?.value)
    yield* Effect.repeat(heard, { until: (nodes) => nodes === 2, schedule: Schedule.spaced("200 millis") })
    yield* Scraped.fires(alert, server, { cause: Scraped.stop(other, "SIGKILL") })
  }),
  UsherCertificateExpires: Effect.fnUntraced(function* (alert) {
    const server = yield* Scraped.start(yield* shortCertificate)
    yield* Scraped.fires(alert, server, { healthy: yield* Shared })
  }),
  /** A backup was made. Simulated: that was 27 hours ago. */
  UsherBackupOld: Effect.fnUntraced(function* (alert) {
    const server = yield* Shared
    yield* Scraped.query(server, (sql) => sql`update installation set backup_at = now()`)
    const cause = Scraped.query(server, (sql) => sql`update installation set backup_at = now() - interval '27 hours'`)
    yield* Scraped.fires(alert, server, { cause })
  })
}

describe("the alerts", () => {
  it("each have a case here", () => {
    assert.deepStrictEqual(Object.keys(causes), [...Scraped.conditions.keys()])
  })

  layer(Shared.layer, { excludeTestServices: true })((it) => {
    for (const [alert, bring] of Object.entries(causes)) {
      it.effect(`${alert} fires when its cause is brought about, and not before`, () => bring(alert))
    }
  })
})
