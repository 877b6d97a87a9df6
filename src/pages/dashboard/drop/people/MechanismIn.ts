/** The mechanism of a drop that a form names. */
import { Effect } from "effect"
import type { Operator } from "../../../../auth/operators/OperatorSessions.ts"
import { isUuid } from "../../../../domain/values/Ids.ts"
import { notFound } from "../../../Refusal.ts"
import type { TabNeeds } from "../Tab.ts"

/** Returns the named mechanism of a drop. */
export const mechanismIn = Effect.fnUntraced(function* (
  api: TabNeeds["api"],
  operator: Operator,
  experienceId: string,
  id: string | null
) {
  if (id === null || !isUuid(id)) return yield* notFound
  const found = yield* api.run(operator, "distributions", "getDistribution", { params: { id } })
  return found.experienceId === experienceId ? found : yield* notFound
})
