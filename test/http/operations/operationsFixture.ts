/** Both APIs with the port for operators, and its series by name and labels. */
import { Context, Effect, Layer } from "effect"
import * as Operations from "../../../src/http/operations/Operations.ts"
import * as Measures from "../../../src/measures/Measures.ts"
import { type Call, layerWith, send } from "../support/usherFixture.ts"

/** The APIs and the port, with measures of their own. */
export const layer = (settings: Parameters<typeof layerWith>[0] = {}) =>
  Operations.layer.pipe(
    Layer.provideMerge(layerWith({ operationsPort: 0, ...settings })),
    Layer.provideMerge(Measures.layer)
  )

/** Sends a request to the port. */
export const ask = (path: string, headers: Call["headers"] = {}) =>
  Effect.flatMap(Operations.OperationsListener, ({ url }) => send(url!, { path, headers }))

/** Returns the value of a series, such as `usher_places{kind="queue",status="QUEUED"}`; 0 if there is none. */
export const valueIn = (text: string, series: string): number => {
  const line = text.split("\n").find((one) => one.startsWith(`${series} `))
  return line === undefined ? 0 : Number(line.slice(series.length + 1))
}

/** Reads series now. */
export const values = (...series: ReadonlyArray<string>) =>
  Effect.map(ask("/metrics"), ({ text }) => series.map((one) => valueIn(text, one)))

/** The service with the port's address. */
export const urlOf = (context: Context.Context<Operations.OperationsListener>) =>
  Context.get(context, Operations.OperationsListener).url
