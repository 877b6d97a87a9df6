/** The clock of test mode on the Admin API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, HttpApiSchema, OpenApi } from "effect/http-api"
import {
  advanceDaysMax,
  advanceWaitSecondsMax,
  clockSeedLengthMax,
  clockWebhooksMax
} from "../../domain/organization/TestClock.ts"
import { dayMillis } from "../../domain/values/WallClock.ts"
import { Id } from "../../domain/values/Ids.ts"
import { text } from "../../domain/values/Text.ts"
import { SentTimestamp, Timestamp } from "../../domain/values/Time.ts"
import { Conflict, Forbidden, NotFound } from "../Errors.ts"

export const TestClock = Schema.Struct({
  status: Schema.Literals(["READY", "ADVANCING", "FAILED"]),
  now: SentTimestamp.annotate({ description: "The time that test mode has." }),
  progress: Schema.optionalKey(Schema.Finite).annotate({
    description: "The share of the advance that is done, from 0 to 1. Absent in READY."
  }),
  advancingTo: Schema.optionalKey(SentTimestamp).annotate({ description: "Where the advance ends. Absent in READY." }),
  problem: Schema.optionalKey(Schema.String).annotate({ description: "In FAILED: what did not happen in time." }),
  nextDueAt: Schema.optionalKey(SentTimestamp).annotate({
    description: "Of `GET` and an advance, in READY: when time alone next brings something. Absent if nothing is due."
  }),
  seed: Schema.String,
  webhookIds: Schema.Array(Id)
}).annotate({ identifier: "TestClock" })
export type TestClock = typeof TestClock.Type

/** The body of `PUT /test-clock`. */
export const SetTestClock = Schema.Struct({
  frozenAt: Timestamp,
  seed: Schema.optionalKey(text({ minLength: 1, maxLength: clockSeedLengthMax })).annotate({
    description: "What simulated rounds of the beacon follow from. Default: a random one."
  }),
  webhookIds: Schema.optionalKey(Schema.Array(Id).check(Schema.isMaxLength(clockWebhooksMax))).annotate({
    description: "Webhooks of test mode that are sent all the same. Default: none."
  })
}).annotate({ identifier: "SetTestClock" })

const exactlyOne = Schema.makeFilter(
  ({ to, by }: { readonly to?: number; readonly by?: number }) => (to === undefined) !== (by === undefined),
  { expected: "either `to` or `by`" }
)

/** The body of `POST /test-clock/advance`. */
export const AdvanceTestClock = Schema.Struct({
  to: Schema.optionalKey(Timestamp),
  by: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: (advanceDaysMax * dayMillis) / 1_000 }))
  ).annotate({ description: "Seconds." }),
  waitSeconds: Schema.optionalKey(
    Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: advanceWaitSecondsMax }))
  ).annotate({ description: "Answer when the advance has ended, at the latest after so many seconds. Default: 0." })
})
  .check(exactlyOne)
  .annotate({ identifier: "AdvanceTestClock" })

const forbidden = "It needs a test key: a live key is a 403."

export class TestClockApi extends HttpApiGroup.make("testClock")
  .add(
    HttpApiEndpoint.get("getTestClock", "/test-clock", {
      success: TestClock,
      error: [NotFound, Forbidden]
    }).annotateMerge(OpenApi.annotations({ summary: "Show the test clock", description: forbidden })),
    HttpApiEndpoint.put("setTestClock", "/test-clock", {
      payload: SetTestClock,
      success: TestClock.pipe(HttpApiSchema.status(201)),
      error: [Conflict, Forbidden]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Set a test clock",
        description:
          "From now on everything in test mode has the time `frozenAt`, which stands still until it is advanced: what opens, " +
          "closes and expires, records, lists, pages and their countdowns. Access tokens, sessions, rate limits and " +
          "idempotency keys keep the server's time; a browser counts down in real time until it asks again. Messages are not sent; `GET /outbox` shows them. Webhooks are not " +
          "sent, also not later, unless `webhookIds` names them; their retries keep the server's time.\n\nMechanisms that " +
          "have recorded something later than `frozenAt` go on from there. A second clock is a 409 `TEST_CLOCK_EXISTS`: " +
          `delete the first one. ${forbidden}`
      })
    ),
    HttpApiEndpoint.post("advanceTestClock", "/test-clock/advance", {
      payload: AdvanceTestClock,
      success: TestClock.pipe(HttpApiSchema.status(202)),
      error: [NotFound, Conflict, Forbidden]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Advance the test clock",
        description:
          "Goes to an instant (`to`), or some seconds forward (`by`). On the way everything that is due happens in the order " +
          "of its instants, and the clock stops at each until it has happened. So ask `GET /test-clock` until it is READY, or " +
          "wait with `waitSeconds`. " +
          "If nothing happens for 30 seconds although something is due, the advance is FAILED and says why; another call goes " +
          "on from there.\n\nA round of the beacon that is not published yet is simulated: the proof of such a draw names the " +
          "network `simulated`, and is not valid. A second advance meanwhile is a 409 `ADVANCING`. Backwards, or more than " +
          `${advanceDaysMax} days, is a 400. ${forbidden}`
      })
    ),
    HttpApiEndpoint.delete("deleteTestClock", "/test-clock", {
      success: TestClock,
      error: [NotFound, Forbidden]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Delete the test clock",
        description:
          "Archives the experiences of test mode with their sequences and mechanisms, whose time is that of the clock, and " +
          "ends it. Test mode has the server's time again. The catalogue, consumers, orders and settings stay. Answers with " +
          `the clock as it was. If the request breaks off, repeat it. ${forbidden}`
      })
    )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Test clock",
      description: "The clock of test mode, to rehearse what happens over days."
    })
  ) {}
