/** The command line of `npm run bench:lists`. */
import { parseArgs } from "node:util"

export interface Arguments {
  /** The database to fill, or that was filled before; absent: a new one, dropped at the end. */
  readonly database: string | undefined
  readonly consumers: number
  /** How often each case is asked for. */
  readonly requests: number
  /** Only lists whose path contains it. */
  readonly only: string
  /** Of how many cases the plans are shown, the slowest first. */
  readonly plans: number
  /** Where the figures go. */
  readonly json: string
  readonly help: boolean
}

export const help = `Measures every list of the Admin API over HTTP, with a million consumers and a hundred thousand pages.

Usage: npm run bench:lists -- [option …]

It fills a database (some ten minutes), starts a server on it, and asks for each list one request at a time: its first
page, a deep one, one near the end, in each order, with each filter, and searched; and for a live read, and analytics,
over a queue in which a million wait. Then it shows the plans of the slowest.

Options
  --database URL   fill this database and leave it, or use it if it was filled so before
                   (default: a new one on the server at DATABASE_URL, dropped at the end)
  --consumers N    how many                         (default 1000000)
  --requests N     for each case                    (default 100)
  --only TEXT      only paths that contain it, as in --only /consumers
  --plans N        of how many cases to show plans  (default 5)
  --json FILE      write the figures there          (default bench/out/lists.json)
  --help           this text`

const numbers = { consumers: "1000000", requests: "100", plans: "5" }

/** Reads the arguments; the message of the error it throws names what is wrong. */
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
