/** Checks a queue's recorded events. */
import { Reader, type Recorded, type ConsumerState } from "./Reader.ts"

/** The parts of a queue's configuration that the checks need. */
export interface Rules {
  readonly admitRate: number
  readonly admissionExpirationSeconds?: number
  readonly capacity?: number
  readonly maxAdmissions?: number
  readonly recycleExpiredAdmissions?: boolean
  readonly insideLimit?: number
  readonly standby?: boolean
  readonly admitBurst?: number
  readonly admissionRenewal?: { readonly idleSeconds: number; readonly maxSeconds: number }
  readonly grantsPerConsumer?: number
  readonly lobbyOpenAt?: unknown
  readonly openAt?: unknown
  readonly loyaltyBiasEnabled?: boolean
  readonly loyaltyHeadStartSeconds?: number
}

/** A place in the line, sorted by `key`, then by the sequence of its entry. */
interface Waiting {
  readonly consumerId: string
  readonly key: number
  readonly sequence: number
}

export class QueueReader extends Reader {
  private rules: Rules = { admitRate: 0 }
  private queued = 0
  /** Counts of grants that expired or were denied, and of grants whose consumers left. */
  private returned = 0
  private left = 0
  private isOpened = false
  private isClosed = false
  /** When the live grants end. */
  private readonly ends = new Map<string, number>()
  private readonly lobby = new Set<string>()
  private readonly waiting = new Map<string, Waiting>()
  private readonly line: Array<Waiting> = []
  private lineStart = 0
  /** The lowest difference so far between admissions by rate and the number that the rate allowed; see `pace`. */
  private lowestLead = Infinity
  private paced = 0

