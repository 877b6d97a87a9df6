/** `usher load`: consumers against a deployment's test mode, and `usher load merge`, which adds the parts of one run. */
import { Config, Console, Data, Effect, FileSystem, Option, Redacted, Runtime } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { arrivalShape, parseArrival, parsePart } from "../load/Arrivals.ts"
import { type Mix, mixShape, parseMix } from "../load/Mix.ts"
import { pageOf } from "../load/Page.ts"
import {
  type Condition,
  conditionShape,
  decodeReport,
  failuresOf,
  mergeReports,
  parseConditions,
  type Report
} from "../load/Report.ts"
import { sizingOf } from "../load/Sizing.ts"
import { StartRefused } from "../settings/Settings.ts"
import { withModule } from "./runtime/LazyModule.ts"
import { address, example } from "./runtime/Arguments.ts"

/** The run has ended, and a condition of `--fail-if` held or a proof failed. */
class LoadFailed extends Data.TaggedError("LoadFailed")<{ readonly message: string }> {
  // The command line has printed the message. A log entry with a stack would only hide it.
  override readonly [Runtime.errorReported] = false
}

const parsed = <A>(name: string, described: string, shape: string, parse: (text: string) => A | undefined) =>
  Flag.String(name).pipe(
    Flag.withDescription(described),
    Flag.filter(
      (text) => parse(text) !== undefined,
      () => shape
    ),
    Flag.map((text) => ({ text, value: parse(text)! }))
  )

const whole = (name: string, described: string, bounds: readonly [number, number], fallback: number) =>
  Flag.Int(name).pipe(
    Flag.withDescription(described),
    Flag.filter(
      (value) => value >= bounds[0] && value <= bounds[1],
      () => `a whole number from ${bounds[0]} to ${bounds[1]}`
    ),
    Flag.withDefault(fallback)
  )

const failIf = parsed(
  "fail-if",
  "End with code 1 if one of these conditions holds, such as p99>250ms,errors>0.1%",
  conditionShape,
  parseConditions
).pipe(Flag.optional)

const output = {
  json: Flag.String("json").pipe(Flag.withDescription("Write the figures to this file"), Flag.optional),
  html: Flag.String("html").pipe(Flag.withDescription("Write a page with plots to this file"), Flag.optional),
  failIf
}

const options = {
  url: address("url", "The Consumer API's address"),
  adminUrl: address("admin-url", "The Admin API's address"),
  consumers: whole("consumers", "How many consumers arrive, in all parts together", [1, 1_000_000], 1_000),
  arrival: parsed("arrival", `The pattern of arrivals: ${arrivalShape}`, arrivalShape, parseArrival),
  watch: Flag.Literals("watch", ["stream", "poll"]).pipe(
    Flag.withDescription("How each consumer follows its place: on a live stream, or by asking once a second"),
    Flag.withDefault("poll")
  ),
  mix: parsed("mix", `The kinds that consumers enter, by weight: ${mixShape}`, mixShape, parseMix).pipe(
    Flag.withDefault({ text: "queue=1", value: [["queue", 1]] as Mix })
  ),
  admitRate: whole("admit-rate", "Admissions a minute", [1, 1_000_000], 60_000),
  connections: whole("connections", "Requests in progress at once", [1, 20_000], 256),
  patience: whole("patience", "Seconds after the last arrival in which consumers may be admitted", [1, 3_600], 60),
  seed: whole("seed", "The same seed gives the same arrivals", [0, 4_294_967_295], 1),
  part: parsed("part", "Which part of several machines this one is", "a part such as 1/4", parsePart).pipe(
    Flag.withDefault({ text: "1/1", value: { part: 1, of: 1 } })
  ),
  metricsUrl: address(
    "metrics-url",
    "The measures of a server, such as http://10.0.0.1:9464/metrics; given once for each server. " +
      "They are read each second, with OPERATIONS_TOKEN from the environment, and the page shows them"
  ).pipe(Flag.between(0, 64)),
  ...output
}

/** The keys are not flags, because other users of the machine see the arguments of a process. */
const keys = Config.all({
  publishableKey: Config.String("PUBLISHABLE_KEY"),
  secretKey: Config.Redacted("SECRET_KEY"),
  operationsToken: Config.option(Config.Redacted("OPERATIONS_TOKEN"))
}).pipe(
  Effect.catchTag("ConfigError", () =>
    Effect.fail(
      new StartRefused({
        message:
          "PUBLISHABLE_KEY and SECRET_KEY have to be in the environment: the keys of test mode, pk_test_… and sk_test_…."
      })
    )
  )
)

const load = Effect.fnUntraced(function* (given: Command.Command.Config.Infer<typeof options>) {
  const { publishableKey, secretKey, operationsToken } = yield* keys
  const {
    arrival,
    part,
    patience: patienceSeconds,
    metricsUrl: metricsUrls,
    mix,
    json,
    html,
    failIf,
    ...others
  } = given
  const report = yield* withModule(
    () => import("./runtime/LoadRun.ts"),
    ({ runLoad }) =>
      runLoad({
        ...others,
        publishableKey,
        secretKey: Redacted.make(Redacted.value(secretKey)),
        arrival: arrival.value,
        arrivalText: arrival.text,
        mix: mix.value,
        mixText: mix.text,
        part: part.value,
        patienceSeconds,
        metricsUrls,
        ...(Option.isSome(operationsToken) && { operationsToken: operationsToken.value })
      })
  )
  yield* finish(report, { json, html, failIf })
})

