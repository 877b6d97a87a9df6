/** The command line of `npm run bench:lists`. */
import { parseArgs } from "node:util"

export interface Arguments {
  /** The database to use; filled if it is empty. Default: a new one, dropped at the end. */
  readonly database: string | undefined
  readonly consumers: number
  /** Requests for each case. */
  readonly requests: number
  /** Measures only lists whose path contains this text. */
  readonly only: string
  /** The number of cases, slowest first, whose plans are printed. */
  readonly plans: number
  /** The path of the JSON file with the figures. */
  readonly json: string
  readonly help: boolean
}

export const help = `Measures every list of the Admin API over HTTP, with a million consumers and a hundred thousand pages.

Usage: npm run bench:lists -- [option …]

It fills a database (about ten minutes), starts a server on it and requests each list, one request at a time: its first
page, a deep page and one near the end, in each order, with each filter, and searched. It also measures a live read and
analytics over a queue with a million waiting. Then it prints the plans of the slowest cases.

Options
  --database URL   fill this database and keep it, or reuse it if an earlier run filled it
                   (default: a new one on the server at DATABASE_URL, dropped at the end)
  --consumers N    consumers in the database         (default 1000000)
  --requests N     requests for each case            (default 100)
  --only TEXT      only paths that contain this text, as in --only /consumers
  --plans N        cases whose plans are printed     (default 5)
  --json FILE      the file for the figures          (default bench/out/lists.json)
  --help           this text`

const numbers = { consumers: "1000000", requests: "100", plans: "5" }

/** Parses the arguments. Throws an error whose message names the invalid argument. */
export function parseArguments(given: ReadonlyArray<string>): Arguments {
  const { values } = parseArgs({
    args: [...given],
    options: {
      database: { type: "string" },
      consumers: { type: "string", default: numbers.consumers },
      requests: { type: "string", default: numbers.requests },
      only: { type: "string", default: "" },
      plans: { type: "string", default: numbers.plans },
      json: { type: "string", default: "bench/out/lists.json" },
      help: { type: "boolean", short: "h", default: false }
    }
  })
  const whole = (name: keyof typeof numbers): number => {
    if (/^\d{1,8}$/.test(values[name]) && (name === "plans" || Number(values[name]) > 0)) return Number(values[name])
    throw new Error(`--${name} must be a whole number, not ${values[name]}`)
  }
  return {
    database: values.database,
    consumers: whole("consumers"),
    requests: whole("requests"),
    only: values.only,
    plans: whole("plans"),
    json: values.json,
    help: values.help
  }
}
