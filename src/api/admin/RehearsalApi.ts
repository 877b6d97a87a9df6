/** Rehearsals that a server runs, on the Admin API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import { kinds } from "../../domain/mechanism/Mechanism.ts"
import { CrowdFile } from "../../domain/rehearsal/Crowd.ts"
import { FoundRecord, Severity } from "../../domain/rehearsal/Finding.ts"
import { measuredFigures } from "../../domain/rehearsal/Former.ts"
import {
  keptMax,
  minutesMax,
  rehearsalSorts,
  RehearsalStatus,
  servedPeopleMax,
  Verdict
} from "../../domain/rehearsal/Rehearsal.ts"
import { Id } from "../../domain/values/Ids.ts"
import { SentTimestamp, Timestamp } from "../../domain/values/Time.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"
import { listBelow } from "./RecordApi.ts"

const people = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: servedPeopleMax }))

/** The body of `POST /experiences/{id}/rehearsals`. */
export const BeginRehearsal = Schema.Struct({
  people: Schema.optionalKey(people).annotateKey({ description: "How many people come. Default: those of `crowd`." }),
  crowd: Schema.optionalKey(CrowdFile).annotateKey({
    description:
      "Who comes, when, and what they do there. Times are texts such as `90 seconds` or `20 minutes`. What is left out " +
      "has a default: 1,000 people, 70 % of them in the 20 minutes before the opening. `noShow`, `checkout` and `patience` " +
      "are those of a former drop of the organization, if there is one."
  }),
  seed: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2_147_483_647 }))).annotateKey({
    description: "The same seed gives the same people and acts. Default: 1."
  }),
  from: Schema.optionalKey(Timestamp).annotateKey({
    description: "When the copy begins. All its times move with it. Default: when the original begins."
  }),
  archiveTestExperiences: Schema.optionalKey(Schema.Boolean).annotateKey({
    description:
      "True to rehearse although test mode has experiences of its own: the test clock moves them too, and its end " +
      "archives them. Default: false."
  })
}).annotate({ identifier: "BeginRehearsal" })

const count = Schema.Int
const share = Schema.Finite
const spread = Schema.Struct({ median: Schema.Finite, spread: Schema.Finite })

const Crowd = Schema.Struct({
  people: count,
  arrival: Schema.Struct({ before: Schema.Finite, shape: Schema.Literals(["burst", "steady"]), share }),
  patience: spread,
  noShow: share,
  checkout: spread,
  bids: Schema.Struct({ perPerson: count, raise: Schema.Finite, worth: spread }),
  draws: Schema.Struct({ share }),
  bots: Schema.Struct({ share, addresses: count })
})

const MechanismOutcome = Schema.Struct({
  id: Id,
  name: Schema.String,
  kind: Schema.Literals(kinds),
  units: Schema.NullOr(count).annotate({ description: "Units that it gives away; null if it has no such number." }),
  unitsLeft: Schema.NullOr(count).annotate({
    description: "Units of its stock that are not sold at the end; null without a stock."
  }),
  people: count,
  granted: count.annotate({
    description: "Grants and bookings. With lapsed ones given again, more than there are units."
  }),
  served: count.annotate({ description: "People that got one." }),
  used: count,
  lapsed: count,
  gaveUp: count.annotate({ description: "People that left before their turn." }),
  leftOut: count.annotate({ description: "People that were told that nothing is left for them." }),
  stillWaiting: count.annotate({ description: "People that still wait at the end." }),
  mostTaken: count.annotate({ description: "The most units that were held or used at one time." }),
  soldOutAt: Schema.NullOr(SentTimestamp),
  waitSeconds: Schema.NullOr(
    Schema.Struct({ median: Schema.Finite, p95: Schema.Finite, longest: Schema.Finite })
  ).annotate({ description: "From an entry to its grant. Null if nobody waited for one." }),
  largestSecond: count.annotate({ description: "The most entries in one second." }),
  refused: Schema.Record(Schema.String, count).annotate({ description: "Requests that were refused, by code." })
})

