/**
 * Carries what stocks and their mechanisms say to each other: it reads what mechanisms say of their units, lets their
 * stock decide, and tells the mechanisms. Each message may be lost or repeated, so a call that fails, or two processes
 * that carry at once, do no harm.
 */
import { Context, Effect, Layer } from "effect"
import type { Kind, MechanismRef } from "../../domain/mechanism/Mechanism.ts"
import type { SettleUnits, UnitsReport } from "../../domain/mechanism/UnitProtocol.ts"
import { asked, type Configuration, type Facts, mayReturnTo } from "../../domain/stock/Stock.ts"
import { sameTenant, type Tenant } from "../../domain/values/Ids.ts"
import * as Time from "../../store/coordination/Time.ts"
import { Failpoint } from "../../store/journal/Failpoint.ts"
import { Journal } from "../../store/journal/Journal.ts"
import { inTimeOf, TestClocks } from "../../store/testClock/TestClocks.ts"
import { Engine } from "../Engine.ts"

/** Passes of one call. A unit that is asked for arrives in four. */
const passesMax = 6

/** Mechanisms of which the kind is kept in memory, or that nothing is left to say. */
const rememberedMax = 100_000

type Stock = MechanismRef<"stock">

export class UnitTransfers extends Context.Service<
  UnitTransfers,
  {
    /**
     * Carries for every stock that runs in this process. Those of a tenant with a test clock are left to its advance,
     * because their journals must not depend on the server's time.
     */
    readonly carryAll: Effect.Effect<void>
    /** Carries for stocks of a tenant, in this order. Returns true if a mechanism was told something. */
    carryOf(tenant: Tenant, stockIds: ReadonlyArray<string>): Effect.Effect<boolean>
  }
>()("usher/engine/lifecycle/UnitTransfers") {
  static readonly layer = Layer.effect(UnitTransfers)(
    Effect.gen(function* () {
      const engine = yield* Engine
      const clocks = yield* TestClocks
      const carry = yield* makeCarry

      const carryAll = Effect.gen(function* () {
        const stocks = yield* engine.query("stock", ({ tornDown }) => (tornDown ? undefined : true))
        const some = stocks.filter(({ mechanism }) => clocks.of(mechanism.tenant) === undefined)
        yield* Effect.forEach(some, ({ mechanism }) => carry(mechanism), { discard: true })
      })

      const carryOf = (tenant: Tenant, stockIds: ReadonlyArray<string>) =>
        Effect.map(
          Effect.forEach(stockIds, (id) => carry({ kind: "stock", id, tenant, includesArchived: true })),
          (told) => told.includes(true)
        )
      return { carryAll, carryOf }
    })
  )
}

/** Makes the function that carries for one stock until nothing is left to be told. Returns true if something was. */
const makeCarry = Effect.gen(function* () {
  const engine = yield* Engine
  const clocks = yield* TestClocks
  const findMechanism = yield* makeFind
  const failpoint = yield* Failpoint
  const settled = makeSettled()

  /** Returns what the mechanisms say; leaves out those that cannot be reached, and those of another stock. */
  const reportsOf = Effect.fnUntraced(function* (stock: Stock, ids: ReadonlySet<string>) {
    const reports = new Map<string, UnitsReport | "gone">()
    for (const id of ids) {
      const mechanism = yield* findMechanism(stock, id)
      const report = mechanism === undefined ? "gone" : yield* reportOf(engine, mechanism)
      if (report !== undefined && (report === "gone" || report.stockId === stock.id)) reports.set(id, report)
    }
    return reports
  })

  /** Passes once. Returns true if a mechanism was told something. */
  const pass = Effect.fnUntraced(function* (stock: Stock, ids: ReadonlySet<string>) {
    const reports = yield* reportsOf(stock, ids)
    const { configuration } = yield* engine.sendAdmin(stock, { _tag: "Settle", reports })
    const facts = yield* engine.facts(stock)
    settled.note(stock, reports, facts)
    const turns = asked(configuration, facts, { reports }, yield* Time.now)
    const told = new Map(turns.map(({ distributionId, units }) => [distributionId, units]))
    let isMore = false
    for (const [id, report] of reports) {
      const command =
        report === "gone" ? undefined : messageTo(report, { id, configuration, facts, giveBack: told.get(id) })
      const mechanism = command && (yield* findMechanism(stock, id))
      if (command === undefined || mechanism === undefined) continue
      isMore = true
      if (failpoint !== undefined) yield* failpoint("unitsUntold")
      // What was not told is told again in the next round.
      yield* Effect.ignore(engine.sendAdmin(mechanism, command))
      if (failpoint !== undefined) yield* failpoint("unitsTold")
    }
    return isMore
  })

  return (stock: Stock): Effect.Effect<boolean> =>
    Effect.gen(function* () {
      const ids = settled.others(stock, yield* idsOf(engine, stock))
      let passes = 0
      while (passes < passesMax && (yield* pass(stock, ids))) passes++
      return passes > 0
    }).pipe(
      inTimeOf(clocks, stock.tenant),
      // The next call does what this one could not do.
      Effect.orElseSucceed(() => false)
    )
})

