/** The figures of a mechanism by its kind, each with what it is of. */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import type { AdminApiClient } from "../../ApiClients.ts"
import { type Html, html } from "../../Html.ts"
import type { Refusal } from "../../Refusal.ts"
import { figures } from "../Parts.ts"
import type { Mechanism } from "./Drop.ts"
import { viewOf } from "./Kinds.ts"
import type { Contacts, Facts } from "./KindView.ts"

/** A mechanism with its facts. They are undefined while it does not answer. */
export interface Seen {
  readonly mechanism: Mechanism
  readonly facts: Facts | undefined
  readonly contacts: Contacts | undefined
}

/** Makes the function that reads the facts of mechanisms. */
export const makeSeen =
  (api: AdminApiClient["Service"]) => (operator: Operator, mechanisms: ReadonlyArray<Mechanism>) =>
    Effect.forEach(
      mechanisms,
      (mechanism) => {
        const of = { params: { id: mechanism.id } }
        return Effect.all({
          mechanism: Effect.succeed(mechanism),
          facts: orUndefined(api.run(operator, "distributions", "getDistributionFacts", of)),
          contacts: viewOf(mechanism).countsContacts
            ? orUndefined(api.run(operator, "distributions", "getDistributionContacts", of))
            : Effect.undefined
        })
      },
      { concurrency: 8 }
    )

const orUndefined = <A, R>(read: Effect.Effect<A, Refusal, R>): Effect.Effect<A | undefined, never, R> =>
  Effect.catchTag(read, "Refusal", () => Effect.undefined)

/** The figures of a mechanism, as a part that the script replaces. Its sample continues the lines of the chart. */
export const figuresOf = (seen: Seen, now: number): Html => html`
  <div
    data-part="figures-${seen.mechanism.id}"
    data-sample="${sampleOf(seen.mechanism).join(" ")}"
    data-sequence="${seen.mechanism.live?.lastSequence ?? 0}"
  >
    ${figures(viewOf(seen.mechanism).figures(seen.mechanism, seen.facts, now, seen.contacts))}
  </div>
`

/** The values that the lines of the chart have now. */
export const sampleOf = (mechanism: Mechanism): ReadonlyArray<number> => viewOf(mechanism).sample(mechanism)