const Report = Schema.Struct({
  experienceId: Id,
  copyId: Id,
  name: Schema.String,
  timeZone: Schema.String,
  seed: Schema.Int,
  crowd: Crowd.annotate({ description: "Times are milliseconds." }),
  former: Schema.optionalKey(
    Schema.Struct({ name: Schema.String, people: count, figures: Schema.Array(Schema.Literals(measuredFigures)) })
  ).annotateKey({ description: "The closed mechanism from whose people these figures of the crowd come." }),
  from: Schema.String.annotate({ description: "The test clock's time at the beginning." }),
  to: Schema.String.annotate({ description: "The test clock's time at the end." }),
  seconds: Schema.Finite.annotate({ description: "How long it took." }),
  unserved: count.annotate({ description: "People that should have got something and did not." }),
  verdict: Verdict.annotate({
    description: "How it ended, in a sentence, and whether a brand would be content with it."
  }),
  mechanisms: Schema.Array(MechanismOutcome),
  busiest: Schema.NullOr(Schema.Struct({ at: SentTimestamp, entries: count, reads: count, sessions: count })).annotate({
    description: "The second that asks most of a server."
  }),
  messages: Schema.Array(
    Schema.Struct({
      channel: Schema.Literals(["email", "phone"]),
      subject: Schema.String,
      count,
      text: Schema.String.annotate({ description: "The text of the first of them." })
    })
  ).annotate({ description: "The latest 1,000 messages that would have gone out, by subject." }),
  findings: Schema.Array(
    Schema.Struct({
      code: Schema.String,
      severity: Severity,
      message: Schema.String,
      record: FoundRecord,
      recordId: Schema.NullOr(Id),
      field: Schema.NullOr(Schema.String)
    })
  ).annotate({
    description: "What looks wrong, errors first: what the check of the experience finds, and what only playing shows."
  })
}).annotate({ identifier: "RehearsalReport" })

const shown = {
  id: Id,
  experienceId: Id,
  status: RehearsalStatus.annotate({
    description: "A rehearsal that waits for its turn is RUNNING too. One that was cancelled is FAILED."
  }),
  people: count,
  seed: Schema.Int,
  progress: Schema.Finite.annotate({ description: "From 0 to 1." }),
  clockNow: Schema.NullOr(SentTimestamp).annotate({
    description: "The time that the test clock has reached; null before it is set."
  }),
  problem: Schema.NullOr(Schema.String).annotate({ description: "In FAILED: why, in words." }),
  verdict: Schema.NullOr(Verdict).annotate({ description: "In DONE: that of the report." }),
  createdAt: SentTimestamp,
  createdBy: Schema.String,
  endedAt: Schema.NullOr(SentTimestamp)
}

/** A rehearsal in the list. */
export const Rehearsal = Schema.Struct(shown).annotate({ identifier: "Rehearsal" })

/** A rehearsal with its report. */
export const ReportedRehearsal = Schema.Struct({
  ...shown,
  report: Schema.NullOr(Report).annotate({ description: "In DONE." })
}).annotate({ identifier: "ReportedRehearsal" })

const forbidden = "It needs a live key: a test key is a 403."

export class RehearsalApi extends HttpApiGroup.make("rehearsals")
  .add(
    HttpApiEndpoint.post("beginRehearsal", "/experiences/:id/rehearsals", {
      params: { id: Id },
      payload: BeginRehearsal,
      success: ReportedRehearsal.pipe(HttpApiSchema.status(202)),
      error: [NotFound, Conflict, Forbidden]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Begin a rehearsal",
        description:
          "Copies the live experience into test mode, with its products, stocks and audiences, sets a test clock, and plays " +
          "a crowd against the copy, as `usher rehearse` does: weeks take seconds, and no message leaves. Ask " +
          "`GET /rehearsals/{id}` until it is not RUNNING. At the end the test clock is deleted and the copy archived; the " +
          "report stays.\n\nA process runs one rehearsal at a time; others wait for their turn. One that takes longer than " +
          `${minutesMax} minutes fails. A second one of the organization is a 409 \`REHEARSAL_RUNNING\`. A test clock that ` +
          "is set already is a 409 `TEST_CLOCK_EXISTS`: delete it first. Experiences of test mode, which its end archives, " +
          `are a 409 \`TEST_MODE_IN_USE\` without \`archiveTestExperiences\`. ${forbidden}`
      })
    ),
    listBelow("listRehearsals", "/experiences/:id/rehearsals", {
      sorts: rehearsalSorts,
      item: Rehearsal,
      page: "RehearsalPage",
      summary: "List an experience's rehearsals",
      description: `The newest ${keptMax} that have ended, and one that is under way. \`sortDir=desc\` has the newest first. Live keys alone find any.`
    }),
    HttpApiEndpoint.get("getRehearsal", "/rehearsals/:id", {
      params: { id: Id },
      success: ReportedRehearsal,
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({ summary: "Show a rehearsal", description: "How far it is, or its report." })
    ),
    HttpApiEndpoint.delete("cancelRehearsal", "/rehearsals/:id", {
      params: { id: Id },
      success: ReportedRehearsal,
      error: NotFound
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Cancel a rehearsal",
        description:
          "Asks it to stop. It is FAILED when its test clock is deleted, after a few seconds. One that has ended stays as " +
          "it is."
      })
    )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Rehearsals",
      description: "Plays a crowd against a copy of a live experience in test mode, and tells who got what."
    })
  ) {}
