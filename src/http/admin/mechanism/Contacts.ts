/** Counts the consumers of a mechanism that can be reached. Screens ask often, so an answer is kept. */
import { Cache, Effect, Exit } from "effect"
import type { Tenant } from "../../../domain/values/Ids.ts"
import { Analytics } from "../../../store/organization/Analytics.ts"
import { keptSeconds } from "../../../api/admin/ContactsApi.ts"
import { tooLong } from "./Waits.ts"
import * as Time from "../../../store/coordination/Time.ts"

/** Mechanisms whose counts are kept. */
const keptMax = 1_000

/** Makes the function that answers with the counts. A failure is not kept. */
export const make = Effect.gen(function* () {
  const analytics = yield* Analytics
  // Keys are equal if their fields are.
  const kept = yield* Cache.makeWith(({ tenant, id }: Counted) => analytics.contacts(tenant, id), {
    capacity: keptMax,
    timeToLive: (exit) => (Exit.isSuccess(exit) ? `${keptSeconds} seconds` : 0)
  })
  return ({ organizationId, mode }: Tenant, id: string) =>
    Time.inServerTime(Cache.get(kept, { tenant: { organizationId, mode }, id })).pipe(
      Effect.catchTag("QueryTooLong", tooLong(id))
    )
})

/** The mechanism that is counted. */
interface Counted {
  readonly tenant: Tenant
  readonly id: string
}
