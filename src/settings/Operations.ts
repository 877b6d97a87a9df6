/** The settings of the port for operators: series, probes, version. */
import { Option } from "effect"
import { isLoopback } from "./Loopback.ts"
import { type Definition, fraction, port, secret, text } from "./Shapes.ts"

const operationsPort: Definition<number | undefined> = {
  ...port("OPERATIONS_PORT", 0, "Where `/metrics`, `/live`, `/ready` and `/version` listen. 0 takes any free port."),
  default: "none: nothing listens",
  fallback: undefined
}

export const operationsDefinitions = {
  operationsPort,
  operationsHost: text("OPERATIONS_HOST", {
    unit: "address",
    shape: "an IP address or host name",
    pattern: /^[\w.:-]+$/,
    fallback: "127.0.0.1",
    meaning:
      "The address on which `OPERATIONS_PORT` listens. Beyond loopback it needs `OPERATIONS_TOKEN`, and uses the " +
      "certificate of the APIs, if there is one."
  }),
  traceSample: fraction("TRACE_SAMPLE", {
    fallback: 0.01,
    least: 0,
    meaning:
      "The share of requests that are traced, if `OTEL_EXPORTER_OTLP_ENDPOINT` or `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` is set. " +
      "A `traceparent` of a trusted proxy decides instead for its own request."
  }),
  operationsToken: secret("OPERATIONS_TOKEN", {
    meaning: "The bearer token that `OPERATIONS_PORT` requires, except at `/live`."
  })
}

/** Returns a complaint if other machines could read the series without a token. */
export const openWithoutToken = (values: {
  readonly operationsPort: number | undefined
  readonly operationsHost: string
  readonly operationsToken: Option.Option<unknown>
}): ReadonlyArray<string> =>
  values.operationsPort === undefined || isLoopback(values.operationsHost) || Option.isSome(values.operationsToken)
    ? []
    : [
        `OPERATIONS_HOST is ${values.operationsHost}, which other machines reach, and needs OPERATIONS_TOKEN. ` +
          "Set it, for example to the output of openssl rand -hex 32, or set OPERATIONS_HOST to 127.0.0.1."
      ]
