/**
 * The results of a run: the number of requests of each sort, the statuses of their responses, and all violations of the
 * declarations.
 */
import type { Answer } from "../support/usherFixture.ts"
import type { Wire } from "./wire.ts"

/** Matching the declaration; with one broken constraint; damaged. */
export type Sort = "valid" | "invalid" | "mutated"

/** A request with its response, its sort and its description. */
export interface Exchange {
  readonly operation: string
  readonly sort: Sort
  readonly what: string
  readonly wire: Wire
  readonly answer: Answer
}

const shownMax = 1_500

export class Figures {
  readonly violations: Array<string> = []
  /** Operations without invalid requests, because they have no input. */
  readonly unbreakable = new Set<string>()
  private readonly counts = new Map<string, number>()
  private readonly reasons = new Set<string>()
  private readonly seed: number

  constructor(seed: number) {
    this.seed = seed
  }

  note({ sort, answer }: Exchange): void {
    this.add(sort)
    this.add(`${sort} ${answer.status}`)
  }

  /** Returns the number of requests of this sort, or of those with this status. */
  count(sort: Sort, status?: number): number {
    return this.counts.get(status === undefined ? sort : `${sort} ${status}`) ?? 0
  }

  /** Returns the number of responses with each status, as text. */
  statuses(sort: Sort): string {
    return [...this.counts]
      .filter(([name]) => name.startsWith(`${sort} `))
      .map(([name, count]) => `${name.slice(sort.length + 1)}: ${count}`)
      .toSorted()
      .join(", ")
  }

  /** Reports a violation with the data to repeat it. Reports each kind once per operation. */
  violated(exchange: Exchange, reason: string): void {
    const kind = `${exchange.operation} ${exchange.sort} ${reason.slice(0, 80)}`
    if (this.reasons.has(kind)) return
    this.reasons.add(kind)
    const { wire, answer } = exchange
    this.violations.push(
      [
        `seed ${this.seed}, ${exchange.operation}, ${exchange.sort} (${exchange.what}): ${reason}`,
        `    > ${wire.method} ${short(wire.path)} ${short(JSON.stringify(wire.headers))}`,
        ...(wire.body === undefined ? [] : [`    > ${short(bodyText(wire.body))}`]),
        `    < ${answer.status} ${short(answer.text)}`
      ].join("\n")
    )
  }

  private add(name: string): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + 1)
  }
}

const short = (text: string): string => (text.length <= shownMax ? text : `${text.slice(0, shownMax)}…`)

/** Bytes that are not text are printed as hexadecimal digits too. */
const bodyText = (body: string | Buffer): string =>
  typeof body === "string" ? body : `bytes ${body.toString("hex")} (${body.toString("latin1")})`
