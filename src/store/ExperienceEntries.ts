/**
 * Which consumers have entered an experience, and when they first did.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer } from "effect"
import type { Tenant } from "../domain/Ids.ts"
import type { Millis } from "../domain/Time.ts"
import type { Unavailable } from "./Journal.ts"
import { RecordNotFound } from "./RecordNotFound.ts"
import { orUnavailable } from "./SqlFailure.ts"

export class ExperienceEntries extends Context.Service<
  ExperienceEntries,
  {
    /** Enters the consumer, unless it has entered; answers when it did. Durable when it returns. */
    enter(tenant: Tenant, experienceId: string, consumerId: string): Effect.Effect<Millis, RecordNotFound | Unavailable>
    /** Forgets that the consumer has entered; false if it had not. */
    leave(
      tenant: Tenant,
      experienceId: string,
      consumerId: string
    ): Effect.Effect<boolean, RecordNotFound | Unavailable>
  }
>()("usher/store/ExperienceEntries") {
  static readonly layer = Layer.effect(
    ExperienceEntries,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient

      const experience = ({ organizationId, mode }: Tenant, experienceId: string) => sql`
        select id from experiences
        where id = ${experienceId} and organization_id = ${organizationId} and mode = ${mode} and not archived`

      const enter = Effect.fn("ExperienceEntries.enter")(function* (
        tenant: Tenant,
        experienceId: string,
        consumerId: string
      ) {
        const now = new Date(yield* Clock.currentTimeMillis)
        const entered = yield* sql<Entry>`
          insert into experience_entries (experience_id, consumer_id, entered_at)
          select id, ${consumerId}::uuid, ${now}::timestamptz from (${experience(tenant, experienceId)}) e
          on conflict do nothing returning entered_at`
        if (entered[0] !== undefined) return entered[0].entered_at.getTime()
        // It had entered, perhaps in this moment: seen only by a statement that begins now.
        const before = yield* sql<Entry>`
          select entered_at from experience_entries
          where experience_id in (${experience(tenant, experienceId)}) and consumer_id = ${consumerId}`
        return before[0] === undefined ? yield* notFound : before[0].entered_at.getTime()
      }, orUnavailable)

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

const notFound = Effect.fail(new RecordNotFound({ record: "Experience" }))

interface Entry {
  readonly entered_at: Date
}
