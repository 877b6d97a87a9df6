/**
 * Reads one snapshot of a stock, its mechanisms and its orders from the database, and says where each unit is. It replays
 * the journals, and believes no projection.
 */
import { Effect, Result } from "effect"
import type { Event } from "../../../src/domain/mechanism/Decider.ts"
import { actorDeciders, type Kind } from "../../../src/domain/mechanism/Mechanism.ts"
import type { UnitsReport } from "../../../src/domain/mechanism/UnitProtocol.ts"
import { decider as stockDecider, type State } from "../../../src/domain/stock/Stock.ts"
import type { AnyDecider } from "../../../src/engine/actor/Batch.ts"
import * as JournalCodec from "../../../src/store/journal/JournalCodec.ts"
import * as FreshDatabase from "../support/FreshDatabase.ts"

/** What a snapshot shows. */
export interface Reading {
  readonly onHand: number
  /** Units of orders that are not cancelled. */
  readonly ordered: number
  readonly underway: number
  readonly violations: ReadonlyArray<string>
}

interface Row {
  readonly mechanismId: string
  readonly type: string
  readonly at: Date
  readonly consumerId: string | null
  readonly data: JournalCodec.OwnFields | null
}

interface Message {
  readonly id: string
  readonly units: number | null
}

const codecs = JournalCodec.codecs(actorDeciders)

const snapshot = (url: string, ids: ReadonlyArray<string>, stockId: string) =>
  FreshDatabase.query(url, (sql) =>
    sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`set transaction isolation level repeatable read, read only`
        const rows = yield* sql<Row>`
          select mechanism_id as "mechanismId", type, at, consumer_id as "consumerId", data from journal
          where mechanism_id in ${sql.in(ids)} order by mechanism_id, sequence`
        const messages = yield* sql<Message>`select id, units from stock_messages where stock_id = ${stockId}`
        const orders = yield* sql<{ readonly units: number }>`
          select coalesce(sum((stock_units ->> ${stockId}::text)::int), 0)::int as units from orders
          where status <> 'CANCELLED' and stock_units ? ${stockId}`
        return { rows, messages, ordered: orders[0]!.units }
      })
    )
  )

/** Reads the stock. While it is read, no client may have a request under way. */
export async function readStock(
  url: string,
  stockId: string,
  kinds: { readonly [mechanismId: string]: Kind }
): Promise<Reading> {
  const { rows, messages, ordered } = await snapshot(url, [stockId, ...Object.keys(kinds)], stockId)
  const violations: Array<string> = []
  const eventsOf = (id: string, kind: Kind | "stock") =>
    rows
      .filter(({ mechanismId }) => mechanismId === id)
      .map(({ type, at, consumerId, data }) =>
        Result.getOrThrow(codecs(kind)!.decode({ type, at: at.getTime(), consumerId, data }))
      )
  const events = eventsOf(stockId, "stock")
  const state = replayed<State>(stockDecider, events, ({ free }) => {
    if (free < 0) violations.push(`the stock has ${free} free units`)
  })
  const reports = Object.entries(kinds).map(([id, kind]) => {
    const decider: AnyDecider = actorDeciders[kind]
    const report = decider.units!(
      replayed(decider, eventsOf(id, kind), (state) => {
        const { held, units } = decider.units!(state)!
        if (held > units) violations.push(`${kind} ${id} has promised ${held} of ${units} units`)
      })
    )!
    return [id, report] as const
  })
  const { underway, ofMechanisms } = unitsOf(state, reports)
  const { onHand, free, soldByOrders } = state
  const all = free + underway + ofMechanisms + soldByOrders
  if (all !== onHand) violations.push(`${all} units of ${onHand}: some were lost or doubled`)
  const sold = soldByOrders + reports.reduce((sum, [, report]) => sum + report.sold, 0)
  const known = ordered + unknownTo(state, messages)
  if (sold !== known) violations.push(`${sold} units are sold, and orders have ${known}`)
  if (ordered > onHand) violations.push(`${ordered} units were sold of ${onHand}`)
  return { onHand, ordered, underway, violations }
}

/** Applies events, and looks at the state after each. */
const replayed = <S>(decider: AnyDecider, events: ReadonlyArray<Event>, look: (state: S) => void): S => {
  const state = decider.initial() as S
  for (const event of events) {
    decider.evolve(state, event)
    look(state)
  }
  return state
}

/** Units in mechanisms, sold there or not, and those that left one side and that the other has not taken. */
const unitsOf = ({ accounts }: State, reports: ReadonlyArray<readonly [string, UnitsReport]>) => {
  let [underway, ofMechanisms] = [0, 0]
  for (const [id, { units, sold, came, leaving }] of reports) {
    const account = accounts.get(id)
    if (account?.underway !== undefined && account.underway.transfer > came) underway += account.underway.units
    if (leaving !== undefined && leaving.transfer > (account?.taken ?? 0)) underway += leaving.units
    ofMechanisms += units + sold
  }
  return { underway, ofMechanisms }
}

/** Units that the stock takes for sold, because it has yet to learn that their order was cancelled or not written. */
const unknownTo = ({ orders, cancelled }: State, messages: ReadonlyArray<Message>): number =>
  messages.reduce((sum, { id, units }) => sum + (cancelled.has(id) ? 0 : (units ?? orders.get(id) ?? 0)), 0)
