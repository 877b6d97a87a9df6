/** The facts of a mechanism for staff: what its live page shows, and what only staff may know. */
import { Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { declarations, type Kind, kinds } from "../../domain/mechanism/Mechanism.ts"
import { Id } from "../../domain/values/Ids.ts"
import { kindSchemas } from "../consumer/KindsApi.ts"
import { NotFound } from "../Errors.ts"
import { staffFacts } from "./KindsApi.ts"

type FactsOf<K extends Kind> = Schema.Struct<
  { readonly kind: Schema.Literal<K> } & Pick<(typeof kindSchemas)[K]["live"], keyof (typeof kindSchemas)[K]["live"]> &
    Pick<(typeof staffFacts)[K], keyof (typeof staffFacts)[K]>
>

const factsOf = (kind: Kind) =>
  Schema.Struct({ kind: Schema.Literal(kind), ...kindSchemas[kind].live, ...staffFacts[kind] }).annotate({
    identifier: `${declarations[kind].name}Facts`
  })

/** The facts of one mechanism. */
export const DistributionFacts = Schema.Union(
  kinds.map(factsOf) as ReadonlyArray<unknown> as ReadonlyArray<{ [K in Kind]: FactsOf<K> }[Kind]>
).annotate({ identifier: "DistributionFacts" })

export const factsEndpoint = HttpApiEndpoint.get("getDistributionFacts", "/distributions/:id/live", {
  params: { id: Id },
  success: DistributionFacts,
  error: NotFound
}).annotateMerge(
  OpenApi.annotations({
    summary: "Get the live facts of a mechanism",
    description:
      "What the live page of its experience shows of it, also of a sequence for few, and what only staff may know. The " +
      "facts come from its actor's memory. A parked mechanism has none (503)."
  })
)
