/** The test clock of a rehearsal, over the Admin API. */
import { Effect, Schedule, Schema } from "effect"
import { advanceWaitSecondsMax } from "../../domain/organization/TestClock.ts"
import type { Client, RequestError } from "../Client.ts"
import { StartRefused } from "../../settings/Settings.ts"

/** The rehearsal broke off after it had set its test clock. */
export class BrokenOff extends Schema.TaggedError<BrokenOff>()("BrokenOff", { message: Schema.String }) {}

/** Pause between two looks at an advance that takes longer than one request. */
const lookMillis = 100

/** Waits where the organization's limit is reached, and goes on. */
export const patient = <A>(effect: Effect.Effect<A, RequestError>) =>
  Effect.retry(effect, { while: ({ reason }) => reason === "429", schedule: Schedule.spaced("500 millis") })

/** Sets the clock of test mode, if it has none. */
export const set = (client: Client, frozenAt: number, seed: string) =>
  client
    .admin((api) => api.testClock.setTestClock({ payload: { frozenAt, seed } }))
    .pipe(
      Effect.mapError(
        ({ code, message }) =>
          new StartRefused({
            message:
              code === "TEST_CLOCK_EXISTS"
                ? "Test mode has a test clock already. `DELETE /test-clock` ends it, and archives the experiences of test mode."
                : `The test clock could not be set: ${message}`
          })
      )
    )

/** Ends a rehearsal with the failure of a request. */
export const orBrokenOff =
  (what: string) =>
  <A, R>(effect: Effect.Effect<A, RequestError | BrokenOff, R>): Effect.Effect<A, BrokenOff, R> =>
    Effect.catchTag(effect, "RequestError", ({ message }) =>
      Effect.fail(new BrokenOff({ message: `${what}: ${message}` }))
    )

export const read = (client: Client) => patient(client.admin((api) => api.testClock.getTestClock({})))

/** Advances the clock, and waits until all of it has happened. */
export const advance = Effect.fnUntraced(function* (client: Client, to: number) {
  const payload = { to, waitSeconds: advanceWaitSecondsMax }
  let clock = yield* patient(client.admin((api) => api.testClock.advanceTestClock({ payload }))).pipe(
    // A request before it, whose answer was lost, has begun the advance.
    Effect.catchIf(
      ({ code }) => code === "ADVANCING",
      () => read(client)
    )
  )
  while (clock.status === "ADVANCING") {
    yield* Effect.sleep(lookMillis)
    clock = yield* read(client)
  }
  if (clock.status === "READY") return clock
  return yield* new BrokenOff({ message: `The test clock could not be advanced. ${clock.problem}` })
})
