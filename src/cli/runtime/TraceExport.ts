/**
 * Sends spans to a collector over OTLP, as the standard `OTEL_*` variables say. Nothing is loaded or watched unless an
 * endpoint is set. The variables that apply are those of Effect's exporter:
 *
 * - `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` or `OTEL_EXPORTER_OTLP_ENDPOINT`, and `…_HEADERS`, `…_COMPRESSION`
 * - `OTEL_EXPORTER_OTLP_PROTOCOL`: `http/protobuf` (default) or `http/json`
 * - `OTEL_EXPORTER_OTLP_TIMEOUT`: milliseconds of one attempt (default: 10,000)
 * - `OTEL_SERVICE_NAME`, `OTEL_RESOURCE_ATTRIBUTES`, `OTEL_BSP_SCHEDULE_DELAY`, `OTEL_BSP_MAX_EXPORT_BATCH_SIZE`
 * - `OTEL_TRACES_EXPORTER=none` and `OTEL_SDK_DISABLED=true` switch it off
 *
 * Four attempts fail before the exporter drops what it holds and rests for a minute. Requests never wait for it.
 */
import { Cause, Config, ConfigProvider, Context, Duration, Effect, Layer, Tracer } from "effect"
import { FetchHttpClient, HttpClient, HttpClientError } from "effect/http"
import { apiVersion } from "../../api/OpenApi.ts"
import { Traces } from "../../measures/Traces.ts"
import { Settings, StartRefused } from "../../settings/Settings.ts"

/** The default of the variable. The exporter itself exports nothing without a name of an exporter. */
const defaults = ConfigProvider.fromUnknown({ OTEL_TRACES_EXPORTER: "otlp", OTEL_SERVICE_NAME: "usher" })

const variables = Config.all({
  endpoint: Config.String("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT").pipe(
    Config.orElse(() => Config.String("OTEL_EXPORTER_OTLP_ENDPOINT")),
    Config.withDefault("")
  ),
  protocol: Config.Literals(["http/protobuf", "http/json"], "OTEL_EXPORTER_OTLP_PROTOCOL").pipe(
    Config.withDefault("http/protobuf" as const)
  ),
  timeout: Config.Int("OTEL_EXPORTER_OTLP_TIMEOUT").pipe(Config.withDefault(10_000))
})

const exporting = Effect.gen(function* () {
  const { endpoint, protocol, timeout } = yield* variables
  if (endpoint === "") return undefined
  const { OtlpSerialization, OtlpTracer } = yield* Effect.promise(() => import("effect/observability"))
  const { nodeName, traceSample: sample } = yield* Settings
  // A collector that accepts a request and never answers would otherwise hold its spans in memory.
  const client = Layer.effect(
    HttpClient.HttpClient,
    Effect.map(
      HttpClient.HttpClient,
      HttpClient.transform((answer, request) =>
        Effect.timeoutOrElse(answer, {
          duration: Duration.millis(timeout),
          orElse: () =>
            Effect.fail(
              new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request }) })
            )
        })
      )
    )
  ).pipe(Layer.provide(FetchHttpClient.layer))
  const built = yield* Layer.build(
    OtlpTracer.layerFromConfig({
      resource: { serviceVersion: apiVersion, attributes: { "service.instance.id": nodeName } }
    }).pipe(
      Layer.provide(protocol === "http/json" ? OtlpSerialization.layerJson : OtlpSerialization.layerProtobuf),
      Layer.provide(client)
    )
  )
  // A layer that is switched off by a variable brings no tracer.
  return built.mapUnsafe.has(Tracer.Tracer.key)
    ? { tracer: Context.get(built as Context.Context<never>, Tracer.Tracer), sample }
    : undefined
})

/** The traces of the process; undefined without an endpoint. */
export const layer = Layer.effect(
  Traces,
  Effect.flatMap(ConfigProvider.ConfigProvider, (provider) =>
    Effect.provideService(exporting, ConfigProvider.ConfigProvider, ConfigProvider.orElse(provider, defaults))
  ).pipe(
    Effect.catchCause((cause) =>
      Effect.fail(new StartRefused({ message: `OTEL_*: the exporter of traces cannot be set up. ${reasonOf(cause)}` }))
    )
  )
).pipe(Layer.provide(Settings.layer))

const reasonOf = (cause: Cause.Cause<unknown>): string =>
  Cause.prettyErrors(cause)
    .map(({ message }) => message.replaceAll(/\s+/g, " "))
    .join(" ")
