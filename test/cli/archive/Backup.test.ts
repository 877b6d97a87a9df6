/** `usher backup`, `restore` and `resume` on a database in which a server has served a load on every kind of mechanism. */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Schedule, Schema } from "effect"
import { spawnSync } from "node:child_process"
import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync
} from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { actorDeciders } from "../../../src/domain/mechanism/Mechanism.ts"
import { Journal } from "../../../src/store/journal/Journal.ts"
import * as JournalCodec from "../../../src/store/journal/JournalCodec.ts"
import * as JournalSql from "../../../src/store/journal/JournalSql.ts"
import { Ledger } from "../../e2e/load/Ledger.ts"
import { Load } from "../../e2e/load/Load.ts"
import * as Mechanisms from "../../e2e/load/Mechanisms.ts"
import { Apis, type Guest } from "../../e2e/support/Apis.ts"
import { Dice } from "../../e2e/support/Dice.ts"
import type { Keys } from "../../e2e/support/ServerUnderTest.ts"
import * as TestDatabase from "../../store/support/TestDatabase.ts"
import { organization, serving } from "../servingProcess.ts"
import { nodeSettings } from "../../e2e/support/Nodes.ts"
import { aLargePicture, clientOf, contentsOf, databaseAndFolder, flip } from "./archiveFixture.ts"
import * as UsherInProcess from "../usherInProcess.ts"
import * as Usher from "../usherProcess.ts"

/** Consumers that hold a grant for an hour. */
const holders = 6

/** The body of `/ready`. */
const Ready = Schema.Struct({ status: Schema.String, remarks: Schema.Record(Schema.String, Schema.String) })

const secretsKey = Buffer.alloc(32, 7).toString("base64")

/** A source that a load has filled and a node of a cluster has left, and its backup, made while the node ran. */
class World extends Context.Service<
  World,
  {
    readonly url: string
    readonly sql: PgClient.PgClient
    readonly keys: Keys
    readonly file: string
    readonly backup: Usher.End
    /** A consumer that waits in a queue. */
    readonly waiting: { readonly guest: Guest; readonly queueId: string }
  }
>()("usher/test/cli/archive/Backup/World") {
  static readonly layer = Layer.effect(
    World,
    Effect.gen(function* () {
      const { url, sql, folder } = yield* databaseAndFolder
      const file = join(folder, "usher.tar")
      const keys = (yield* organization({ DATABASE_URL: url })) as unknown as Keys
      const runs = yield* Effect.scoped(
        Effect.gen(function* () {
          const node = yield* Effect.promise(nodeSettings)
          const server = yield* serving({ ...node, DATABASE_URL: url, SECRETS_KEY: secretsKey })
          const filled = yield* underLoad(server, keys, sql, usher(url, "backup", file, "--json"))
          server.child.kill("SIGTERM")
          yield* Usher.end(server)
          return filled
        })
      )
      return { url, sql, keys, file, ...runs }
    })
  ).pipe(Layer.orDie)
}

/** Runs guests on mechanisms of every kind, and the backup while they run. */
const underLoad = (
  server: { readonly consumerUrl: string; readonly adminUrl: string },
  keys: Keys,
  sql: PgClient.PgClient,
  backup: Effect.Effect<Usher.End>
) =>
  Effect.scoped(
    Effect.gen(function* () {
      const apis = yield* apisOf(server, keys)
      const dice = new Dice(5)
      const mechanisms = yield* Effect.promise(async () => [
        ...(await Mechanisms.lasting(apis)),
        ...(await Mechanisms.brief(apis, dice))
      ])
      const waiting = yield* Effect.promise(async () => {
        const guest = await apis.guest()
        const sequenceId = await apis.createSequence()
        const queueId = await apis.create("/queues", { sequenceId, name: "slow", admitRate: 0 })
        await apis.doAs(guest, `/queues/${queueId}/enter`)
        const held = { admitRate: 60_000, admissionExpirationSeconds: 3_600, closeAt: "2036-01-01T00:00:00.000Z" }
        const granting = await apis.create("/queues", { sequenceId, name: "granting", ...held })
        for (let guests = 0; guests < holders; guests++) {
          await apis.doAs(await apis.guest(), `/queues/${granting}/enter`)
        }
        return { guest, queueId }
      })
      const ledger = new Ledger()
      const load = new Load(apis, ledger, dice, 6)
      load.mechanisms = mechanisms
      yield* sql<{ readonly events: number }>`select count(*)::int4 as events from journal`.pipe(
        Effect.repeat({ until: (rows) => rows[0]!.events > 300, schedule: Schedule.spaced("50 millis") }),
        Effect.timeout("20 minutes")
      )
      const made = yield* backup
      yield* Effect.promise(() => load.stop())
      assert.deepStrictEqual(ledger.unexpected, [])
      return { backup: made, waiting }
    })
  )

