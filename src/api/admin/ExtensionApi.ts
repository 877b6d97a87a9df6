/** Extending a mechanism after an outage: the declaration. */
import { Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { extensionSecondsMax } from "../../domain/mechanism/extension/Extension.ts"
import { Id } from "../../domain/values/Ids.ts"
import { Timestamp } from "../../domain/values/Time.ts"
import { NotFound } from "../Errors.ts"

/** The field that is left out because the other one is given. */
const unnamed = Schema.optionalKey(Schema.Null)

const bodies = [
  Schema.Struct({
    seconds: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: extensionSecondsMax })).annotate({
      description: "Seconds by which the times move."
    }),
    until: unnamed
  }),
  Schema.Struct({
    until: Timestamp.annotate({
      description: "The earliest time that is allowed afterwards. At most a year from now."
    }),
    seconds: unnamed
  })
] as const

/** The body. */
export interface ExtensionBody {
  readonly seconds?: number | null
  readonly until?: number | null
}

const Extension = Schema.Struct({
  grants: Schema.Int.annotate({ description: "Number of grants that this request moved." })
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
      "For use after an outage. Moves the expiry of all grants that consumers hold, and the closing if it has not " +
      "passed. They move by `seconds`, or to `until` where they are earlier. The drawing of a draw moves with its " +
      "closing; an auction's settlement is never before its closing. No time becomes earlier, and expired grants stay " +
      "expired. A request with `until` can be repeated safely; a repeated request with `seconds` moves everything " +
      "again. Grants that a shop has stored keep their former expiry: consumers get new ones with their next request."
  })
)
