/** Counts a run by seconds, and by kinds of mechanisms. */
import type { Kind } from "../domain/mechanism/Mechanism.ts"
import { Latencies } from "./Latencies.ts"
import { emptySecond, latencyOf, type Report, type Second } from "./Report.ts"

type Counted = "due" | "entered" | "granted" | "completed" | "errors"

/** The answers of the mechanism of one kind. */
class KindTally {
  /** The position in the answer to each entry; undefined if there was none. */
  readonly positions = new Map<string, number | undefined>()
  readonly granted = new Set<string>()
  readonly latencies = new Latencies()
  /** Entries that lost against another one, such as a bid that was too low when it came. They are no errors. */
  refused = 0
}

export class Tally {
  private readonly kinds = new Map<Kind, KindTally>()
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

  of(kind: Kind): KindTally {
    const found = this.kinds.get(kind) ?? new KindTally()
    this.kinds.set(kind, found)
    return found
  }

  /** Counts an entry that was answered so long after its consumer was due. */
  enter(kind: Kind, consumerId: string, position: number | undefined, milliseconds: number, at: number): void {
    const own = this.of(kind)
    own.positions.set(consumerId, position)
    own.latencies.add(milliseconds)
    this.count("entered", at)
    this.all.add(milliseconds)
    this.latencies[this.rows.length - 1]!.add(milliseconds)
  }

  refuse(kind: Kind): void {
    this.of(kind).refused++
  }

  grant(kind: Kind, consumerId: string, at: number): void {
    this.of(kind).granted.add(consumerId)
    this.count("granted", at)
  }

  /** Notes how late this tool itself was. */
  late(milliseconds: number, at: number): void {
    const row = this.row(at)
    row.lag = Math.max(row.lag, milliseconds)
  }

  /** The last second that is over. */
  get lastSecond(): Second {
    return this.rows.at(-2) ?? emptySecond
  }

  get total(): (what: Counted) => number {
    return (what) => this.rows.reduce((sum, row) => sum + row[what], 0)
  }

  figures(): Pick<Report, "seconds" | "totals" | "kinds" | "latency" | "latencies" | "lagMax"> {
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
      kinds: [...this.kinds].map(([kind, { positions, granted, refused, latencies }]) => ({
        kind,
        entered: positions.size,
        refused,
        granted: granted.size,
        latency: latencyOf(latencies),
        latencies: latencies.toCounts()
      })),
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
