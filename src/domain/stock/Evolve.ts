/** How each event changes a stock. An event is a fact: nothing is checked here. */
import { evolveLifecycle } from "../mechanism/Lifecycle.ts"
import { setConfiguration } from "../mechanism/State.ts"
import type { Event } from "./Event.ts"
import { type Account, newAccount, type State } from "./State.ts"

export const apply = (state: State, event: Event): void => {
  switch (event._tag) {
    case "Configured":
      return setConfiguration(state, event.configuration)
    case "Adjusted":
      state.onHand += event.units
      state.free += event.units
      state.adjustedFor = event.reason
      return
    case "LevelChanged":
      state.level = event.level
      return
    case "UnitsLeft":
    case "UnitsTaken":
    case "UnitsRecalled":
    case "UnitsCame":
    case "SalesNoted":
      return change(state, accountOf(state, event.distributionId), event)
    case "OrderCounted":
      state.orders.set(event.orderId, event.units)
      state.free -= event.units
      state.soldByOrders += event.units
      return
    case "OrderCancelled":
      state.cancelled.add(event.orderId)
      state.free += event.units
      state.soldByOrders -= event.units
      return
    default:
      return evolveLifecycle(state, event)
  }
}

const change = (state: State, account: Account, event: Extract<Event, { readonly distributionId: string }>): void => {
  switch (event._tag) {
    case "UnitsLeft":
      state.free -= event.units
      account.sent = event.transfer
      account.underway = { transfer: event.transfer, units: event.units }
      return
    case "UnitsTaken":
      account.allocated += account.underway?.units ?? 0
      account.underway = undefined
      return
    case "UnitsRecalled":
      state.free += account.underway?.units ?? 0
      account.underway = undefined
      return
    case "UnitsCame":
      account.allocated -= event.units
      account.taken = event.transfer
      state.free += event.units
      return
    case "SalesNoted":
      account.allocated -= event.sold - account.sold
      state.soldByMechanisms += event.sold - account.sold
      account.sold = event.sold
  }
}

const accountOf = ({ accounts }: State, distributionId: string): Account => {
  const known = accounts.get(distributionId)
  if (known !== undefined) return known
  const account = newAccount()
  accounts.set(distributionId, account)
  return account
}
