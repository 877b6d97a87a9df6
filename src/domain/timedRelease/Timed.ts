/** The timed transitions of a timed release. */
import { expiry } from "../mechanism/Grants.ts"
import { closing, teardownWhen, type TimedTransitions } from "../mechanism/Timed.ts"
import type { Event } from "./Event.ts"
import type { State } from "./State.ts"

const teardown = teardownWhen<State>(({ counts }) => counts.ENTERED === 0)

export const timed: TimedTransitions<State, Event> = [closing, expiry, teardown]
