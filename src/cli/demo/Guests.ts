/** Groups of guests for the demo's smaller events. */
import { Effect } from "effect"
import type { Apis, Session } from "./Apis.ts"

const concurrency = 16

/** Creates `count` new guests. */
export const guests = (apis: Apis, count: number) =>
  Effect.forEach(Array.from({ length: count }), () => apis.consumer.session, { concurrency })

/** Runs `act` for each session, a few at a time. Returns the results. */
export const each = <A, E, R>(sessions: ReadonlyArray<Session>, act: (session: Session) => Effect.Effect<A, E, R>) =>
  Effect.forEach(sessions, act, { concurrency })
