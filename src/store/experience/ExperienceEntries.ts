/**
 * The entries of consumers into experiences, each with its first time. Concurrent entries are written together.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { RecordNotFound } from "../records/RecordNotFound.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import * as BatchWriter from "../postgres/BatchWriter.ts"
import { ofSameTenant, unarchivedOf } from "../records/Tenancy.ts"
import * as Time from "../coordination/Time.ts"

export class ExperienceEntries extends Context.Service<
  ExperienceEntries,
  {
    /** Enters the consumer, unless it has entered before. Returns the time of the first entry. Durable on return. */
    enter(tenant: Tenant, experienceId: string, consumerId: string): Effect.Effect<Millis, RecordNotFound | Unavailable>
    /** Removes the consumer's entry. Returns false if there was none. */
    leave(
      tenant: Tenant,
      experienceId: string,
      consumerId: string
    ): Effect.Effect<boolean, RecordNotFound | Unavailable>
  }
>()("usher/store/experience/ExperienceEntries") {
  static readonly layer = Layer.effect(ExperienceEntries)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient

      const experience = (tenant: Tenant, experienceId: string) => sql`
        select id from experiences
        where id = ${experienceId} and ${unarchivedOf(sql, tenant)}`

      const writeOne = yield* BatchWriter.make("entries into experiences", makeWrite(sql))

      const enter = Effect.fn("ExperienceEntries.enter")(function* (
        tenant: Tenant,
        experienceId: string,
        consumerId: string
      ) {
        const at = yield* Time.now
        return (yield* writeOne({ tenant, experienceId, consumerId, at })) ?? (yield* notFound)
      })

      const leave = Effect.fn("ExperienceEntries.leave")(function* (
        tenant: Tenant,
        experienceId: string,
        consumerId: string
      ) {
        const found = yield* experience(tenant, experienceId)
        if (found.length === 0) return yield* notFound
        const left = yield* sql`
          delete from experience_entries where experience_id = ${experienceId} and consumer_id = ${consumerId}
          returning consumer_id`
        return left.length > 0
      }, orUnavailable)

      return { enter, leave }
    })
  )
}

/** Writes entries. Returns the time of each, or undefined if the experience does not exist. */
const makeWrite = (sql: PgClient.PgClient) =>
  Effect.fnUntraced(function* (rows: ReadonlyArray<Arrival>) {
    const arrived = sql`
    select a.number::int4, a.experience_id, a.consumer_id, a.at
    from unnest(
      ${rows.map(({ tenant }) => tenant.organizationId)}::uuid[], ${rows.map(({ tenant }) => tenant.mode)}::text[],
      ${rows.map(({ experienceId }) => experienceId)}::uuid[], ${rows.map(({ consumerId }) => consumerId)}::uuid[],
      ${rows.map(({ at }) => new Date(at))}::timestamptz[]
    ) with ordinality as a (organization_id, mode, experience_id, consumer_id, at, number)
    join experiences e on e.id = a.experience_id and ${ofSameTenant(sql, "e", "a")}
      and not e.archived`
    // Every batch writes in the same order. Different lock orders could deadlock.
    const written = yield* sql<Entry>`
    with arrived as (${arrived}), entered as (
      insert into experience_entries (experience_id, consumer_id, entered_at)
      select experience_id, consumer_id, min(at) from arrived
      group by experience_id, consumer_id order by experience_id, consumer_id
      on conflict do nothing returning experience_id, consumer_id, entered_at
    )
    select number, entered_at from arrived left join entered using (experience_id, consumer_id)`
    const enteredAt = new Map(written.map(({ number, entered_at }) => [number, entered_at]))
    if (written.some(({ entered_at }) => entered_at === null)) {
      // Some consumers had entered before, possibly a moment ago. Only a statement that starts now sees these entries.
      const before = yield* sql<Entry>`
      with arrived as (${arrived})
      select number, entered_at from arrived join experience_entries using (experience_id, consumer_id)`
      for (const { number, entered_at } of before) enteredAt.set(number, entered_at)
    }
    return rows.map((_, index) => enteredAt.get(index + 1)?.getTime())
  })

const notFound = Effect.fail(new RecordNotFound({ record: "Experience" }))

interface Arrival {
  readonly tenant: Tenant
  readonly experienceId: string
  readonly consumerId: string
  readonly at: Millis
}

interface Entry {
  /** The row's position in the batch, from 1. */
  readonly number: number
  readonly entered_at: Date | null
}
