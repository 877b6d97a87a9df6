/** `usher verify-journal` on a database in which a server has served a load on mechanisms of every kind. */
import { PgClient } from "@effect/sql-pg"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Redacted, Schedule } from "effect"
import { Reactivity } from "effect/reactivity"
import { randomUUID } from "node:crypto"
import { actorDeciders } from "../../src/domain/mechanism/Mechanism.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import * as JournalCodec from "../../src/store/journal/JournalCodec.ts"
import * as JournalSql from "../../src/store/journal/JournalSql.ts"
import { Ledger } from "../e2e/load/Ledger.ts"
import { Load } from "../e2e/load/Load.ts"
import * as Mechanisms from "../e2e/load/Mechanisms.ts"
import { Apis } from "../e2e/support/Apis.ts"
import { Dice } from "../e2e/support/Dice.ts"
import type { Keys } from "../e2e/support/ServerUnderTest.ts"
import * as TestDatabase from "../store/support/TestDatabase.ts"
import { organization, serving } from "./servingProcess.ts"
import * as UsherInProcess from "./usherInProcess.ts"
import * as Usher from "./usherProcess.ts"

const kinds = ["appointment", "auction", "draw", "queue", "timed_release", "waitlist"]

/** Runs guests on mechanisms of every kind while `meanwhile` runs. Then changes a queue, and archives it. */
const underLoad = <A, E>(
  server: { consumerUrl: string; adminUrl: string },
  keys: Keys,
  meanwhile: Effect.Effect<A, E>
) =>
  Effect.scoped(
    Effect.gen(function* () {
      const dice = new Dice(7)
      const apis = yield* Effect.acquireRelease(
        Effect.sync(() => new Apis(server, keys)),
        (apis) => Effect.sync(() => apis[Symbol.dispose]())
      )
      const lasting = yield* Effect.promise(() => Mechanisms.lasting(apis))
      const ledger = new Ledger()
      const load = new Load(apis, ledger, dice, 6)
      // On a slow machine, brief mechanisms may be over before a guest comes: then others follow.
      const renew = Effect.promise(async () => {
        load.mechanisms = [...lasting, ...(await Mechanisms.brief(apis, dice))]
      })
      const renewing = yield* Effect.forkScoped(Effect.repeat(renew, Schedule.spaced("4 seconds")))
      const result = yield* meanwhile
      yield* Fiber.interrupt(renewing)
      const [queue] = lasting
      const path = `/api/queues/${queue!.id}`
      const settings = { name: "renamed", capacity: 3 }
      const admin = (method: "PUT" | "DELETE") =>
        Effect.promise(() =>
          apis.admin.send({ method, path, headers: apis.asShop, ...(method === "PUT" && { body: settings }) })
        )
      assert.strictEqual((yield* admin("PUT")).status, 200)
      yield* Effect.promise(() => load.stop())
      assert.isBelow((yield* admin("DELETE")).status, 300)
      assert.deepStrictEqual(ledger.unexpected, [])
      return result
    })
  )

class World extends Context.Service<
  World,
  {
    readonly url: string
    readonly sql: PgClient.PgClient
    readonly organizationId: string
    /** The ends of runs under load, while a server ran. */
    readonly verified: Usher.End
    readonly repaired: Usher.End
  }
