/**
 * Tells stocks what they have yet to learn of orders, and variants how many units their stocks have that are not sold. A
 * message is told at least once; a stock takes it once.
 */
import { Effect, Layer } from "effect"
import { unsold } from "../domain/stock/State.ts"
import { Engine } from "../engine/Engine.ts"
import { type StockMessage, StockMessages } from "../store/stock/StockMessages.ts"
import { Stocks } from "../store/stock/Stocks.ts"
import { inTimeOf, TestClocks } from "../store/testClock/TestClocks.ts"
import { orElseLogged, start } from "./WorkerLoop.ts"

/** Pause between rounds of messages. */
const pauseMillis = 250

/** How often the number of a stock's variants is written at most. It has an entry in the audit log. */
const showMillis = 1_000

/** Rounds for which the written numbers are remembered. */
const roundsRemembered = 30

/** Starts the fibers of this process. */
export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    yield* start({ round: yield* makeTell, pauseMillis, failureMessage: "Stocks could not be told of orders" })
    yield* start({
      round: yield* makeShow,
      pauseMillis: showMillis,
      failureMessage: "The inventory of variants could not be written"
    })
  })
)

/** Makes the round that tells stocks of orders. Returns true if there is more to tell. */
const makeTell = Effect.gen(function* () {
  const engine = yield* Engine
  const messages = yield* StockMessages
  const clocks = yield* TestClocks

  const tell = ({ tenant, stockId, id: orderId, units }: StockMessage) =>
    engine
      .sendAdmin(
        { kind: "stock", id: stockId, tenant, includesArchived: true },
        units === null ? { _tag: "UndoOrder", orderId } : { _tag: "CancelOrder", orderId, units }
      )
      .pipe(
        Effect.as(true),
        Effect.catchTag("MechanismNotFound", () => Effect.succeed(true)),
        inTimeOf(clocks, tenant),
        orElseLogged("A stock could not be told of an order", false)
      )
  return messages.deliver(tell)
})

/** Makes the round that shows variants the number of their stock. */
const makeShow = Effect.gen(function* () {
  const engine = yield* Engine
  const stocks = yield* Stocks
  const shown = new Map<string, number>()
  let rounds = 0
  return Effect.gen(function* () {
    // Another process may have had the stock meanwhile, or a variant may have been restored.
    if (rounds++ % roundsRemembered === 0) shown.clear()
    const numbers = yield* engine.query("stock", (state) => (state.archived ? undefined : unsold(state)))
    for (const { mechanism, answer } of numbers) {
      if (shown.get(mechanism.id) === answer) continue
      yield* stocks.show(mechanism.tenant, mechanism.id, answer)
      shown.set(mechanism.id, answer)
    }
  })
})
