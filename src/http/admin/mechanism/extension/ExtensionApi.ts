/** Extending a mechanism after an outage: the declaration. */
import { Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { extensionSecondsMax } from "../../../../domain/mechanism/extension/Extension.ts"
import { Id } from "../../../../domain/values/Ids.ts"
import { Timestamp } from "../../../../domain/values/Time.ts"
import { NotFound } from "../../../errors/Errors.ts"

/** The field that is left out because the other one is given. */
const unnamed = Schema.optionalKey(Schema.Null)

const bodies = [
  Schema.Struct({
    seconds: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: extensionSecondsMax })).annotate({
      description: "By how many seconds."
    }),
    until: unnamed
  }),
  Schema.Struct({
    until: Timestamp.annotate({ description: "Up to this instant at least. At most a year from now." }),
    seconds: unnamed
  })
] as const

/** The body. */
export interface ExtensionBody {
  readonly seconds?: number | null
  readonly until?: number | null
}

const Extension = Schema.Struct({
  grants: Schema.Int.annotate({ description: "Grants that this request moved." })
}).annotate({ identifier: "Extension" })

export const extendEndpoint = HttpApiEndpoint.post("extendDistribution", "/distributions/:id/extend", {
  params: { id: Id },
  payload: Schema.Union(bodies),
  success: Extension,
  error: NotFound
}).annotateMerge(
  OpenApi.annotations({
    summary: "Extend a mechanism",
    description:
      "After an outage: moves the expiry of all grants that consumers hold, and the closing if it has not passed, by " +
      "`seconds`, or to `until` where they are earlier. The drawing of a draw moves with its closing, and the settlement of " +
      "an auction is never before it. Nothing becomes earlier, and what has expired stays expired. Repeating a request " +
      "with `until` is safe; one with `seconds` moves everything again. Grants that a shop has stored keep their former " +
      "expiry: consumers get new ones with their next request."
  })
)
