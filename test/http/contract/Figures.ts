/** What a run has seen: how many requests of each sort, what they were answered, and what was not as declared. */
import type { Answer } from "../support/usherFixture.ts"
import type { Wire } from "./wire.ts"

/** Right as declared; wrong in one way; damaged. */
export type Sort = "valid" | "invalid" | "mutated"

/** A request with its answer, and what it was meant to be. */
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
  /** Operations of which nothing can be invalid: they take nothing. */
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

  /** Requests of this sort, or those with this status alone. */
  count(sort: Sort, status?: number): number {
    return this.counts.get(status === undefined ? sort : `${sort} ${status}`) ?? 0
  }

  /** How often each status was answered, as text. */
  statuses(sort: Sort): string {
    return [...this.counts]
      .filter(([name]) => name.startsWith(`${sort} `))
      .map(([name, count]) => `${name.slice(sort.length + 1)}: ${count}`)
      .toSorted()
      .join(", ")
  }

  /** The first of its kind of each operation is told, with all that is needed to repeat it. */
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

/** Bytes that are no text are told as they are. */
const bodyText = (body: string | Buffer): string =>
  typeof body === "string" ? body : `bytes ${body.toString("hex")} (${body.toString("latin1")})`
