/** A rehearsal that a server runs, and what is kept of it. */
import { Schema } from "effect"

/** A rehearsal that waits for its turn is RUNNING too. One that was cancelled is FAILED. */
export const RehearsalStatus = Schema.Literals(["RUNNING", "DONE", "FAILED"])
export type RehearsalStatus = typeof RehearsalStatus.Type

/** How a rehearsal ended, in a sentence, and whether a brand would be content with it. */
export const Verdict = Schema.Struct({ text: Schema.String, isGood: Schema.Boolean })
export type Verdict = typeof Verdict.Type

/** How the list of rehearsals can be sorted. */
export const rehearsalSorts = ["createdAt"] as const

/** People that a server rehearses with. `usher rehearse` takes more. */
export const servedPeopleMax = 20_000

/** Rehearsals of an experience that are kept: the newest. */
export const keptMax = 20

/** Minutes that a rehearsal may take. */
export const minutesMax = 60

/** A rehearsal as records name the author of what it has made. */
export const authorOf = (rehearsalId: string): string => `rehearsal:${rehearsalId}`
