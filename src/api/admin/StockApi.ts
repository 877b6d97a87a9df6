/** Stocks on the Admin API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { unitsMax } from "../../domain/mechanism/Allocation.ts"
import { historySorts } from "../../domain/mechanism/Mechanism.ts"
import { AdjustmentReason } from "../../domain/stock/Protocol.ts"
import { Settings, StockRecord, stockSorts } from "../../domain/stock/StockRecord.ts"
import { Id } from "../../domain/values/Ids.ts"
import { text } from "../../domain/values/Text.ts"
import { Conflict, NotFound, StockConflict } from "../Errors.ts"
import { HistoryEntry } from "./DistributionApi.ts"
import { changeFields, createFields } from "./Payloads.ts"
import { listBelow, operationsOn } from "./RecordApi.ts"

/** The body of `POST /stocks`. */
export const CreateStock = Schema.Struct(createFields(Settings, ["name", "variantIds"])).annotate({
  identifier: "CreateStock"
})

const { variantIds: _, ...changeable } = Settings

/** The body of `PUT /stocks/{id}`. */
export const ChangeStock = Schema.Struct(changeFields(changeable, ["name"])).annotate({ identifier: "ChangeStock" })

/** The body of `POST /stocks/{id}/adjust`. */
export const AdjustStock = Schema.Struct({
  by: Schema.Int.check(Schema.isBetween({ minimum: -unitsMax, maximum: unitsMax })).annotate({
    description: "Units to add, or to take away if negative."
  }),
  reason: AdjustmentReason
}).annotate({ identifier: "AdjustStock" })

const units = (description: string) => Schema.Int.annotate({ description })

/** A stock with the places of its units. */
export const StockWithUnits = Schema.Struct({
  ...StockRecord.fields,
  free: units("Units that no mechanism has. Orders without a mechanism take these."),
  underway: units("Units on their way to a mechanism."),
  sold: units("Units that orders and grants took, less those that came back."),
  allocations: Schema.Array(
    Schema.Struct({
      distributionId: Id,
      allocated: units("Units that the mechanism has, held ones too."),
      held: units("Units that live grants hold."),
      sold: units("Units that were sold there.")
    })
  ).annotate({ description: "In the order of `takers`, then mechanisms that are no takers any more." })
}).annotate({ identifier: "StockWithUnits" })

/** A recorded event, and the same in words. */
const StockHistoryEntry = Schema.Struct({
  ...HistoryEntry.fields,
  text: Schema.String.annotate({ description: "The event in English." })
}).annotate({ identifier: "StockHistoryEntry" })

const stock = operationsOn(StockWithUnits, { name: "Stock", aNoun: "a stock", path: "stocks" })

export class StockApi extends HttpApiGroup.make("stocks")
  .add(
    stock.create({
      payload: CreateStock,
      error: [NotFound, Conflict],
      description:
        "A stock has the units of its variants, which are sold as one, and gives them to mechanisms. Its first units are the " +
        "sum of the variants' `inventoryQuantity`. From then on they are counted here: an order takes free units, or those of " +
        "its grant's mechanism, whatever the variant's `inventoryPolicy` (409 `OUT_OF_STOCK`). The `inventoryQuantity` of " +
        "each variant shows, within seconds, the units of the stock that are not sold, and is changed with `adjust` only (409 " +
        "`VARIANT_IN_STOCK`). A variant belongs to one stock (409 `VARIANT_IN_STOCK`).\n\n`takers` get free units in their " +
        "order: those with `units` a fixed share, reserved while they are open; those with `upTo` at most so many, as people " +
        "wait for them; those with neither what remains. `from` is when a taker's turn begins. A mechanism takes part when it " +
        "names the stock as its `stockId`. One that is not in the list then becomes its last taker, for what remains.\n\n" +
        "With `returnsCancelled` (default true) the units of cancelled and refunded orders are free again. With `lowAt` the " +
        "stock is low when so many units or fewer are not sold; webhooks report `stock.low`, `stock.empty` and " +
        "`stock.refilled`."
    }),
    stock.list({
      sorts: stockSorts,
      search: "the name",
      item: StockRecord,
      page: "StockPage",
      description: "Lists stocks that are not archived, or with `archived=true` only archived ones."
    }),
    stock.get(
      "With the places of its units at this moment: `onHand` is `free` + `underway` + `sold` + the sum of `allocated`. A " +
        "unit that a mechanism has just sold is `allocated` for up to a second."
    ),
    stock.change({
      payload: ChangeStock,
      error: [NotFound, Conflict],
      description:
        "Send only the fields to change. An absent field keeps its value; null resets an optional one to its default. The " +
        "variants cannot be changed. A new order of `takers` moves no unit that a grant holds; units beyond a share come back."
    }),
    stock.archive({
      error: [NotFound, Conflict],
      description:
        "The units that are not sold go back to the first variant's `inventoryQuantity`; that of the others is 0. Units of " +
        "orders that are cancelled later go to its first variant that no other stock has; without one they are counted " +
        "nowhere. Refused while mechanisms sell from it (409 `STOCK_IN_USE`). It cannot be restored: create another one."
    }),
    HttpApiEndpoint.post("adjustStock", "/stocks/:id/adjust", {
      params: { id: Id },
      payload: AdjustStock,
      success: StockWithUnits,
      error: [NotFound, Conflict, StockConflict]
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Add or take away units",
        description:
          "The audit log and the history keep the author and `reason`. Only free units can be taken away (409 " +
          "`OUT_OF_STOCK` with their number as `available`, and the stock's first variant). A stock has at most 100,000,000 units (409 `TOO_MANY_UNITS`)."
      })
    ),
    listBelow("listStockHistory", "/stocks/:id/history", {
      sorts: historySorts,
      only: {
        type: Schema.optionalKey(
          text({ minLength: 1, maxLength: 100 }).annotate({ description: "Only events of this type." })
        )
      },
      item: StockHistoryEntry,
      page: "StockHistoryPage",
      summary: "List a stock's recorded events",
      description: "Lists events in their order: changes, adjustments, each transfer, and orders."
    })
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Stocks",
      description: "Units that several mechanisms sell, each in exactly one place at a time."
    })
  ) {}