>()("usher/test/cli/VerifyJournal/World") {
  static readonly layer = Layer.effect(
    World,
    Effect.gen(function* () {
      const { url } = yield* TestDatabase.migratedDatabase
      const sql = yield* PgClient.make({ url: Redacted.make(url) }).pipe(Effect.provide(Reactivity.layer))
      const keys = (yield* organization({ DATABASE_URL: url })) as unknown as Keys
      /** Until every kind has many events, and a draw with places is drawn. */
      const filled = sql<{ readonly kind: string; readonly events: number; readonly drawn: number }>`
        select kind, count(*)::int4 as events, count(*) filter (where type = 'Drawn' and places > 0)::int4 as drawn
        from mechanisms join journal on mechanism_id = id,
          lateral (select count(*) as places from places p where p.mechanism_id = id) p
        group by kind having count(*) > 5`.pipe(
        Effect.repeat({
          until: (rows) => rows.length === kinds.length && rows.some(({ drawn }) => drawn > 0),
          schedule: Schedule.spaced("50 millis")
        }),
        Effect.timeout("20 minutes")
      )
      const runs = yield* Effect.scoped(
        Effect.gen(function* () {
          const server = yield* serving({ DATABASE_URL: url })
          const runs = yield* underLoad(
            server,
            keys,
            Effect.gen(function* () {
              yield* filled
              const verified = yield* verifyJournal(url, "--json")
              return { verified, repaired: yield* verifyJournal(url, "--repair") }
            })
          )
          server.child.kill("SIGTERM")
          yield* Usher.end(server)
          return runs
        })
      )
      return { url, sql, organizationId: keys.organizationId, ...runs }
    })
  ).pipe(Layer.orDie)
}

const verifyJournal = (url: string, ...args: ReadonlyArray<string>) =>
  UsherInProcess.run(["verify-journal", ...args], { DATABASE_URL: url, NODE_NAME: "verifier" })

/** Runs the command in the world. Returns its end and its report. */
const reported = (...args: ReadonlyArray<string>) =>
  Effect.flatMap(World, ({ url }) =>
    Effect.map(verifyJournal(url, "--json", ...args), (end) => {
      if (end.stdout === "") throw new Error(end.stderr)
      return { ...end, report: JSON.parse(end.stdout) }
    })
  )

/** The differences, as `what: expected → stored` without the mechanism. */
const texts = (report: any): ReadonlyArray<string> =>
  report.shown.map(
    ({ what, expected, stored }: any) => `${what}: ${JSON.stringify(expected)} → ${JSON.stringify(stored)}`
  )

const digest = Effect.flatMap(World, ({ sql }) =>
  Effect.map(
    sql<any>`select md5(string_agg(j::text, ',' order by mechanism_id, sequence)) as digest from journal j`,
    (rows) => rows[0].digest as string
  )
)

/** A mechanism of a kind, with one of its consumers and its last event. */
const aMechanism = Effect.fnUntraced(function* (kind: string) {
  const { sql } = yield* World
  const [row] = yield* sql<any>`
    select m.id, p.consumer_id as "consumerId", p.status, h.sequence::float8 as sequence
    from mechanisms m join places p on p.mechanism_id = m.id join mechanism_heads h on h.mechanism_id = m.id
    where kind = ${kind} order by h.sequence desc, p.consumer_id limit 1`
  return row as { id: string; consumerId: string; status: string; sequence: number }
})

