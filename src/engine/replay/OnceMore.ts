/** Replays a journal as it was, and once more with other settings. */
import { Result } from "effect"
import type { Event } from "../../domain/mechanism/Decider.ts"
import { declarations, deciders, type Kind } from "../../domain/mechanism/Mechanism.ts"
import { playChanged } from "./Changed.ts"
import { type Figures, figuresOf } from "./Figures.ts"
import { type AnyConfiguration, type Change, type ChangeProblem, checkChanges } from "./Settings.ts"
import { type Difference, replay, type Step } from "./Unchanged.ts"

/** What to replay. It can be sent to a thread. */
export interface Request {
  readonly kind: Kind
  /** Empty: the journal is replayed as it was only. */
  readonly changes: ReadonlyArray<Change>
  /** Equal seeds lead to equal figures. */
  readonly seed: number
}

/** What came of it. It can be sent by a thread. */
export type Outcome =
  | ({ readonly _tag: "Replayed" } & Replayed)
  | { readonly _tag: "Refused"; readonly problem: ChangeProblem }
  | { readonly _tag: "Differs"; readonly events: number; readonly difference: Difference; readonly figures: Figures }

/** A journal whose events all came out as they were recorded. */
export interface Replayed {
  readonly events: number
  readonly commands: number
  readonly figures: Figures
  /** Absent without changes. */
  readonly changed?: { readonly assumption: string; readonly figures: Figures }
}

/** Replays the events of a journal, from its first on. `level` is the level of the events. */
export const onceMore = ({ kind, changes, seed }: Request, level: number, events: ReadonlyArray<Event>): Outcome => {
  const { difference, steps } = replay(deciders[kind], events, level)
  const figures = figuresOf(kind, events)
  if (difference !== undefined) return { _tag: "Differs", events: events.length, difference, figures }
  const replayed = { _tag: "Replayed", events: events.length, commands: steps.length, figures } as const
  if (changes.length === 0) return replayed
  const checked = checkChanges(kind, changes, configurationsIn(steps))
  if (Result.isFailure(checked)) return { _tag: "Refused", problem: checked.failure }
  const changed = figuresOf(kind, playChanged(kind, events, steps, checked.success, seed))
  return { ...replayed, changed: { assumption: assumptionOf(kind, seed), figures: changed } }
}

const configurationsIn = (steps: ReadonlyArray<Step>): ReadonlyArray<AnyConfiguration> =>
  steps.flatMap(({ command }) => (command._tag === "Configure" ? [command["configuration"] as AnyConfiguration] : []))

/** What the figures of a changed replay rest on. */
const assumptionOf = (kind: Kind, seed: number): string => {
  const drawn =
    declarations[kind].grants.length > 0 ? `; what follows a grant is drawn from what people did (seed ${seed})` : ""
  return (
    `Assumed: people came and gave up as they did${drawn}. Staff did what they did. ` +
    "Refused attempts are not recorded, so nobody comes who did not get in."
  )
}