const apisOf = (server: { readonly consumerUrl: string; readonly adminUrl: string }, keys: Keys) =>
  Effect.acquireRelease(
    Effect.sync(() => new Apis(server, keys)),
    (apis) => Effect.sync(() => apis[Symbol.dispose]())
  )

const usher = (url: string, ...args: ReadonlyArray<string>) =>
  UsherInProcess.run(args, { DATABASE_URL: url, NODE_NAME: "operator", SECRETS_KEY: secretsKey })

/** The rows of every table that a backup contains, as digests by table. */
const digests = (sql: PgClient.PgClient) =>
  Effect.gen(function* () {
    const tables = yield* sql<{ readonly name: string }>`
      select relname::text as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'
        and relname not in ('usher_migrations', 'nodes', 'leases', 'installation') and relname not like 'cluster\\_%'
        order by 1`
    const found: Record<string, unknown> = {}
    for (const { name } of tables) {
      const row = name === "mechanism_heads" ? sql`(to_jsonb(t) - 'epoch')` : sql`to_jsonb(t)`
      const [digest] = yield* sql<any>`
        select count(*)::int4 as rows, md5(string_agg(${row}::text, ',' order by ${row}::text)) as digest
        from ${sql(name)} t`
      found[name] = digest
    }
    return found
  })

/** Indexes, constraints and triggers. */
const schemaOf = (sql: PgClient.PgClient) => sql<any>`
  select conrelid::regclass::text as place, pg_get_constraintdef(oid) as what from pg_constraint
    where connamespace = 'public'::regnamespace and conrelid::regclass::text not like 'cluster\\_%'
  union all select indexrelid::regclass::text, pg_get_indexdef(indexrelid) from pg_index
    join pg_class c on c.oid = indrelid
    where c.relnamespace = 'public'::regnamespace and c.relname not like 'cluster\\_%'
  union all select tgrelid::regclass::text, tgenabled::text || pg_get_triggerdef(oid) from pg_trigger where not tgisinternal
  order by 1, 2`

const restored = Effect.fnUntraced(function* (file: string, ...args: ReadonlyArray<string>) {
  const { url } = yield* TestDatabase.emptyDatabase
  return { url, sql: yield* clientOf(url), end: yield* usher(url, "restore", file, ...args) }
})