/** Writes the report, prints its summary, and fails if a condition held. */
const finish = Effect.fnUntraced(function* (
  report: Report,
  { json, html, failIf }: Command.Command.Config.Infer<typeof output>
) {
  const fs = yield* FileSystem.FileSystem
  const conditions: ReadonlyArray<Condition> = Option.match(failIf, { onNone: () => [], onSome: ({ value }) => value })
  const failures = failuresOf(report, conditions)
  const write = (file: Option.Option<string>, text: string) =>
    Option.isNone(file)
      ? Effect.void
      : fs
          .writeFileString(file.value, text)
          .pipe(Effect.mapError(({ message }) => new StartRefused({ message: `${file.value}: ${message}` })))
  yield* write(json, `${JSON.stringify(report, undefined, 1)}\n`)
  yield* write(html, pageOf(report, failures))
  yield* Console.log(summaryOf(report))
  if (failures.length > 0) return yield* new LoadFailed({ message: `The load test failed: ${failures.join("; ")}` })
})

/** A larger delay of this tool makes its latencies doubtful. */
const lagFineMillis = 100

const summaryOf = (report: Report): string => {
  const { totals, kinds = [], latency, proofs, lagMax } = report
  const time = (milliseconds: number | null) => (milliseconds === null ? "–" : `${milliseconds.toFixed(1)} ms`)
  const held = proofs.filter(({ holds }) => holds).length
  return [
    `  Consumers   ${totals.due} due, ${totals.unsent} not sent, ${totals.entered} entered, ${totals.granted} admitted, ${totals.completed} completed`,
    ...(kinds.length < 2
      ? []
      : kinds.map(
          ({ kind, entered, refused, granted, latency }) =>
            `  ${kind.padEnd(13)} ${entered} entered, ${refused} overtaken, ${granted} admitted, p50 ${time(latency.p50)}, p99 ${time(latency.p99)}`
        )),
    `  To enter    p50 ${time(latency.p50)}, p99 ${time(latency.p99)}, max ${time(latency.max)}, from the intended instant`,
    `  Errors      ${totals.errors} of ${totals.requests} requests ${JSON.stringify(totals.errorsBy)}`,
    `  This tool   at most ${time(lagMax)} late${lagMax > lagFineMillis ? ": it is part of these times. Use more machines (--part)" : ""}`,
    `  Proofs      ${held} of ${proofs.length} hold`,
    ...sizingOf(report).map((line, index) => `  ${(index === 0 ? "Sizing" : "").padEnd(11)} ${line}`)
  ].join("\n")
}

const merge = Command.make(
  "merge",
  {
    files: Argument.String("file").pipe(
      Argument.withDescription("The files that `--json` has written"),
      Argument.atLeast(1)
    ),
    ...output
  },
  Effect.fnUntraced(function* ({ files, ...to }) {
    const fs = yield* FileSystem.FileSystem
    const reports = yield* Effect.forEach(files, (file) =>
      Effect.flatMap(fs.readFileString(file), decodeReport).pipe(
        Effect.mapError(() => new StartRefused({ message: `${file} is not a report of usher load.` }))
      )
    )
    yield* finish(mergeReports(reports as unknown as readonly [Report, ...ReadonlyArray<Report>]), to)
  })
).pipe(
  Command.withDescription("Add the reports of the parts of one run"),
  example("usher load merge one.json two.json --html load.html", "The page of both parts")
)

/** The command with its subcommand. */
export const command = Command.make("load", options, load).pipe(
  Command.withDescription(
    "Simulate arrivals in test mode, and report how the deployment performed. PUBLISHABLE_KEY and SECRET_KEY are the " +
      "test keys. The organization needs permission (`usher organizations allow-load`). The command creates its own " +
      "experience, and archives it at the end. It checks that no position and no admission was given twice. It writes its " +
      "report whatever happens. SIGTERM or Ctrl-C ends the arrivals; a second one ends the command at once."
  ),
  Command.withExamples([
    {
      command:
        "PUBLISHABLE_KEY=pk_test_… SECRET_KEY=sk_test_… usher load --url https://drop.example.com --admin-url https://admin.example.com " +
        "--consumers 50000 --arrival herd:10s --watch stream --html load.html --fail-if 'p99>250ms,errors>0.1%'",
      description: "Fifty thousand within ten seconds"
    },
    {
      command:
        "usher load --url http://127.0.0.1:4000 --admin-url http://127.0.0.1:4001 --consumers 5000 --mix queue=60,draw=20,auction=20",
      description: "For several mechanisms at once"
    },
    {
      command:
        "usher load --url http://127.0.0.1:4000 --admin-url http://127.0.0.1:4001 --consumers 2000 --arrival poisson:200/s --part 1/4 --json 1.json",
      description: "The first of four machines"
    }
  ]),
  Command.withSubcommands([merge])
)
