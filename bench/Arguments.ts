/** The command line of the bench. */

export const scenarioIds = [
  "P1",
  "P2",
  "P3",
  "P4",
  "P5",
  "P6",
  "P7",
  "P8",
  "P9",
  "P10",
  "P15",
  "P16",
  "P17",
  "P18",
  "P19",
  "P20",
  "P21",
  "W1",
  "C1"
] as const
export type ScenarioId = (typeof scenarioIds)[number]

const idleMax = 20_000

/** The scenarios whose every request goes to the consumer port. */
const overTls: ReadonlySet<ScenarioId> = new Set(["P1", "P3", "P10"])

const defaultPrograms = ["usher", "fastify-postgres", "fastify-postgres-tuned", "fastify-redis", "noop"] as const
export const programNames = [...defaultPrograms, "dbos", "pg-boss"] as const
export type ProgramName = (typeof programNames)[number]

export interface Arguments {
  readonly scenarios: ReadonlyArray<ScenarioId>
  readonly programs: ReadonlyArray<ProgramName>
  /** The path of the JSON file with the figures. */
  readonly json: string
  /** The path of the SVG picture. */
  readonly svg: string
  /** Runs fewer and shorter measurements: a smoke test. */
  readonly quick: boolean
  /** Whether to draw how the cost grows with queue length and connections. */
  readonly curves: boolean
  /** Whether each entry is the first request with its token. Otherwise each consumer first reads its status once. */
  readonly unseenTokens: boolean
  /** Whether each request has the headers of a browser on a page of another origin. */
  readonly browser: boolean
  /** Whether the programs serve HTTPS. */
  readonly tls: boolean
  /** Further connections that are open during a run and rarely used. */
  readonly idleConnections: number
  /** Runs of each program. Default: 5, or 1 with `quick`. */
  readonly rounds?: number
  readonly help: boolean
}

export const help = `Measures Usher against the usual alternatives, in turns, on this machine.

Usage: npm run bench -- [scenario …] [option …]

Scenarios (default: all)
  P1   durable queue entries a second, new consumers, 256 and 1,024 connections
  P2   entries at half of that, open loop: latency
  P3   status reads a second, and the SQL statements they cost
  P4   one queue of a million waiting: entries, heap, positions, restart
  P5   10,000 live streams: memory, and the delay until each one receives its new position
  P6   a draw of a million entries: its duration, and its effect on other requests
  P7   bids a second on one auction, compared with entries into a queue
  P8   10,000 queues on one process: idle cost, heap, entries spread over the queues
  P9   two and three nodes on one database, compared with one: entries, and the cost of another node
  P10  the arrival of a new consumer: session, entry, status
  P15  one queue behind one and two fronts: the processor time of its owner and of the fronts, reads at the owner
  P16  usher serve --processes 1, 2 and 3, and what machines with more cores take
  P17  the journal alone: commits of 128 and of 1,000 entries
  P18  entries and streams while 1,000 rooms and 20 control rooms are open
  P19  entries and bids of mechanisms that sell from a stock, and of others
  P20  the delay until a unit of a lapsed grant is offered to somebody else
  P21  entries and status reads of live mode while test mode has a test clock
  W1   webhooks: entries with ten subscribed and with none, the lag of an event, catching up
  C1   the cost of credentials and limits per entry: noop with and without them, and usher

Options
  --json FILE      the file for the figures         (default bench/out/bench.json)
  --svg FILE       the file for the picture         (default bench/out/bench.svg)
  --programs LIST  only these, separated by commas  (default ${defaultPrograms.join(",")})
                   also: dbos, pg-boss
  --rounds N       runs of each program, 1 to 99    (default 5)
  --unseen-tokens  each entry is the first request with its token, so it costs a signature check;
                   by default each consumer reads its status once before, and all programs cache tokens
  --browser        each request has the headers of a browser on a page of another origin
  --tls            the programs serve HTTPS, each with one process; for P1, P3 and P10
  --idle N         N further connections are open and rarely used, at most 20000  (default 0)
  --no-curves      leave out growth over queue length and connections
  --quick          one short run of each program: a smoke test
  --help           this text

Postgres is the server at DATABASE_URL, else the embedded one; Redis is a redis-server on the path, else REDIS_URL.

Example: npm run bench -- P1 P3 --json figures.json`

/** Parses the arguments. Throws an error whose message names the invalid argument and the accepted values. */
export function parseArguments(given: ReadonlyArray<string>): Arguments {
  const scenarios = new Set<ScenarioId>()
  const values = {
    json: "bench/out/bench.json",
    svg: "bench/out/bench.svg",
    programs: defaultPrograms.join(","),
    rounds: "",
    idle: "0"
  }
  const flags = { quick: false, help: false, "no-curves": false, "unseen-tokens": false, browser: false, tls: false }
  for (let index = 0; index < given.length; index++) {
    const argument = given[index]!
    if (!argument.startsWith("-")) {
      scenarios.add(oneOf("scenario", scenarioIds, argument.toUpperCase()))
      continue
    }
    const [name, attached] = splitOption(argument)
    if (name in flags && attached === undefined) {
      flags[name as keyof typeof flags] = true
    } else if (name in values) {
      const value = attached ?? given[++index]
      if (value === undefined || value === "")
        throw new Error(`--${name} needs a value, as in --${name} ${exampleOf(name)}`)
      values[name as keyof typeof values] = value
    } else {
      throw new Error(`Unknown option ${argument}; --help lists the options`)
    }
  }
  const programs = new Set(values.programs.split(",").map((name) => oneOf("program", programNames, name.trim())))
  if (values.rounds !== "" && !/^[1-9]\d?$/.test(values.rounds)) {
    throw new Error(`--rounds must be a whole number from 1 to 99, not ${values.rounds}`)
  }
  if (!/^\d{1,5}$/.test(values.idle) || Number(values.idle) > idleMax) {
    throw new Error(`--idle must be a whole number from 0 to ${idleMax}, not ${values.idle}`)
  }
  const chosen = scenarioIds.filter((id) => scenarios.size === 0 || scenarios.has(id))
  const plain = chosen.find((id) => !overTls.has(id))
  if (flags.tls && plain !== undefined) throw new Error(`--tls is for ${[...overTls].join(", ")}, not for ${plain}`)
  return {
    scenarios: chosen,
    programs: programNames.filter((name) => programs.has(name)),
    json: values.json,
    svg: values.svg,
    quick: flags.quick,
    curves: !flags["no-curves"],
    unseenTokens: flags["unseen-tokens"],
    browser: flags.browser,
    tls: flags.tls,
    idleConnections: Number(values.idle),
    help: flags.help,
    ...(values.rounds === "" ? {} : { rounds: Number(values.rounds) })
  }
}

function splitOption(argument: string): readonly [string, string | undefined] {
  if (argument === "-h") return ["help", undefined]
  const equals = argument.indexOf("=")
  const name = argument.slice(2, equals < 0 ? undefined : equals)
  return [argument.startsWith("--") ? name : argument, equals < 0 ? undefined : argument.slice(equals + 1)]
}

function oneOf<const A extends string>(what: string, known: ReadonlyArray<A>, value: string): A {
  const found = known.find((candidate) => candidate === value)
  if (found === undefined) throw new Error(`Unknown ${what} "${value}"; known are ${known.join(", ")}`)
  return found
}

function exampleOf(name: string): string {
  return { json: "figures.json", svg: "picture.svg", programs: "usher,noop", rounds: "5", idle: "10000" }[name] ?? "…"
}