  protected override apply(event: Recorded): void {
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
      case "Renewed":
        return this.renew(event)
      case "Left":
        return this.end(event, "LEFT", ["QUEUED", "GRANTED"])
      case "Completed":
        return this.end(event, "COMPLETED", ["GRANTED"])
      default:
        this.note(event, "is of no known type")
    }
  }

  private configure(rules: Rules): void {
    if (rules.admitRate !== this.rules.admitRate || burstOf(rules) !== burstOf(this.rules)) this.lowestLead = Infinity
    this.rules = rules
  }

  private enter(event: Recorded): void {
    const before = this.states.get(event.consumerId!)
    const mayEnter =
      before === undefined ||
      before.status === "LEFT" ||
      before.reason === "ADMISSION_EXPIRED" ||
      (before.status === "COMPLETED" && this.rules.grantsPerConsumer !== undefined)
    this.checkLimit(event, this.rules.grantsPerConsumer)
    if (!mayEnter) this.note(event, `comes from ${before.status}`)
    if (this.isClosed) this.note(event, "comes after the closing")
    this.entries += 1
    this.queued += 1
    const { capacity } = this.rules
    if (capacity !== undefined && this.queued > capacity) this.note(event, `makes ${this.queued} wait of ${capacity}`)
    this.states.set(event.consumerId!, { status: "QUEUED", enteredAt: event.at, since: event.at })
    if (this.isInLobby) this.lobby.add(event.consumerId!)
    else this.join(event)
  }

  private grant(event: Recorded): void {
    const before = this.states.get(event.consumerId!)
    if (before?.status !== "QUEUED") this.note(event, `comes from ${before?.status ?? "nowhere"}`)
    if (this.isClosed) this.note(event, "comes after the closing")
    this.grants += 1
    this.startGrant(event)
    const { maxAdmissions, recycleExpiredAdmissions, insideLimit = Infinity } = this.rules
    if (this.inside > insideLimit) this.note(event, `makes ${this.inside} live of ${insideLimit}`)
    const made = this.grants - this.left - (recycleExpiredAdmissions === true ? this.returned : 0)
    if (maxAdmissions !== undefined && made > maxAdmissions) this.note(event, `is grant ${made} of ${maxAdmissions}`)
    if (event.data["by"] === undefined) {
      this.grantsByRate += 1
      if (this.isInLobby) this.note(event, "comes before the lobby was opened")
      this.keepOrder(event)
      this.pace(event)
    }
    this.quit(event.consumerId!)
    this.setStatus(event, "GRANTED")
    const { admissionExpirationSeconds = Infinity, admissionRenewal } = this.rules
    this.ends.set(event.consumerId!, event.at + (admissionRenewal?.idleSeconds ?? admissionExpirationSeconds) * 1000)
  }

  private renew(event: Recorded): void {
    const before = this.states.get(event.consumerId!)
    const expiresAt = Number(event.data["expiresAt"])
    const end = this.ends.get(event.consumerId!)!
    if (before?.status !== "GRANTED") return this.note(event, `comes from ${before?.status ?? "nowhere"}`)
    if (event.at >= end) this.note(event, "comes after the grant's time was over")
    if (expiresAt <= end) this.note(event, "makes the grant end no later")
    const { maxSeconds = 0 } = this.rules.admissionRenewal ?? {}
    if (expiresAt > before.since + maxSeconds * 1000) this.note(event, "makes the grant end after its maximum")
    this.ends.set(event.consumerId!, expiresAt)
  }

  private expire(event: Recorded): void {
    const before = this.states.get(event.consumerId!)
    if (before?.status !== "GRANTED") this.note(event, `comes from ${before?.status ?? "nowhere"}`)
    else if (event.at < this.ends.get(event.consumerId!)!) this.note(event, "comes before the grant's time is over")
    this.returned += 1
    this.endGrant(event)
    this.setStatus(event, "DENIED", "ADMISSION_EXPIRED")
  }

  private end(event: Recorded, status: ConsumerState["status"], from: ReadonlyArray<string>): void {
    const before = this.states.get(event.consumerId!)
    if (before === undefined || !from.includes(before.status)) {
      this.note(event, `comes from ${before?.status ?? "nowhere"}`)
    }
    if (before?.status === "GRANTED" && event.at >= this.ends.get(event.consumerId!)!)
      this.note(event, "comes after the grant's time was over")
    this.endGrant(event)
    if (before?.status === "QUEUED") this.quit(event.consumerId!)
    else if (status === "DENIED") this.returned += 1
    else if (status === "LEFT") this.left += 1
    this.setStatus(event, status, event.data["reason"] as string | undefined)
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

  /** Checks that an admission by rate goes to the head of the line. The lobby is first, in random sequence. */
  private keepOrder(event: Recorded): void {
    if (this.lobby.size > 0) {
      if (this.lobby.has(event.consumerId!)) return
    } else {
      const isGone = (place: Waiting | undefined) => place !== undefined && this.waiting.get(place.consumerId) !== place
      while (isGone(this.line[this.lineStart])) this.lineStart += 1
      if (this.line[this.lineStart]?.consumerId === event.consumerId) return
    }
    this.inversions += 1
    this.note(event, "is out of sequence")
  }

  /**
   * Checks that any span of t seconds contains at most ceil(admitRate × t / 60) + 1 admissions by rate; with `standby`,
   * the burst instead of 1. With the k-th admission at t(k), no k − admitRate × t(k) may exceed an earlier one by that
   * number or more. All numbers are whole. Above
   * 60,000 per minute several admissions share a millisecond, and a span extends to the end of its last one.
   */
  private pace(event: Recorded): void {
    this.paced += 1
    const { admitRate } = this.rules
    const sharedMillis = admitRate > 60_000 ? 1 : 0
    const lead = this.paced * 60_000 - admitRate * (event.at - this.firstAt)
    const mostLead = burstOf(this.rules) * 60_000 + sharedMillis * admitRate
    if (lead - this.lowestLead >= mostLead) this.note(event, "is faster than the rate allows")
    this.lowestLead = Math.min(this.lowestLead, lead)
  }
}

/** Admissions that may be made at once. */
const burstOf = ({ admitRate, standby, admitBurst }: Rules): number =>
  standby === true ? (admitBurst ?? Math.max(1, Math.floor(admitRate / 60))) : 1