/** Returns the mechanisms that have to do with the stock. */
const idsOf = (engine: Engine["Service"], stock: Stock) =>
  Effect.zipWith(
    engine.definition(stock),
    engine.facts(stock),
    ({ configuration }, { accounts }) =>
      new Set([...configuration.takers, ...accounts].map(({ distributionId }) => distributionId))
  )

/** Returns what a mechanism says; undefined if it cannot be reached, or sells from no stock. */
const reportOf = (engine: Engine["Service"], mechanism: MechanismRef<Kind>) =>
  engine.inspect(mechanism).pipe(
    Effect.map(({ units }) => units),
    Effect.catchTag("MechanismNotFound", () => Effect.succeed("gone" as const)),
    Effect.orElseSucceed(() => undefined)
  )

/** Makes the memory of mechanisms that never have units again. They need not be kept in memory to be asked. */
const makeSettled = () => {
  const over = new Set<string>()
  const keyOf = ({ id }: Stock, mechanismId: string) => `${id} ${mechanismId}`
  return {
    note: (stock: Stock, reports: ReadonlyMap<string, UnitsReport | "gone">, facts: Facts): void => {
      if (over.size > rememberedMax) over.clear()
      for (const [id, report] of reports) if (isSettled(id, report, facts)) over.add(keyOf(stock, id))
    },
    others: (stock: Stock, ids: ReadonlySet<string>): ReadonlySet<string> =>
      new Set([...ids].filter((id) => !over.has(keyOf(stock, id))))
  }
}

/** Whether a mechanism never has units again, and the stock knows it. */
const isSettled = (id: string, report: UnitsReport | "gone", { accounts }: Facts): boolean => {
  if (report === "gone" || !report.isOver) return false
  const account = accounts.find(({ distributionId }) => distributionId === id)
  return (
    account === undefined || (account.allocated === 0 && account.underway === undefined && account.sold >= report.sold)
  )
}

/** Returns what the stock has to say to a mechanism; undefined if the mechanism knows it. */
const messageTo = (
  report: UnitsReport,
  {
    id,
    configuration,
    facts,
    giveBack
  }: {
    readonly id: string
    readonly configuration: Configuration
    readonly facts: Facts
    readonly giveBack: number | undefined
  }
): SettleUnits | undefined => {
  const { came, leaving, mayReturn: known } = report
  const { underway, taken = 0 } = facts.accounts.find(({ distributionId }) => distributionId === id) ?? {}
  const arriving = underway !== undefined && underway.transfer > came ? underway : undefined
  const isTaken = leaving !== undefined && taken >= leaving.transfer
  const mayReturn = known === undefined ? undefined : mayReturnTo(configuration, facts, id, report)
  const isNews = mayReturn !== undefined && mayReturn !== known
  if (arriving === undefined && !isTaken && giveBack === undefined && !isNews) return undefined
  return {
    _tag: "SettleUnits",
    taken,
    ...(arriving !== undefined && { arriving }),
    ...(giveBack !== undefined && { giveBack }),
    ...(isNews && { mayReturn })
  }
}

/** Makes the function that finds a mechanism of the stock's tenant by its id. Its kind never changes. */
const makeFind = Effect.gen(function* () {
  const journal = yield* Journal
  const kinds = new Map<string, Kind>()
  return Effect.fnUntraced(function* ({ tenant }: Stock, id: string) {
    let kind = kinds.get(id)
    if (kind === undefined) {
      const identity = (yield* journal.head(id))?.identity
      if (identity === undefined || identity.kind === "stock" || !sameTenant(identity, tenant)) return undefined
      kind = identity.kind
      if (kinds.size >= rememberedMax) kinds.clear()
      kinds.set(id, kind)
    }
    return { kind, id, tenant, includesArchived: true } satisfies MechanismRef<Kind>
  })
})
