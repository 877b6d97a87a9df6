/** The handlers of stocks on the Admin API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import type { AdjustStock, ChangeStock, CreateStock, StockWithUnits } from "../../../api/admin/StockApi.ts"
import { Conflict, NotFound, ServiceUnavailable, StockConflict } from "../../../api/Errors.ts"
import { type Configuration, configurationProblems } from "../../../domain/stock/Configuration.ts"
import type { Facts } from "../../../domain/stock/Protocol.ts"
import { sentenceOf } from "../../../domain/stock/Sentences.ts"
import { Settings } from "../../../domain/stock/StockRecord.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import { Engine, type EngineError } from "../../../engine/Engine.ts"
import { StockCreation } from "../../../engine/lifecycle/StockCreation.ts"
import { changeStock } from "../../../engine/lifecycle/StockChanges.ts"
import { History } from "../../../store/journal/History.ts"
import { Mechanisms } from "../../../store/mechanism/Mechanisms.ts"
import { type StockInUse, Stocks, type UnknownMembers, type VariantInStock } from "../../../store/stock/Stocks.ts"
import { answering } from "../../errors/Answering.ts"
import { invalidInput } from "../../errors/Validation.ts"
import { problemIssues } from "../records/Answers.ts"
import { forTenant, onList, onRecord } from "../records/Operations.ts"
import { orInvalidPage } from "../records/Refusals.ts"
import { revising } from "../records/Settings.ts"

type Change = typeof ChangeStock.Type

export const StockHandlers = HttpApiBuilder.group(AdminApi, "stocks", (handlers) =>
  Effect.gen(function* () {
    const stocks = yield* Stocks
    const history = yield* History
    const shown = yield* makeShown
    const change = yield* makeChange
    const adjust = yield* makeAdjust
    const archive = yield* makeArchive
    const create = yield* makeCreate

    return handlers.handleAll({
      createStock: ({ payload }) =>
        forTenant((tenant, by) => Effect.flatMap(create(tenant, by, payload), (id) => shown(tenant, id))),

      listStocks: onList(stocks.list),

      getStock: onRecord(shown),

      changeStock: ({ params: { id }, payload }) =>
        forTenant((tenant, by) => Effect.andThen(change(tenant, by, id, payload), shown(tenant, id))),

      archiveStock: onRecord((tenant, id, by) => archive(tenant, by, id)),

      adjustStock: ({ params: { id }, payload }) =>
        forTenant((tenant, by) => Effect.andThen(adjust(tenant, by, id, payload), shown(tenant, id))),

      listStockHistory: ({ params: { id }, query }) =>
        forTenant((tenant) =>
          Effect.andThen(stocks.find(tenant, id), history.list(tenant, id, query, query)).pipe(
            orInvalidPage(query),
            Effect.map(({ data, pageInfo }) => ({
              data: data.map((entry) => ({ ...entry, text: sentenceOf(entry.type, entry.data) })),
              pageInfo
            }))
          )
        )
    })
  })
)

const defaults = { takers: [], returnsCancelled: true } as const

const revised = revising<Configuration>(Settings, defaults)

/** Makes the check of settings: their problems, and the mechanisms that a change newly names. */
const makeChecked = Effect.map(Stocks, (stocks) =>
  Effect.fnUntraced(function* (tenant: Tenant, configuration: Configuration, before: Configuration["takers"] = []) {
    const problems = configurationProblems(configuration)
    if (problems.length > 0) return yield* invalidInput(problemIssues(problems, configuration))
    const known = new Set(before.map(({ distributionId }) => distributionId))
    const named = configuration.takers.map(({ distributionId }) => distributionId).filter((id) => !known.has(id))
    yield* stocks.refuseUnknownTakers(tenant, named).pipe(orUnknown)
    return configuration
  })
)

const makeCreate = Effect.gen(function* () {
  const creation = yield* StockCreation
  const checked = yield* makeChecked
  return Effect.fnUntraced(function* (tenant: Tenant, by: string, payload: typeof CreateStock.Type) {
    const configuration = yield* checked(tenant, revised(defaults, payload))
    const id = yield* creation.create(tenant, by, configuration).pipe(orUnknown, orTaken)
    return id
  })
})

const makeChange = Effect.gen(function* () {
  const engine = yield* Engine
  const checked = yield* makeChecked
  return (tenant: Tenant, by: string, id: string, changes: Change) =>
    changeStock(engine, { kind: "stock", id, tenant }, by, (from) =>
      checked(tenant, revised(from, changes), from.takers)
    ).pipe(orRefused)
})

const makeAdjust = Effect.map(
  Engine,
  (engine) =>
    (tenant: Tenant, by: string, id: string, { by: units, reason }: typeof AdjustStock.Type) =>
      engine.sendAdmin({ kind: "stock", id, tenant }, { _tag: "Adjust", units, reason, by }).pipe(
        Effect.catchTag("TooFewUnits", ({ free }) =>
          Effect.flatMap(engine.definition({ kind: "stock", id, tenant }), ({ configuration }) =>
            Effect.fail(
              new StockConflict({
                error: `Only ${free} units are free`,
                code: "OUT_OF_STOCK",
                productVariantId: configuration.variantIds[0]!,
                available: free
              })
            )
          )
        ),
        orRefused
      )
)

