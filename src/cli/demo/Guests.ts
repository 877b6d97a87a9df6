/** Groups of guests for the demo's smaller events. */
import { Duration, Effect } from "effect"
import type { Apis, Session } from "./Apis.ts"

const concurrency = 16

/** Creates `count` new guests. */
export const guests = (apis: Apis, count: number) =>
  Effect.forEach(Array.from({ length: count }), () => apis.consumer.session, { concurrency })

/** The time for what guests do next: at least `seconds`, and more on a machine that took long to create them. */
export const patientMillis = (seconds: number, tookToCreate: Duration.Duration): number =>
  Math.max(seconds * 1_000, 10 * Duration.toMillis(tookToCreate))

/** Runs `act` for each session, a few at a time. Returns the results. */
export const each = <A, E, R>(sessions: ReadonlyArray<Session>, act: (session: Session) => Effect.Effect<A, E, R>) =>
  Effect.forEach(sessions, act, { concurrency })
