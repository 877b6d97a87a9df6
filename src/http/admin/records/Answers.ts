/** Answers of the Admin API to refusals of the store and to invalid settings. */
import { toText } from "../../../domain/values/Time.ts"
import type { Overloaded } from "../../../engine/actor/Actor.ts"
import type { Parked } from "../../../engine/registry/Registry.ts"
import type { Unavailable } from "../../../store/postgres/Unavailable.ts"
import { answering } from "../../errors/Answering.ts"
import { type Issue, ServiceUnavailable } from "../../../api/Errors.ts"
import { issueAt } from "../../errors/Issues.ts"

/** A setting that does not agree with another one. */
export interface Problem {
  readonly field: string
  readonly message: string
}

const busyFor = (retryAfterSeconds: number) => new ServiceUnavailable({ retryAfterSeconds })

/** Turns an engine or a store that cannot answer for now into a 503. */
export const orBusy = answering({
  Unavailable: (_: Unavailable) => busyFor(1),
  Overloaded: (_: Overloaded) => busyFor(1),
  Parked: (_: Parked) => busyFor(30)
})

/** The issues of settings that are each in range but do not agree. */
export const problemIssues = (problems: ReadonlyArray<Problem>, settings: object): ReadonlyArray<Issue> =>
  problems.map(({ field, message }) => {
    const value = (settings as { readonly [name: string]: unknown })[field]
    const type = typeOf(field, value)
    const shown = shownAs(value, type)
    return { ...issueAt({ [field]: shown }, field, { kind: "validation", type, expected: message }), message }
  })

/** The type of a setting, from its name or its value. A value may be absent. */
const typeOf = (field: string, value: unknown): string => {
  if (/(At|Until)$/.test(field)) return "date_time"
  if (/(Price|Amount|Increment|Bid|BidJump)$/.test(field)) return "amount"
  if (/(Seconds|Minutes|Burst)$/.test(field)) return "integer"
  return typeof value === "object" ? "object" : "picklist"
}

/** The value as it was sent. */
const shownAs = (value: unknown, type: string): unknown =>
  typeof value === "number" && type === "date_time" ? toText(value) : value
