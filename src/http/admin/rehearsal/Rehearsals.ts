/** The handlers of rehearsals on the Admin API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import type { BeginRehearsal, ReportedRehearsal } from "../../../api/admin/RehearsalApi.ts"
import { Conflict, Forbidden } from "../../../api/Errors.ts"
import { crowdOf } from "../../../domain/rehearsal/Crowd.ts"
import { servedPeopleMax } from "../../../domain/rehearsal/Rehearsal.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import * as Time from "../../../store/coordination/Time.ts"
import { Experiences } from "../../../store/experience/Experiences.ts"
import { Rehearsals, type ReportedRehearsal as Stored } from "../../../store/rehearsal/Rehearsals.ts"
import { TestClockChanges } from "../../../store/testClock/TestClockChanges.ts"
import { issueAt } from "../../errors/Issues.ts"
import { invalidInput } from "../../errors/Validation.ts"
import { forTenant, onRecord } from "../records/Operations.ts"
import { orInvalidPage } from "../records/Refusals.ts"

type Payload = typeof BeginRehearsal.Type

export const RehearsalHandlers = HttpApiBuilder.group(AdminApi, "rehearsals", (handlers) =>
  Effect.gen(function* () {
    const rehearsals = yield* Rehearsals
    const experiences = yield* Experiences
    const begin = yield* makeBegin

    return handlers.handleAll({
      beginRehearsal: ({ params: { id }, payload }) =>
        forTenant((tenant, by) => Effect.map(begin(tenant, by, id, payload), shown)),

      listRehearsals: ({ params: { id }, query }) =>
        forTenant((tenant) =>
          Effect.andThen(experiences.settings(tenant, id), rehearsals.list(tenant, id, query)).pipe(
            orInvalidPage(query)
          )
        ),

      getRehearsal: onRecord((tenant, id) => Effect.map(rehearsals.find(tenant, id), shown)),

      cancelRehearsal: onRecord((tenant, id, by) =>
        Effect.flatMap(Time.serverNow, (now) => Effect.map(rehearsals.cancel(tenant, by, id, now), shown))
      )
    })
  })
)

const makeBegin = Effect.gen(function* () {
  const rehearsals = yield* Rehearsals
  const experiences = yield* Experiences
  const clocks = yield* TestClockChanges

  /** Fails if test mode is in use: the rehearsal's clock would be the only one, and its end archives what is there. */
  const refuseInUse = Effect.fnUntraced(function* ({ organizationId }: Tenant, archives: boolean) {
    const tenant = { organizationId, mode: "test" } as const
    const hasClock = yield* clocks.read(tenant).pipe(
      Effect.as(true),
      Effect.catchTag("RecordNotFound", () => Effect.succeed(false))
    )
    if (hasClock) return yield* clockExists
    const inUse = yield* clocks.experiences(tenant)
    if (inUse.length > 0 && !archives) return yield* testModeInUse(inUse.length)
  })

  return Effect.fnUntraced(function* (tenant: Tenant, by: string, experienceId: string, payload: Payload) {
    const { people, crowd: file = {}, seed = 1, from, archiveTestExperiences = false } = payload
    const crowd = crowdOf(file, people)
    if (crowd.people > servedPeopleMax) return yield* tooMany(payload)
    yield* experiences.settings(tenant, experienceId)
    if (tenant.mode === "test") return yield* liveKeyRequired
    if (yield* rehearsals.isRunning(tenant)) return yield* running
    yield* refuseInUse(tenant, archiveTestExperiences)
    return yield* rehearsals
      .begin(tenant, by, { experienceId, crowd, declared: Object.keys(file), seed, from }, yield* Time.serverNow)
      .pipe(Effect.catchTag("RehearsalExists", () => Effect.fail(running)))
  })
})

const liveKeyRequired = new Forbidden({ error: "Live secret key required" })
const running = new Conflict({ error: "A rehearsal of the organization is under way", code: "REHEARSAL_RUNNING" })
const clockExists = new Conflict({
  error: "Test mode has a test clock already. `DELETE /test-clock` with a test key ends it",
  code: "TEST_CLOCK_EXISTS"
})

const testModeInUse = (count: number) =>
  new Conflict({
    error:
      `Test mode has ${count} experiences, which the end of the rehearsal archives. Archive them, or send ` +
      "`archiveTestExperiences`",
    code: "TEST_MODE_IN_USE"
  })

const tooMany = (payload: Payload) =>
  invalidInput([
    issueAt(payload, ["crowd", "people"], {
      kind: "validation",
      type: "max_value",
      expected: `at most ${servedPeopleMax}: \`usher rehearse\` takes more`
    })
  ])

/** The schema of the answer is that of the report. */
const shown = (stored: Stored): typeof ReportedRehearsal.Type => ({
  ...stored,
  report: stored.report as (typeof ReportedRehearsal.Type)["report"]
})