layer(World.layer, { excludeTestServices: true, timeout: "3 minutes" })("usher backup and restore", (it) => {
  it.effect("writes an archive that standard tools open, for its owner alone, and records its instant", () =>
    Effect.gen(function* () {
      const { sql, file, backup } = yield* World
      assert.deepStrictEqual([backup.code, backup.stderr], [0, ""])
      assert.strictEqual(statSync(file).mode & 0o777, 0o600)
      assert.isFalse(existsSync(`${file}.partial`))
      const tar = (...args: ReadonlyArray<string>) => spawnSync("tar", args, { maxBuffer: 1 << 28 })
      const manifest = JSON.parse(tar("-xOf", file, "manifest.json").stdout.toString())
      const { rows, sha256 } = manifest.tables.find(({ name }: any) => name === "journal")
      const script = `tar -xOf '${file}' --wildcards 'journal/*' | gunzip | tee >(sha256sum >&2) | wc -l`
      const { stdout, stderr } = spawnSync("bash", ["-c", script])
      assert.deepStrictEqual([Number(stdout), `${stderr}`.split(" ")[0]], [rows, sha256])
      assert.isAbove(rows, 300)
      const [row] = yield* sql<any>`select backup_at from installation`
      assert.strictEqual(row.backup_at.toISOString(), manifest.at)
    })
  )

  it.effect("restores every row of the snapshot, with the schema as migrations make it", () =>
    Effect.gen(function* () {
      const { sql: source, url, file } = yield* World
      const second = `${file}.second`
      yield* aLargePicture(source)
      assert.strictEqual((yield* usher(url, "backup", second)).code, 0)
      const { sql, end } = yield* restored(second)
      assert.deepStrictEqual([end.code, end.stderr], [0, ""])
      assert.match(end.stdout, /no difference\.\n\d+ secrets are sealed.*\nThe database is on hold/s)
      assert.deepStrictEqual(yield* digests(sql), yield* digests(source))
      assert.deepStrictEqual(yield* schemaOf(sql), yield* schemaOf(source))
      const [noted] = yield* sql<any>`
        select nextval(pg_get_serial_sequence('noted_events', 'position')) > coalesce(max(position), 0) as is_next from noted_events`
      assert.isTrue(noted.is_next)
    })
  )

  it.effect("begins a timeline in which a former owner cannot append", () =>
    Effect.gen(function* () {
      const { sql: source, file } = yield* World
      const { sql, end } = yield* restored(file, "--json")
      assert.strictEqual(JSON.parse(end.stdout).verification.differences, 0)
      const [[was], [is]] = [
        yield* source<any>`select * from installation`,
        yield* sql<any>`select * from installation`
      ]
      assert.notStrictEqual(is.timeline, was.timeline)
      assert.strictEqual(is.held_at.toISOString(), JSON.parse(end.stdout).at)
      const [mechanism] = yield* sql<any>`
        select id, kind, h.sequence::float8 as sequence, h.epoch from mechanisms join mechanism_heads h on mechanism_id = id
        where kind = 'waitlist' limit 1`
      const attempt = (epoch: number) =>
        Effect.flatMap(Journal, (journal) =>
          Effect.exit(
            journal.append({
              mechanismId: mechanism.id,
              kind: "waitlist",
              expectedSequence: mechanism.sequence,
              epoch,
              events: [{ _tag: "Ended", at: Date.now(), by: "test" } as never],
              places: [],
              wakeAt: null
            })
          )
        ).pipe(
          Effect.provide(
            JournalSql.layer({ codecs: JournalCodec.codecs(actorDeciders) }).pipe(
              Layer.provide(Layer.succeed(PgClient.PgClient, sql))
            )
          )
        )
      for (const former of [0, 1, 999_999]) assert.strictEqual((yield* attempt(former))._tag, "Failure")
      assert.strictEqual((yield* attempt(mechanism.epoch))._tag, "Success")
    })
  )

  it.effect("serves reads only until the hold ends, and runs nothing meanwhile", () =>
    Effect.gen(function* () {
      const { keys, file, waiting } = yield* World
      const { url, sql } = yield* restored(file)
      const server = yield* serving({ DATABASE_URL: url, SECRETS_KEY: secretsKey })
      const apis = yield* apisOf(server, keys)
      const resume = usher(url, "resume")
      const path = `/queues/${waiting.queueId}`
      const see = () => Effect.promise(() => apis.seeAs(waiting.guest, `${path}/status`))
      const enter = () => Effect.promise(() => apis.doAs(waiting.guest, `${path}/leave`))
      assert.include(server.stdout(), "The database is on hold")
      const before = yield* sql<any>`select mechanism_id, sequence, epoch from mechanism_heads order by 1`
      assert.deepInclude((yield* see()).body, { status: "QUEUED", position: 1 })
      const refused = yield* enter()
      assert.deepStrictEqual(
        [refused.status, refused.headers["retry-after"], refused.body as object],
        [503, "30", { error: "Service unavailable", code: "ON_HOLD" }]
      )
      const ready = yield* Effect.promise(() => apis.admin.send({ method: "GET", path: "/ready" }))
      const { status, remarks } = Schema.decodeUnknownSync(Ready)(ready.body)
      assert.strictEqual(status, "ready")
      assert.strictEqual(remarks["hold"], "reads only: see `usher resume`")
      const delivering = yield* UsherInProcess.run(["webhooks", "deliver"], {
        DATABASE_URL: url,
        SECRETS_KEY: secretsKey
      })
      assert.match(delivering.stderr, /on hold/)
      const after = yield* sql<any>`select mechanism_id, sequence, epoch from mechanism_heads order by 1`
      assert.deepStrictEqual(after, before)

      assert.strictEqual((yield* resume).code, 0)
      yield* Usher.until(() => server.stdout().split("Admin API").length > 2)
      const [, adminUrl] = server
        .stdout()
        .match(/http:\/\/[\d.]+:\d+(?=\/api )/g)!
        .slice(2)
      const [consumerUrl] = server
        .stdout()
        .match(/http:\/\/[\d.]+:\d+(?=\/api )/g)!
        .slice(2)
      const resumed = yield* apisOf({ consumerUrl: consumerUrl!, adminUrl: adminUrl! }, keys)
      const left = yield* Effect.promise(() => resumed.doAs(waiting.guest, `${path}/leave`))
      assert.strictEqual(left.status, 200)
      // The load's grants expire after a second: what became due happens without a caller.
      yield* sql<any>`select count(*)::int4 as live from places where status = 'GRANTED' and (fields ->> 'expiresAt')::timestamptz < now()`.pipe(
        Effect.repeat({ until: (rows) => rows[0].live === 0, schedule: Schedule.spaced("50 millis") }),
        Effect.timeout("20 minutes")
      )
      assert.match((yield* resume).stderr, /not on hold/)
    }).pipe(Effect.scoped)
  )

  it.effect("extends grants and closings before the hold ends, once even if the command is repeated", () =>
    Effect.gen(function* () {
      const { file } = yield* World
      const { url, sql } = yield* restored(file)
      const run = (...args: ReadonlyArray<string>) => usher(url, "resume", ...args)
      const state = sql<any>`
        select mechanism_id::text || consumer_id::text as name, extract(epoch from (fields ->> 'expiresAt')::timestamptz)::float8 as at
        from places where fields ? 'expiresAt' and status in ('GRANTED', 'WON', 'ENTERED')
        union all select id::text, extract(epoch from (configuration ->> 'closeAt')::timestamptz)::float8 from mechanisms
          where configuration ? 'closeAt' and teardown_status is null`
      const before = new Map((yield* state).map(({ name, at }: any) => [name, at]))
      assert.isAtLeast(before.size, holders + 1)
      assert.match((yield* run("--extend", "half an hour")).stderr, /a duration of at most a year/)
      for (const time of ["first", "again"]) {
        const { code, stdout, stderr } = yield* run("--extend", "30m")
        assert.deepStrictEqual([code, stderr], [0, ""], time)
        assert.match(stdout, time === "first" ? /and [1-9]\d* grants by 1800 seconds/ : /and 0 grants/)
        // A place that was not written yet when the backup was made has no row before.
        const extended = (yield* state).filter(({ name }: any) => before.has(name))
        assert.isAtLeast(extended.length, holders + 1)
        for (const { name, at } of extended) assert.closeTo(at, before.get(name)! + 1_800, 0.001, `${time} ${name}`)
        const { stdout: verified } = yield* usher(url, "verify-journal", "--json")
        assert.strictEqual(JSON.parse(verified || "{}").differences, 0)
        yield* sql`update installation set held_at = now()`
      }
    })
  )

  it.effect("extends a mechanism whose places were behind its journal, and writes them all", () =>
    Effect.gen(function* () {
      const { file } = yield* World
      const { url, sql } = yield* restored(file)
      const count = sql<{ readonly places: number }>`select count(*)::int4 as places from places`
      yield* sql`update place_projections set sequence = 0`
      yield* sql`delete from places`
      assert.strictEqual((yield* usher(url, "resume", "--extend", "30m")).code, 0)
      assert.isAtLeast((yield* count)[0]!.places, holders + 1)
      const { stdout } = yield* usher(url, "verify-journal", "--json")
      assert.deepStrictEqual(JSON.parse(stdout).shown, [])
    })
  )

  it.effect("ends a server whose database was replaced by a restore", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase.migratedDatabase
      const sql = yield* clientOf(url)
      const server = yield* serving({ DATABASE_URL: url })
      yield* sql`update installation set timeline = gen_random_uuid(), held_at = now()`
      const { code, stderr } = yield* Usher.end(server)
      assert.strictEqual(code, 1)
      assert.match(stderr, /restored from a backup while this process served its former state/)
    }).pipe(Effect.scoped)
  )

  it.effect("restores nothing of a damaged or cut file, and says why", () =>
    Effect.gen(function* () {
      const { file } = yield* World
      const { url } = yield* TestDatabase.emptyDatabase
      const sql = yield* clientOf(url)
      const copy = `${file}.damaged`
      const size = statSync(file).size
      const dice = new Dice(11)
      const damages: Array<readonly [string, () => void]> = [
        ["cut in the middle", () => truncateSync(copy, size >> 1)],
        ["cut before the sums", () => truncateSync(copy, size - 3_072)],
        ["empty", () => truncateSync(copy, 0)],
        ["no archive", () => writeFileSync(copy, "usher".repeat(1_000))]
      ]
      const spans = contentsOf(file)
      for (let place = 0; place < 6; place++) {
        const { from, length } = dice.pick(spans)
        const at = dice.between(from, from + length - 1)
        damages.push([`byte ${at}`, () => flip(copy, at)])
      }
      for (const [name, damage] of damages) {
        copyFileSync(file, copy)
        damage()
        const { code, stderr } = yield* usher(url, "restore", copy)
        assert.strictEqual(code, 1, name)
        assert.match(stderr, /not a complete, unchanged backup|Nothing was restored/i, name)
        const [found] = yield* sql<any>`
          select count(*)::int4 as tables from pg_class where relnamespace = 'public'::regnamespace`
        assert.strictEqual(found.tables, 0, name)
      }
      assert.match((yield* usher(url, "restore", `${file}.none`)).stderr, /there is no such file/)
    })
  )

  it.effect("refuses a database that is not empty, a file that exists, and a later schema", () =>
    Effect.gen(function* () {
      const { url, file } = yield* World
      assert.match((yield* usher(url, "restore", file)).stderr, /^usher: The database is not empty/)
      assert.match((yield* usher(url, "backup", file)).stderr, /exists\. Name a file that does not/)
      assert.match((yield* usher(url, "backup", join(file, "x"))).stderr, /there is no such folder/)
      assert.match((yield* usher(url, "backup", "/dev/full/x")).stderr, /there is no such folder/)
      const folder = mkdtempSync(join(tmpdir(), "usher-later-"))
      const later = join(folder, "later.tar")
      spawnSync("tar", ["-xf", file, "-C", folder])
      const introduction = join(folder, "backup.json")
      writeFileSync(introduction, readFileSync(introduction, "utf8").replace(/"schemaStep": \d+/, '"schemaStep": 9999'))
      spawnSync("tar", ["-cf", later, "-C", folder, "backup.json", "journal", "manifest.json", "SHA256SUMS"])
      const { url: empty } = yield* TestDatabase.emptyDatabase
      assert.match(
        (yield* usher(empty, "restore", later)).stderr,
        /the schema's step 9999.*with that version or a later one/
      )
      rmSync(folder, { recursive: true })
    })
  )
})
