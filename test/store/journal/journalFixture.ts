/** The journal on a fresh Postgres database, with the records that mechanisms belong to. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, References } from "effect"
import type { MechanismRecord } from "../../../src/store/journal/Journal.ts"
import { currentPlaces, ofMechanism } from "../../../src/store/journal/CurrentPlaces.ts"
import * as JournalSql from "../../../src/store/journal/JournalSql.ts"
import { codecs, experienceId, Rows, sequenceId, tenant } from "./journalSamples.ts"
import * as TestDatabase from "../support/TestDatabase.ts"

/** One organization with an experience and a sequence. */
const belongings = Layer.effectDiscard(
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const { organizationId, mode } = tenant
    yield* sql`insert into organizations (id, name, plan, created_at) values (${organizationId}, 'one', 'starter', now())`
    const record = {
      name: "one",
      record: sql.json({}),
      created_at: new Date(0),
      created_by: "me",
      updated_at: new Date(0),
      updated_by: "me"
    }
    const rest = { organization_id: organizationId, mode, ...record }
    yield* sql`insert into experiences ${sql.insert({ id: experienceId, ...rest })}`
    yield* sql`insert into sequences ${sql.insert({ id: sequenceId, experience_id: experienceId, ...rest })}`
  })
)

const rows = Layer.effect(
  Rows,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const places = Effect.fnUntraced(function* (id: string) {
      yield* currentPlaces(sql, ofMechanism(sql, id))
      const found = yield* sql<any>`select * from places where mechanism_id = ${id}`
      return new Map(
        found.map((row) => [
          row.consumer_id as string,
          {
            status: row.status,
            enteredAt: row.entered_at.getTime(),
            updatedAt: row.updated_at.getTime(),
            fields: row.fields ?? {}
          }
        ])
      )
    }, Effect.orDie)
    const record = Effect.fnUntraced(function* (id: string) {
      const [row] = yield* sql<any>`select * from mechanisms where id = ${id}`
      return row === undefined
        ? undefined
        : ({
            configuration: row.configuration,
            status: {
              statusOverride: row.status_override,
              statusOverrideAt: row.status_override_at?.getTime() ?? null,
              statusOverrideBy: row.status_override_by,
              teardownStatus: row.teardown_status
            },
            archived: row.archived,
            updatedAt: row.updated_at.getTime(),
            updatedBy: row.updated_by
          } satisfies MechanismRecord)
    }, Effect.orDie)
    return { places, record }
  })
)

/** The empty journal with its database and the mechanisms' other rows. */
export const layerWith = (options: Partial<JournalSql.Options>) =>
  Layer.mergeAll(JournalSql.layer({ codecs, ...options }), rows, belongings).pipe(
    Layer.provideMerge(TestDatabase.layer),
    // Failures in these tests are intended.
    Layer.provide(Layer.succeed(References.MinimumLogLevel, "None")),
    Layer.orDie
  )