/** Makes the function that reads a stock with the places of its units. */
const makeShown = Effect.gen(function* () {
  const engine = yield* Engine
  const stocks = yield* Stocks
  const mechanisms = yield* Mechanisms

  const heldIn = Effect.fnUntraced(function* (tenant: Tenant, stockId: string, id: string) {
    const found = yield* mechanisms.find(tenant, id)
    if (found === undefined) return 0
    const { kind } = found.identity
    const inspected = engine.inspect({ kind, id, tenant, includesArchived: true })
    return yield* Effect.map(inspected, ({ units }) => (units?.stockId === stockId ? units.held : 0)).pipe(
      Effect.catchTag("MechanismNotFound", () => Effect.succeed(0))
    )
  })

  return Effect.fnUntraced(function* (tenant: Tenant, id: string) {
    const record = yield* stocks.find(tenant, id)
    const { free, underway, sold, onHand, accounts } = yield* engine
      .facts({ kind: "stock", id, tenant })
      .pipe(orRefused)
    const ids = new Set([...record.takers, ...accounts].map(({ distributionId }) => distributionId))
    const allocations = yield* Effect.forEach(ids, (distributionId) =>
      Effect.map(heldIn(tenant, id, distributionId), (held) => ({ ...allocationOf(accounts, distributionId), held }))
    )
    return { ...record, onHand, free, underway, sold, allocations } satisfies typeof StockWithUnits.Type
  })
})

const makeArchive = Effect.gen(function* () {
  const engine = yield* Engine
  const stocks = yield* Stocks
  const shown = yield* makeShown
  return Effect.fnUntraced(function* (tenant: Tenant, by: string, id: string) {
    const stock = { kind: "stock", id, tenant } as const
    yield* stocks.find(tenant, id)
    yield* stocks.refuseInUse(tenant, id).pipe(orInUse)
    // An ended stock counts no order. When those that were being written are known, the number is the last one.
    yield* engine.sendAdmin(stock, { _tag: "End", by }).pipe(
      Effect.catchTag("Closed", () => Effect.void),
      orRefused
    )
    if (yield* stocks.hasMessages(tenant, id)) return yield* new ServiceUnavailable({ retryAfterSeconds: 1 })
    const units = yield* shown(tenant, id)
    yield* stocks.release(tenant, id, units.onHand - units.sold)
    yield* engine.sendAdmin(stock, { _tag: "Archive", by }).pipe(orRefused)
    return { ...units, ...(yield* stocks.findAny(tenant, id)) }
  })
})

const allocationOf = (accounts: Facts["accounts"], distributionId: string) => {
  const { allocated = 0, sold = 0 } = accounts.find((account) => account.distributionId === distributionId) ?? {}
  return { distributionId, allocated, sold }
}

/** Turns the refusals of a stock into answers. */
const orRefused = answering({
  MechanismNotFound: (_: Extract<EngineError, { readonly _tag: "MechanismNotFound" }>) => NotFound.of("Stock"),
  Closed: (_: object) => new Conflict({ error: "Stock is closed", code: "CLOSED" }),
  NotOpen: (_: object) => new Conflict({ error: "Stock is not open", code: "NOT_OPEN" }),
  GuestsRefused: (_: object) => new Conflict({ error: "Stock has no consumers", code: "INVALID_STATUS" }),
  ConfigurationFixed: ({ setting }: { readonly setting: string }) =>
    new Conflict({ error: `${setting} can no longer be changed`, code: "CONFIGURATION_FIXED" }),
  ConfigurationChanged: (_: object) => new ServiceUnavailable({ retryAfterSeconds: 1 }),
  TooFewUnits: ({ free }: { readonly free: number }) =>
    new Conflict({ error: `Only ${free} units are free`, code: "TOO_FEW_UNITS" }),
  TooManyUnits: ({ maximum }: { readonly maximum: number }) =>
    new Conflict({ error: `A stock has at most ${maximum} units`, code: "TOO_MANY_UNITS" })
})

/** Turns variants and mechanisms that do not exist into a 404. */
const orUnknown = answering({
  UnknownMembers: ({ record }: UnknownMembers) => NotFound.of(record)
})

/** Turns a variant of another stock into a 409. */
const orTaken = answering({
  VariantInStock: ({ variantId, stockId }: VariantInStock) =>
    new Conflict({ error: `Variant ${variantId} belongs to stock ${stockId}`, code: "VARIANT_IN_STOCK" })
})

/** Turns mechanisms that sell from the stock into a 409. */
const orInUse = answering({
  StockInUse: ({ count }: StockInUse) =>
    new Conflict({ error: `${count} mechanism(s) sell from the stock`, code: "STOCK_IN_USE" })
})
