/** `usher archive` on a database from which a server serves: what goes to files, what stays, and how it comes back. */
import type { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer, Schedule } from "effect"
import { spawnSync } from "node:child_process"
import { copyFileSync, existsSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import * as Queue from "../../support/queueOnServer.ts"
import * as TestDatabase from "../../store/support/TestDatabase.ts"
import { organization, serving } from "../servingProcess.ts"
import { clientOf, contentsOf, databaseAndFolder, flip } from "./archiveFixture.ts"
import * as UsherInProcess from "../usherInProcess.ts"
import type * as Usher from "../usherProcess.ts"

const guests = 4

/** A server with a queue of March 2024 that is over, one of April that is over, and one of April in which guests wait. */
class World extends Context.Service<
  World,
  {
    readonly sql: PgClient.PgClient
    readonly setup: Queue.Setup
    readonly folder: string
    readonly march: string
    readonly april: string
    readonly waiting: string
    readonly usher: (...args: ReadonlyArray<string>) => Effect.Effect<Usher.End>
  }
>()("usher/test/cli/archive/Archive/World") {
  static readonly layer = Layer.effect(
    World,
    Effect.gen(function* () {
      const { url, sql, folder } = yield* databaseAndFolder
      const keys = yield* organization({ DATABASE_URL: url })
      const server = yield* serving({ DATABASE_URL: url })
      const setup = { ...server, keys }
      const [march, april, waiting] = yield* Effect.promise(async () => {
        const ids = [await queueWithGuests(setup), await queueWithGuests(setup), await queueWithGuests(setup)]
        for (const id of ids.slice(0, 2)) await asShop(setup, "DELETE", `/queues/${id}`)
        return ids as [string, string, string]
      })
      yield* sql`select from mechanisms where archived and teardown_status = 'completed'`.pipe(
        Effect.repeat({ until: (rows) => rows.length === 2, schedule: Schedule.spaced("50 millis") })
      )
      yield* sql`update mechanisms set created_at = '2024-03-31T23:59:59.999Z' where id = ${march}`
      yield* sql`update mechanisms set created_at = '2024-04-01T00:00:00Z' where id in ${sql.in([april, waiting])}`
      const usher = (...args: ReadonlyArray<string>) => UsherInProcess.run(args, { DATABASE_URL: url })
      return { sql, setup, folder, march, april, waiting, usher }
    })
  ).pipe(Layer.orDie)
}

const asShop = ({ adminUrl, keys }: Queue.Setup, method: string, path: string) =>
  Queue.send(method, `${adminUrl}/api${path}`, { authorization: `Bearer ${keys["secretKey"]}` })

/** Creates a queue in which some guests wait. Returns its id. */
async function queueWithGuests(setup: Queue.Setup): Promise<string> {
  const id = await Queue.createQueue(setup)
  for (let count = 0; count < guests; count++) {
    const entered = await Queue.send("POST", `${setup.consumerUrl}/api/queues/${id}/enter`, await Queue.guest(setup))
    assert.strictEqual(entered.status, 200)
  }
  return id
}

/** All rows of the two tables, of one mechanism or of all. */
const rowsOf = (sql: PgClient.PgClient, id: string) => sql<{ readonly row: string }>`
  select to_jsonb(j)::text as row from journal j where mechanism_id = ${id}
  union all select to_jsonb(p)::text from places p where mechanism_id = ${id} order by 1`

layer(World.layer, { excludeTestServices: true, timeout: "2 minutes" })("usher archive", (it) => {
  it.effect("shows which months would go and which stay, and refuses a month that has not ended", () =>
    Effect.gen(function* () {
      const { sql, usher, march, waiting } = yield* World
      const before = yield* rowsOf(sql, march)
      const { code, stdout } = yield* usher("archive", "--before", "2024-05", "--dry-run")
      assert.strictEqual(code, 0)
      assert.match(stdout, /^2024-03 would go: 1 mechanisms, \d+ events\.$/m)
      assert.match(stdout, new RegExp(`^2024-04 stays .*: 1 of its 2 mechanisms are not over: ${waiting}\\.`, "m"))
      assert.deepStrictEqual(yield* rowsOf(sql, march), before)
      assert.match((yield* usher("archive", "--before", "9999-01")).stderr, /has not ended/)
      assert.match((yield* usher("archive", "--before", "2024-13")).stderr, /a month such as 2026-06/)
      assert.match((yield* usher("archive")).stderr, /--before is missing/)
      const only = yield* usher("archive", "--before", "2024-04", "--to", "/absent", "--json")
      assert.match(only.stderr, /\/absent\/usher-2024-03\.tar: there is no such file or folder/)
      assert.deepStrictEqual(yield* rowsOf(sql, march), before)
    })
  )

  it.effect("keeps a month while a webhook has not had its events, or another command works", () =>
    Effect.gen(function* () {
      const { sql, usher, march, folder } = yield* World
      const archive = usher("archive", "--before", "2024-04", "--to", folder)
      yield* sql`
        insert into webhooks (id, organization_id, mode, record, created_at, created_by, updated_at, updated_by, url, secret,
          disabled_reason)
        select gen_random_uuid(), organization_id, mode, '{}', now(), '', now(), '', 'https://example.com', '', 'operator'
        from mechanisms where id = ${march}`
      const unread = yield* archive
      assert.strictEqual(unread.code, 1)
      assert.match(unread.stderr, /2024-03: 1 of its 1 mechanisms have events that wait for a webhook/)
      yield* sql`delete from webhooks`
      const held = yield* sql.reserve
      yield* held.executeUnprepared("select pg_advisory_lock(504447395189)", [], undefined)
      assert.match((yield* archive).stderr, /Another `usher archive` works on this database/)
      yield* held.executeUnprepared("select pg_advisory_unlock_all()", [], undefined)
      assert.isFalse(existsSync(join(folder, "usher-2024-03.tar")))
    }).pipe(Effect.scoped)
  )

  it.effect("writes a month to a file that standard tools open, removes its rows, and brings them back", () =>
    Effect.gen(function* () {
      const { sql, usher, march, april, waiting, folder, setup } = yield* World
      const file = join(folder, "usher-2024-03.tar")
      const stored = { march: yield* rowsOf(sql, march), april: yield* rowsOf(sql, april) }
      const { code, stdout, stderr } = yield* usher("archive", "--before", "2024-05", "--to", folder)
      assert.strictEqual(code, 0, stderr)
      assert.match(stdout, /^2024-03: wrote and verified .*usher-2024-03\.tar \(\d+ KiB\), and removed 1 mechanisms/m)
      assert.match(stdout, /^2024-04 stays/m)
      const script = `tar -xOf '${file}' --wildcards 'journal/*' 'places/*' | gunzip | wc -l`
      assert.strictEqual(Number(spawnSync("bash", ["-c", script]).stdout), stored.march.length)
      assert.deepStrictEqual(yield* rowsOf(sql, march), [])
      assert.deepStrictEqual(yield* rowsOf(sql, april), stored.april)

      const listed = yield* Effect.promise(() => asShop(setup, "GET", "/queues?archived=true"))
      assert.sameMembers(
        listed.body.data.map(({ id }: any) => id),
        [march, april]
      )
      const verified = yield* usher("verify-journal")
      assert.match(verified.stdout, /no difference\. 1 mechanisms are in archives\./)
      assert.match((yield* usher("verify-journal", "--mechanism", march)).stderr, /is in an archive/)
      assert.match((yield* usher("archive", "list")).stdout, /2024-03 +usher-2024-03\.tar +1 .*complete/)
      assert.match((yield* usher("archive", "verify", file)).stdout, /complete and unchanged: 2024-03/)
      const repeated = yield* usher("archive", "--before", "2024-04", "--to", folder)
      assert.match(repeated.stdout, /nothing to archive/)
      const place = yield* Effect.promise(async () =>
        Queue.send("POST", `${setup.consumerUrl}/api/queues/${waiting}/enter`, await Queue.guest(setup))
      )
      assert.strictEqual(place.body.position, guests + 1)

      assert.match((yield* usher("archive", "restore", file)).stdout, /Restored 2024-03: 1 mechanisms.*No difference/s)
      assert.deepStrictEqual(yield* rowsOf(sql, march), stored.march)
      assert.match((yield* usher("archive", "restore", file)).stderr, /has been restored already/)
      const again = yield* usher("archive", "--before", "2024-04", "--to", folder)
      assert.match(again.stderr, /usher-2024-03\.tar exists/)
      renameSync(file, `${file}.former`)
      assert.strictEqual((yield* usher("archive", "--before", "2024-04", "--to", folder)).code, 0)
      assert.match((yield* usher("archive", "restore", `${file}.former`)).stderr, /is not an archive of this database/)
    })
  )

  it.effect("continues a removal that was ended, and restores a month that was half removed", () =>
    Effect.gen(function* () {
      const { sql, usher, march, folder } = yield* World
      const file = join(folder, "usher-2024-03.tar")
      const half = sql`
        insert into journal (mechanism_id, sequence, at, type) values (${march}, 2, now(), 'Entered')`.pipe(
        Effect.andThen(sql`update archives set removed_at = null`)
      )
      yield* half
      assert.match((yield* usher("archive", "list")).stdout, /rows left/)
      assert.strictEqual((yield* usher("archive", "--before", "2024-04", "--to", folder)).code, 0)
      assert.deepStrictEqual(yield* rowsOf(sql, march), [])
      yield* half
      const { code, stdout } = yield* usher("archive", "restore", file)
      assert.strictEqual(code, 0)
      assert.match(stdout, /No difference/)
      rmSync(file)
      assert.strictEqual((yield* usher("archive", "--before", "2024-04", "--to", folder)).code, 0)
    })
  )

  it.effect("restores nothing of a damaged or cut file", () =>
    Effect.gen(function* () {
      const { sql, usher, march, folder } = yield* World
      const copy = join(folder, "damaged.tar")
      const whole = readFileSync(join(folder, "usher-2024-03.tar"))
      const damages = [
        () => truncateSync(copy, whole.length - 2_048),
        () => truncateSync(copy, 700),
        () => flip(copy, contentsOf(copy).at(-1)!.from),
        () => writeFileSync(copy, "no archive")
      ]
      for (const [number, damage] of damages.entries()) {
        copyFileSync(join(folder, "usher-2024-03.tar"), copy)
        damage()
        for (const command of ["verify", "restore"]) {
          const { code, stderr } = yield* usher("archive", command, copy)
          assert.deepStrictEqual(
            [code, /is not a complete, unchanged archive/.test(stderr)],
            [1, true],
            `${number} ${stderr}`
          )
        }
      }
      assert.deepStrictEqual(yield* rowsOf(sql, march), [])
    })
  )

  it.effect("is part of a backup as heads without a journal", () =>
    Effect.gen(function* () {
      const { sql: source, usher, march, folder } = yield* World
      const file = join(folder, "backup.tar")
      assert.strictEqual((yield* usher("backup", file)).code, 0)
      const { url } = yield* TestDatabase.emptyDatabase
      const restored = yield* UsherInProcess.run(["restore", file], { DATABASE_URL: url })
      assert.strictEqual(restored.code, 0, restored.stderr)
      assert.match(restored.stdout, /no difference\. 1 mechanisms are in archives/)
      const back = yield* UsherInProcess.run(["archive", "restore", join(folder, "usher-2024-03.tar")], {
        DATABASE_URL: url
      })
      assert.match(back.stdout, /No difference/, back.stderr)
      const sql = yield* clientOf(url)
      assert.isAbove((yield* rowsOf(sql, march)).length, guests)
      assert.deepStrictEqual(yield* rowsOf(source, march), [])
    }).pipe(Effect.scoped)
  )
})
