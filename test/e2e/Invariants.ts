/**
 * What must hold of any queue's recorded events, whatever happened to the process that wrote them. Reads the events as
 * an outsider would: nothing here is shared with the code under test.
 */

/** A recorded event, as the Admin API lists it; `data` holds what only its type has. */
export interface Recorded {
  readonly sequence: number
  readonly type: string
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly consumerId?: string
  readonly data: { readonly [name: string]: unknown }
}

/** What the invariants need to know of a queue's configuration. */
export interface Rules {
  readonly admitRate: number
  readonly admissionExpirationSeconds?: number
  readonly capacity?: number
  readonly maxAdmissions?: number
  readonly recycleExpiredAdmissions?: boolean
  readonly lobbyOpenAt?: unknown
  readonly openAt?: unknown
  readonly loyaltyBiasEnabled?: boolean
  readonly loyaltyHeadStartSeconds?: number
}

/** A consumer's standing as its events tell it. */
export interface Standing {
  readonly status: "QUEUED" | "GRANTED" | "COMPLETED" | "DENIED" | "LEFT"
  readonly enteredAt: number
  readonly since: number
  readonly reason?: string
}

/** What the events add up to. */
export interface Reading {
  readonly standings: ReadonlyMap<string, Standing>
  /** What must not be, in words, with the sequence where it was seen. */
  readonly violations: ReadonlyArray<string>
  readonly entries: number
  readonly grants: number
  readonly grantsByRate: number
  readonly inversions: number
}

/** Reads the events of one queue in order and notes everything that must not be. */
export function read(history: ReadonlyArray<Recorded>): Reading {
  const reader = new Reader()
  for (const event of history) reader.take(event)
  return reader
}

/**
 * The places that a list shows and the events do not lead to, or the other way round, in words. The list was read after
 * the first `listedAfter` events and before the last; so it may show any state in between.
 */
export function projectionErrors(
  history: ReadonlyArray<Recorded>,
  listedAfter: number,
  places: ReadonlyArray<{ readonly consumerId: string; readonly status: string; readonly enteredAt: string }>
): ReadonlyArray<string> {
  const reader = new Reader()
  for (const event of history.slice(0, listedAfter)) reader.take(event)
  const possible = new Map<string, Array<Standing | undefined>>()
  for (const [consumerId, standing] of reader.standings) possible.set(consumerId, [standing])
  for (const event of history.slice(listedAfter)) {
    reader.take(event)
    const { consumerId } = event
    if (consumerId === undefined) continue
    const standings = possible.get(consumerId) ?? [undefined]
    possible.set(consumerId, [...standings, reader.standings.get(consumerId)])
  }

  const errors: Array<string> = []
  const listed = new Set<string>()
  for (const { consumerId, status, enteredAt } of places) {
    if (listed.has(consumerId)) errors.push(`${consumerId} is listed twice`)
    listed.add(consumerId)
    const standings = possible.get(consumerId) ?? []
    const isPossible = standings.some((one) => one?.status === status && one.enteredAt === Date.parse(enteredAt))
    if (!isPossible) errors.push(`${consumerId} is listed as ${status}, its events say ${standings.at(-1)?.status}`)
  }
  for (const [consumerId, standings] of possible) {
    if (!listed.has(consumerId) && standings[0] !== undefined) errors.push(`${consumerId} has events but is not listed`)
  }
  return errors
}

/** A place in the line, sorted by `key`, then by the sequence of its entry. */
interface Waiting {
  readonly consumerId: string
  readonly key: number
  readonly sequence: number
}

class Reader implements Reading {
  readonly standings = new Map<string, Standing>()
  readonly violations: Array<string> = []
  entries = 0
  grants = 0
  grantsByRate = 0
  inversions = 0
  private rules: Rules = { admitRate: 0 }
  private sequence = 0
  private firstAt = 0
  private lastAt = 0
  private queued = 0
  private returned = 0
  private isOpened = false
  private isClosed = false
  private readonly lobby = new Set<string>()
  private readonly waiting = new Map<string, Waiting>()
  private readonly line: Array<Waiting> = []
  private lineStart = 0
  /** Admissions by rate so far against what the rate allowed up to then, at its lowest; see `pace`. */
  private lowestLead = Infinity
  private paced = 0

  take(event: Recorded): void {
    if (event.sequence !== this.sequence + 1) this.note(event, `follows on ${this.sequence}`)
    if (event.at < this.lastAt) this.note(event, "is earlier than the event before it")
    if (this.sequence === 0) this.firstAt = event.at
    this.sequence = event.sequence
    this.lastAt = event.at
    this.apply(event)
  }

  private apply(event: Recorded): void {
    switch (event.type) {
      case "Configured":
        return this.configure(event.data["configuration"] as Rules)
      case "Opened":
        this.isOpened = true
        break
      case "Closed":
      case "Ended":
        this.isClosed = true
        break
      case "Archived":
        break
      case "TornDown":
        if (this.queued > 0) this.note(event, `leaves ${this.queued} waiting`)
        break
      case "Entered":
        return this.enter(event)
      case "Granted":
        return this.grant(event)
      case "Expired":
        return this.expire(event)
      case "Denied":
        return this.end(event, "DENIED", ["QUEUED", "GRANTED"])
      case "Left":
        return this.end(event, "LEFT", ["QUEUED", "GRANTED"])
      case "Completed":
        return this.end(event, "COMPLETED", ["GRANTED"])
      default:
        this.note(event, "is of no known type")
    }
  }

  private configure(rules: Rules): void {
    if (rules.admitRate !== this.rules.admitRate) this.lowestLead = Infinity
    this.rules = rules
  }

