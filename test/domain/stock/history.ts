/** Histories of a stock. Instants are written as seconds from `start`. */
import type { UnitsReport } from "../../../src/domain/mechanism/UnitProtocol.ts"
import type { Configuration, Taker } from "../../../src/domain/stock/Configuration.ts"
import {
  type Command,
  decider,
  type Event,
  type Facts,
  type Refusal,
  type State
} from "../../../src/domain/stock/Stock.ts"
import { History as Told, noEntropy } from "../mechanism/support/History.ts"

export const start = Date.parse("2026-11-21T18:00:00.000Z")

/** The instant `seconds` after the start. */
export const at = (seconds: number): number => Math.round(start + seconds * 1000)

export const stockId = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"
export const variantId = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5b"

export const configuration = (settings: Partial<Configuration> = {}): Configuration => ({
  name: "Sneakers",
  variantIds: [variantId],
  takers: [],
  returnsCancelled: true,
  ...settings
})

export const configure = (settings: Partial<Configuration>): Command => ({
  _tag: "Configure",
  configuration: configuration(settings),
  by: "admin"
})

export class History extends Told<State, Command, Event, Refusal, undefined> {
  constructor() {
    super(decider, { start, unitMillis: 1_000, entropy: noEntropy })
  }

  facts(): Facts {
    return decider.facts!(this.state, this.state.lastAt)
  }
}

/** Returns a stock of so many units with these takers. */
export const given = (
  units: number,
  takers: ReadonlyArray<Taker> = [],
  settings: Partial<Configuration> = {}
): History => {
  const history = new History()
  history.when(0, configure({ ...settings, takers }))
  history.when(0, adjust(units, "DELIVERED"))
  return history
}

export const adjust = (units: number, reason: "DELIVERED" | "DAMAGED" = "DELIVERED"): Command => ({
  _tag: "Adjust",
  units,
  reason,
  by: "admin"
})

/** What an open queue without units and people says, except for the fields given. */
export const report = (fields: Partial<UnitsReport> = {}): UnitsReport => ({
  stockId,
  units: 0,
  held: 0,
  sold: 0,
  needed: 0,
  isOpen: true,
  isShelf: false,
  came: 0,
  isOver: false,
  ...fields
})

export const settle = (reports: { readonly [distributionId: string]: UnitsReport | "gone" }): Command => ({
  _tag: "Settle",
  reports: new Map(Object.entries(reports))
})
