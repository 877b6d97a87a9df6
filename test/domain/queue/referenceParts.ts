/** Parts of the queue's reference: its places, its pace, and what it drafts. */
import type { Event } from "../../../src/domain/queue/Queue.ts"

export interface Standing {
  consumerId: string
  status: "QUEUED" | "GRANTED" | "COMPLETED" | "DENIED" | "LEFT"
  enteredAt: number
  since: number
  order: number
  expiresAt: number
  /** When the token of its grant expires. */
  tokenExpiresAt: number
  sequence: number
  /** When its expiry was set last, as a number of events. */
  listed: number
  reason: string
  /** 0 in the lobby. */
  ticket: number
  joined: number
}

/** After an event: its instant, the settings of the pace, and whether the rate had a consumer to admit. */
export interface Span {
  readonly at: number
  readonly admitRate: number
  readonly standby: boolean
  readonly burst: number
  readonly admissible: boolean
}

export type Draft = { readonly _tag: Event["_tag"]; readonly [name: string]: unknown }

/** The event of a grant that expires. It names the grant if its token lasts longer. */
export const expiryOf = (first: Standing | undefined, lastAt: number): Draft => {
  const { consumerId, sequence, expiresAt, tokenExpiresAt } = first ?? ({} as Partial<Standing>)
  const isNamed = tokenExpiresAt! > Math.max(lastAt, expiresAt!)
  return { _tag: "Expired", consumerId, ...(isNamed && { grant: { sequence, expiresAt: tokenExpiresAt } }) }
}

/** When the pace allows the next admission: the admissions in advance must be fewer than the burst. */
export const pacedAt = (events: ReadonlyArray<Event>, spans: ReadonlyArray<Span>): number => {
  let anchor = -Infinity
  let count = 0
  let last = -Infinity
  const instant = (number: number, admitRate: number) =>
    count === 0 ? -Infinity : anchor + Math.ceil((number * 60_000) / admitRate)
  events.forEach((event, index) => {
    const { admitRate } = spans[index]!
    const before = spans[index - 1] ?? spans[index]!
    if (admitRate !== before.admitRate && count > 0) {
      let inAdvance = 1
      while (before.standby && (count - inAdvance) * 60_000 > (last - anchor) * before.admitRate) inAdvance++
      anchor = last
      count = inAdvance
    }
    if (event._tag !== "Granted" || event.by !== undefined) return
    // None is left from before: the burst is whole again.
    if (event.at > instant(count, admitRate)) {
      anchor = event.at
      count = 0
    }
    count++
    last = event.at
  })
  const { admitRate, burst } = spans.at(-1)!
  return instant(count + 1 - burst, admitRate)
}
