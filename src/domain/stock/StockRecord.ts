/** A stock as the Admin API shows it. */
import { Schema } from "effect"
import { Id } from "../values/Ids.ts"
import { stampFields } from "../values/Record.ts"
import { Name } from "../values/Text.ts"
import { Configuration, Taker } from "./Configuration.ts"
import { Level } from "./Protocol.ts"

const { variantIds, takers, returnsCancelled, lowAt } = Configuration.fields

/** The settings in a request. */
export const Settings = { name: Name, variantIds, takers, returnsCancelled, lowAt }

/** How the list of stocks can be sorted. The first is the default. */
export const stockSorts = ["createdAt", "name"] as const

export const StockRecord = Schema.Struct({
  id: Id,
  organizationId: Id,
  name: Schema.String,
  variantIds: Schema.Array(Id),
  takers: Schema.Array(Taker),
  returnsCancelled: Schema.Boolean,
  lowAt: Schema.NullOr(Schema.Int),
  onHand: Schema.Int.annotate({
    description: "All units that it was given and that were not taken away, sold ones too."
  }),
  level: Level.annotate({ description: "`EMPTY`: all units are sold. `LOW`: at most `lowAt` are not." }),
  ...stampFields
}).annotate({ identifier: "Stock" })
export type StockRecord = typeof StockRecord.Type