layer(World.layer, { excludeTestServices: true, timeout: "3 minutes" })("usher verify-journal", (it) => {
  it.effect("finds no difference in any kind of mechanism, while a server runs and after it", () =>
    Effect.gen(function* () {
      const { sql, verified } = yield* World
      assert.deepStrictEqual([verified.code, verified.stderr], [0, ""])
      assert.strictEqual(JSON.parse(verified.stdout).differences, 0)
      const { code, report } = yield* reported()
      assert.deepStrictEqual([code, report.shown], [0, []])
      const [stored] = yield* sql<any>`
        select (select count(*)::int4 from mechanisms) as mechanisms, (select count(*)::int4 from journal) as events,
          (select count(*)::int4 from places) as places,
          (select array_agg(distinct kind order by kind) from mechanisms join places on mechanism_id = id) as kinds`
      const { mechanisms, events, places } = report
      assert.deepStrictEqual({ mechanisms, events, places, kinds }, stored)
    })
  )

  it.effect("refuses to repair while a server runs", () =>
    Effect.gen(function* () {
      const { repaired } = yield* World
      assert.deepStrictEqual([repaired.code, repaired.stdout], [1, ""])
      assert.match(repaired.stderr, /^usher: --repair: processes serve from this database.*End them first/)
    })
  )

  it.effect("names a place, a head and a record that were changed by hand, and --repair puts them right", () =>
    Effect.gen(function* () {
      const { sql } = yield* World
      const before = yield* digest
      const stored = sql`
        select h.sequence, h.wake_at, m.* from mechanisms m join mechanism_heads h on h.mechanism_id = m.id order by id`
      const places = sql`select * from places order by mechanism_id, consumer_id`
      const [healthyStored, healthyPlaces] = [yield* stored, yield* places]
      const queue = yield* aMechanism("queue")
      const auction = yield* aMechanism("auction")
      const appointment = yield* aMechanism("appointment")
      const draw = yield* aMechanism("draw")
      const stranger = randomUUID()
      yield* sql`update places set status = 'LOST' where mechanism_id = ${queue.id} and consumer_id = ${queue.consumerId}`
      yield* sql`
        update places set fields = fields || '{"bidCount": 99}'
        where mechanism_id = ${auction.id} and consumer_id = ${auction.consumerId}`
      yield* sql`
        delete from places where mechanism_id = ${appointment.id} and consumer_id = ${appointment.consumerId}`
      yield* sql`insert into places values (${draw.id}, ${stranger}, 'ENTERED', now(), now(), null)`
      yield* sql`
        update mechanism_heads set sequence = sequence - 1, wake_at = '2020-01-01T00:00:00Z' where mechanism_id = ${queue.id}`
      yield* sql`
        update mechanisms set configuration = configuration || '{"name": "other"}', archived = not archived
        where id = ${draw.id}`

      const found = yield* reported()
      assert.strictEqual(found.code, 1)
      assert.match(found.stderr, /^usher: 8 stored values differ from the journal\..*--repair/)
      assert.strictEqual(found.report.differences, 8)
      const lines = texts(found.report).join("\n")
      assert.include(lines, `place ${queue.consumerId}: status: "${queue.status}" → "LOST"`)
      assert.match(lines, new RegExp(`place ${auction.consumerId}: fields.bidCount: \\d+ → 99`))
      assert.match(lines, new RegExp(`place ${appointment.consumerId}: {.*"fields.bookingId".*} → null`))
      assert.match(lines, new RegExp(`place ${stranger}: null → {"status":"ENTERED"`))
      assert.include(lines, `head: sequence: ${queue.sequence} → ${queue.sequence - 1}`)
      assert.match(lines, /head: wakeAt: .* → "2020-01-01T00:00:00.000Z"/)
      assert.include(lines, `record: configuration.name: "brief" → "other"`)
      assert.match(lines, /record: archived: (false → true|true → false)/)
      const ofHead = found.report.shown.find(({ what }: any) => what === "head: sequence")
      assert.deepInclude(ofHead, { mechanismId: queue.id, kind: "queue" })

      const one = yield* reported("--mechanism", auction.id)
      assert.deepStrictEqual([one.report.mechanisms, one.report.differences], [1, 1])
      const repaired = yield* reported("--repair")
      assert.deepStrictEqual([repaired.code, repaired.report.differences, repaired.report.repaired], [0, 8, 8])
      const again = yield* reported()
      assert.deepStrictEqual([again.code, again.report.differences], [0, 0])
      assert.deepStrictEqual(yield* stored, healthyStored)
      assert.deepStrictEqual(yield* places, healthyPlaces)
      assert.strictEqual(yield* digest, before)
    })
  )

  it.effect("takes a mechanism over before it repairs it, so that a former owner cannot write", () =>
    Effect.gen(function* () {
      const { sql } = yield* World
      const { id, consumerId } = yield* aMechanism("waitlist")
      const journals = JournalSql.layer({ codecs: JournalCodec.codecs(actorDeciders) })
      yield* Effect.gen(function* () {
        const journal = yield* Journal
        const owned = (yield* journal.takeOver([id]))[0]!
        yield* sql`update places set status = 'LEFT', updated_at = now() where mechanism_id = ${id} and consumer_id = ${consumerId}`
        assert.strictEqual((yield* reported("--repair", "--mechanism", id)).code, 0)
        const commit = {
          mechanismId: id,
          kind: "waitlist",
          expectedSequence: owned.sequence,
          epoch: owned.epoch,
          events: [{ _tag: "Left", at: Date.now(), consumerId }],
          places: [],
          wakeAt: null
        } as const
        const refusal = yield* Effect.flip(journal.append(commit))
        assert.strictEqual(refusal._tag, "JournalConflict")
      }).pipe(Effect.provide(Layer.provide(journals, Layer.succeed(PgClient.PgClient, sql))))
    })
  )

  it.effect("names missing and unreadable events, and repairs nothing of that mechanism", () =>
    Effect.gen(function* () {
      const { sql } = yield* World
      const { id, consumerId, sequence } = yield* aMechanism("timed_release")
      const status = Effect.map(
        sql<any>`select status from places where mechanism_id = ${id} and consumer_id = ${consumerId}`,
        (rows) => rows[0].status
      )
      const healthy = yield* status
      yield* sql`update places set status = 'ODD' where mechanism_id = ${id} and consumer_id = ${consumerId}`
      const [second] = yield* sql<any>`delete from journal where mechanism_id = ${id} and sequence = 2 returning *`
      const missing = yield* reported("--repair")
      assert.strictEqual(missing.code, 1)
      assert.include(missing.stderr, "1 differences were not repaired, because events are missing or unreadable")
      assert.deepStrictEqual(texts(missing.report), [`journal: event 2: "a readable event" → "the event is missing"`])
      yield* sql`insert into journal ${sql.insert({ ...second, type: "Strange", data: null })}`
      assert.include(texts((yield* reported()).report)[0], `"Strange cannot be read`)
      yield* sql`delete from journal where mechanism_id = ${id} and sequence = 2`
      const data = second.data === null ? null : sql.json(second.data)
      yield* sql`insert into journal ${sql.insert({ ...second, data })}`

      const [last] =
        yield* sql<any>`delete from journal where mechanism_id = ${id} and sequence = ${sequence} returning *`
      const cut = yield* reported("--repair")
      assert.deepStrictEqual(texts(cut.report), [`journal: last event: ${sequence} → ${sequence - 1}`])
      assert.strictEqual(yield* status, "ODD")
      const lastData = last.data === null ? null : sql.json(last.data)
      yield* sql`insert into journal ${sql.insert({ ...last, data: lastData })}`
      assert.strictEqual((yield* reported("--repair")).code, 0)
      assert.strictEqual(yield* status, healthy)
    })
  )

  it.effect("verifies one organization, prints lines for people, and explains wrong input", () =>
    Effect.gen(function* () {
      const { url, organizationId } = yield* World
      const own = yield* verifyJournal(url, "--organization", organizationId)
      assert.deepStrictEqual([own.code, own.stderr], [0, ""])
      assert.match(own.stdout, /^Replayed \d+ mechanisms, \d+ events, \d+ places: no difference\.\n$/)
      const unknown = randomUUID()
      const refusals = [
        [["--organization", unknown], `--organization: there is no organization ${unknown}`],
        [["--mechanism", unknown], `--mechanism: there is no mechanism ${unknown}.`],
        [["--organization", organizationId, "--mechanism", unknown], `in the organization ${organizationId}`],
        [["--mechanism", "queue"], "the id of a mechanism, such as"],
        [["--organization", "Brand"], "the id of an organization, such as"]
      ] as const
      for (const [args, expected] of refusals) {
        const { code, stdout, stderr } = yield* verifyJournal(url, ...args)
        assert.deepStrictEqual([code, stdout], [1, ""])
        assert.include(stderr, expected)
      }
    })
  )
})
