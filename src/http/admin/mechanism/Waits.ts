/** Measures how long consumers waited in a mechanism. */
import { Effect } from "effect"
import { declarations, lateGrantKinds, type Kind } from "../../../domain/mechanism/Mechanism.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import { Analytics, type QueryTooLong } from "../../../store/organization/Analytics.ts"
import { issueAt } from "../../errors/Issues.ts"
import { invalidInput } from "../../errors/Validation.ts"

const none = { granted: 0, medianSeconds: null, p95Seconds: null, left: 0, leftMedianSeconds: null }

/** The kinds in which a consumer waits for its grant. */
const waiting: ReadonlySet<Kind> = new Set(lateGrantKinds)

/** Makes the function that answers with the waits. */
export const make = Effect.map(
  Analytics,
  (analytics) => (tenant: Tenant, id: string, kind: Kind) =>
    waiting.has(kind)
      ? analytics.waits(tenant, id, declarations[kind].grants[0]!).pipe(Effect.catchTag("QueryTooLong", tooLong(id)))
      : Effect.succeed(none)
)

/** The answer for a mechanism that a query cannot look through in time. */
export const tooLong =
  (id: string) =>
  ({ seconds }: QueryTooLong) => {
    const expected = `a mechanism that can be looked through within ${seconds} seconds`
    return invalidInput([issueAt({ id }, ["id"], { kind: "validation", type: "max_value", expected })])
  }
