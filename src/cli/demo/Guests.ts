/** Guests by the dozen, for the demo's smaller events. */
import { Effect } from "effect"
import type { Apis, Session } from "./Apis.ts"

const concurrency = 16

/** `count` new guests. */
export const guests = (apis: Apis, count: number) =>
  Effect.forEach(Array.from({ length: count }), () => apis.consumer.session, { concurrency })

/** What `act` gives for each of them, a few at a time. */
export const each = <A, E, R>(sessions: ReadonlyArray<Session>, act: (session: Session) => Effect.Effect<A, E, R>) =>
  Effect.forEach(sessions, act, { concurrency })
