/** Counts a run by seconds. */
import { Latencies } from "./Latencies.ts"
import { emptySecond, latencyOf, type Report, type Second } from "./Report.ts"

type Counted = "due" | "entered" | "granted" | "completed" | "errors"

export class Tally {
  readonly positions = new Map<string, number | undefined>()
  readonly granted = new Set<string>()
  requests = 0
  unsent = 0
  waiting = 0
  private readonly all = new Latencies()
  private readonly errorsBy = new Map<string, number>()
  private readonly rows: Array<{ -readonly [Name in keyof Second]: Second[Name] }> = []
  private readonly latencies: Array<Latencies> = []

  /** Counts something at an instant, in milliseconds after the start. */
  count(what: Counted, at: number): void {
    this.row(at)[what]++
  }

  fail(reason: string, at: number): void {
    this.count("errors", at)
    this.errorsBy.set(reason, (this.errorsBy.get(reason) ?? 0) + 1)
  }

  /** Counts an entry that was answered so long after its consumer was due. */
  enter(milliseconds: number, at: number): void {
    this.count("entered", at)
    this.all.add(milliseconds)
    this.latencies[this.rows.length - 1]!.add(milliseconds)
  }

  /** Notes how late this tool itself was. */
  late(milliseconds: number, at: number): void {
    const row = this.row(at)
    row.lag = Math.max(row.lag, milliseconds)
  }

  /** The present second. It is the last one: time does not go back. */
  get current(): Second {
    return this.rows.at(-1) ?? emptySecond
  }

  get total(): (what: Counted) => number {
    return (what) => this.rows.reduce((sum, row) => sum + row[what], 0)
  }

  figures(): Pick<Report, "seconds" | "totals" | "latency" | "latencies" | "lagMax"> {
    const of = this.total
    return {
      seconds: this.rows.map((row, index) => ({
        ...row,
        p50: this.latencies[index]!.quantile(0.5),
        p99: this.latencies[index]!.quantile(0.99)
      })),
      totals: {
        due: of("due") + this.unsent,
        unsent: this.unsent,
        entered: of("entered"),
        granted: of("granted"),
        completed: of("completed"),
        requests: this.requests,
        errors: of("errors"),
        errorsBy: Object.fromEntries(this.errorsBy)
      },
      latency: latencyOf(this.all),
      latencies: this.all.toCounts(),
      lagMax: Math.max(0, ...this.rows.map(({ lag }) => lag))
    }
  }

  private row(at: number) {
    const second = Math.max(0, Math.floor(at / 1_000))
    while (this.rows.length <= second) {
      this.rows.push({ ...emptySecond })
      this.latencies.push(new Latencies())
    }
    const row = this.rows[second]!
    row.waiting = this.waiting
    return row
  }
}
