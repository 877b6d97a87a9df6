/** What the forms of a schedule share: its address, and the sequence that they name. */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import type { AdminApiClient } from "../../ApiClients.ts"
import { notFound } from "../../Refusal.ts"
import type { Drop } from "../drop/Drop.ts"

type Api = AdminApiClient["Service"]

/** The address of the tab, below that of its drop. */
export const tabPath = "/schedule"

/** The sequence that a form names. A drop without one gets one for everyone. */
export const sequenceOf = (api: Api, operator: Operator, { experience }: Drop, fields: URLSearchParams) => {
  const { id: experienceId, sequences } = experience
  if (sequences.length === 0) {
    const payload = { experienceId, name: "Everyone" }
    return Effect.map(api.run(operator, "sequences", "createSequence", { payload }), ({ id }) => id)
  }
  const named = sequences.find(({ id }) => id === fields.get("sequence"))
  return named === undefined ? Effect.fail(notFound) : Effect.succeed(named.id)
}
