/** The timed transitions of a timed release. */
import { expiry } from "../mechanism/Grants.ts"
import { closing, teardownWhen, type TimedTransitions } from "../mechanism/Timed.ts"
import { isGivenBack, unitRules } from "../mechanism/Units.ts"
import type { Event } from "./Event.ts"
import { type State, unitUse } from "./State.ts"

const teardown = teardownWhen<State>((state) => state.counts.ENTERED === 0 && isGivenBack(state))

const { giving } = unitRules(unitUse)

export const timed: TimedTransitions<State, Event> = [closing, expiry, giving, teardown]