  private enter(event: Recorded): void {
    const before = this.standings.get(event.consumerId!)
    const mayEnter = before === undefined || before.status === "LEFT" || before.reason === "ADMISSION_EXPIRED"
    if (!mayEnter) this.note(event, `comes from ${before.status}`)
    if (this.isClosed) this.note(event, "comes after the closing")
    this.entries += 1
    this.queued += 1
    const { capacity } = this.rules
    if (capacity !== undefined && this.queued > capacity) this.note(event, `makes ${this.queued} wait of ${capacity}`)
    this.standings.set(event.consumerId!, { status: "QUEUED", enteredAt: event.at, since: event.at })
    if (this.isInLobby) this.lobby.add(event.consumerId!)
    else this.join(event)
  }

  private grant(event: Recorded): void {
    const before = this.standings.get(event.consumerId!)
    if (before?.status !== "QUEUED") this.note(event, `comes from ${before?.status ?? "nowhere"}`)
    if (this.isClosed) this.note(event, "comes after the closing")
    this.grants += 1
    const { maxAdmissions, recycleExpiredAdmissions } = this.rules
    const made = this.grants - (recycleExpiredAdmissions === true ? this.returned : 0)
    if (maxAdmissions !== undefined && made > maxAdmissions) this.note(event, `is grant ${made} of ${maxAdmissions}`)
    if (event.data["by"] === undefined) {
      this.grantsByRate += 1
      if (this.isInLobby) this.note(event, "comes before the lobby was opened")
      this.keepOrder(event)
      this.pace(event)
    }
    this.quit(event.consumerId!)
    this.stand(event, "GRANTED")
  }

  private expire(event: Recorded): void {
    const before = this.standings.get(event.consumerId!)
    const { admissionExpirationSeconds } = this.rules
    if (before?.status !== "GRANTED") this.note(event, `comes from ${before?.status ?? "nowhere"}`)
    else if (admissionExpirationSeconds === undefined || event.at < before.since + admissionExpirationSeconds * 1000) {
      this.note(event, "comes before the grant's time is over")
    }
    this.returned += 1
    this.stand(event, "DENIED", "ADMISSION_EXPIRED")
  }

  private end(event: Recorded, status: Standing["status"], from: ReadonlyArray<string>): void {
    const before = this.standings.get(event.consumerId!)
    if (before === undefined || !from.includes(before.status)) {
      this.note(event, `comes from ${before?.status ?? "nowhere"}`)
    }
    const { admissionExpirationSeconds } = this.rules
    const isLate =
      before?.status === "GRANTED" &&
      admissionExpirationSeconds !== undefined &&
      event.at >= before.since + admissionExpirationSeconds * 1000
    if (isLate) this.note(event, "comes after the grant's time was over")
    if (before?.status === "QUEUED") this.quit(event.consumerId!)
    else if (status === "DENIED") this.returned += 1
    this.stand(event, status, event.data["reason"] as string | undefined)
  }

  private stand(event: Recorded, status: Standing["status"], reason?: string): void {
    const enteredAt = this.standings.get(event.consumerId!)?.enteredAt ?? Number.NaN
    const standing = { status, enteredAt, since: event.at }
    this.standings.set(event.consumerId!, reason === undefined ? standing : { ...standing, reason })
  }

  private get isInLobby(): boolean {
    return !this.isOpened && this.rules.lobbyOpenAt !== undefined && this.rules.openAt !== undefined
  }

  private join({ consumerId, at, sequence, data }: Recorded): void {
    const { loyaltyBiasEnabled, loyaltyHeadStartSeconds } = this.rules
    const loyaltyScore = (data["loyaltyScore"] as number | undefined) ?? 0
    const headStart = loyaltyBiasEnabled === true ? loyaltyScore * loyaltyHeadStartSeconds! * 1000 : 0
    const place = { consumerId: consumerId!, key: at - headStart, sequence }
    this.waiting.set(consumerId!, place)
    let index = this.line.length
    while (index > this.lineStart && this.line[index - 1]!.key > place.key) index -= 1
    this.line.splice(index, 0, place)
  }

  private quit(consumerId: string): void {
    this.queued -= 1
    this.lobby.delete(consumerId)
    this.waiting.delete(consumerId)
  }

  /** Who is admitted by rate is the first of those who wait; the lobby's own order is chance, but it comes first. */
  private keepOrder(event: Recorded): void {
    if (this.lobby.size > 0) {
      if (this.lobby.has(event.consumerId!)) return
    } else {
      const isGone = (place: Waiting | undefined) => place !== undefined && this.waiting.get(place.consumerId) !== place
      while (isGone(this.line[this.lineStart])) this.lineStart += 1
      if (this.line[this.lineStart]?.consumerId === event.consumerId) return
    }
    this.inversions += 1
    this.note(event, "is out of order")
  }

  /**
   * Any span of t seconds holds at most ceil(admitRate × t / 60) + 1 admissions by rate. With the k-th at t(k), that is:
   * no k − admitRate × t(k) exceeds an earlier one by 1 or more. All in whole numbers. Above 60,000 a minute several
   * share a millisecond, and a span reaches to the end of its last one.
   */
  private pace(event: Recorded): void {
    this.paced += 1
    const { admitRate } = this.rules
    const sharedMillis = admitRate > 60_000 ? 1 : 0
    const lead = this.paced * 60_000 - admitRate * (event.at - this.firstAt)
    if (lead - this.lowestLead >= 60_000 + sharedMillis * admitRate) this.note(event, "is faster than the rate allows")
    this.lowestLead = Math.min(this.lowestLead, lead)
  }

  private note({ type, sequence }: Recorded, what: string): void {
    this.violations.push(`${type} ${sequence} ${what}`)
  }
}
