/**
 * Carries what stocks and their mechanisms say to each other: it reads what mechanisms say of their units, lets their
 * stock decide, and tells the mechanisms. Each message may be lost or repeated, so a round that fails, or two processes
 * that carry at once, do no harm. The process that runs the stock carries for it.
 */
import { Effect, Layer } from "effect"
import type { Kind, MechanismRef } from "../domain/mechanism/Mechanism.ts"
import type { SettleUnits, UnitsReport } from "../domain/mechanism/UnitProtocol.ts"
import { asked, type Configuration, type Facts, mayReturnTo } from "../domain/stock/Stock.ts"
import { sameTenant } from "../domain/values/Ids.ts"
import { Engine } from "../engine/Engine.ts"
import * as Time from "../store/coordination/Time.ts"
import { Journal } from "../store/journal/Journal.ts"
import { inTimeOf, TestClocks } from "../store/testClock/TestClocks.ts"
import { start } from "./WorkerLoop.ts"

/** Pause between rounds. A unit that comes back is with the next taker after two of them at the latest. */
const pauseMillis = 250

/** Passes of one round. A unit that is asked for arrives in four. */
const passesMax = 6

/** Mechanisms of which the kind is kept in memory, or that nothing is left to say. */
const rememberedMax = 100_000

type Stock = MechanismRef<"stock">

/** Starts the fiber for the stocks of this process. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const engine = yield* Engine
    const clocks = yield* TestClocks
    const findMechanism = yield* makeFind
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
        // What was not told is told again in the next round.
        yield* Effect.ignore(engine.sendAdmin(mechanism, command))
      }
      return isMore
    })

    const carry = Effect.fnUntraced(function* (stock: Stock, ids: ReadonlySet<string>) {
      for (let passes = 0; passes < passesMax; passes++) if (!(yield* pass(stock, ids))) return
    })

    const round = Effect.gen(function* () {
      const stocks = yield* engine.query("stock", ({ configuration, accounts, tornDown }) =>
        tornDown
          ? undefined
          : new Set([...configuration.takers.map((taker) => taker.distributionId), ...accounts.keys()])
      )
      yield* Effect.forEach(
        stocks,
        ({ mechanism, answer }) =>
          carry(mechanism, settled.others(mechanism, answer)).pipe(inTimeOf(clocks, mechanism.tenant), Effect.ignore),
        { discard: true }
      )
    })
    yield* start({ round, pauseMillis, failureMessage: "Units of stocks could not be carried" })
  })
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
