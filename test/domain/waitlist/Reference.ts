/**
 * The reference of the waitlist, as plain as possible: it keeps only its events, and computes every answer by iterating
 * over all of them.
 */
import { extension } from "../mechanism/support/extension.ts"
import type { Command, Configuration, Event, View } from "../../../src/domain/waitlist/Waitlist.ts"
import { completion } from "../mechanism/support/redemption.ts"
import { afterWindow, held, keepingWindow } from "../mechanism/support/window.ts"

type Draft = { readonly _tag: Event["_tag"]; readonly [name: string]: unknown }

/** A refusal's name with its fields. */
export interface Refused {
  readonly refused: string
  readonly [name: string]: unknown
}

export class Reference {
  readonly events: Array<Event> = []

  /** Applies the transitions due until `now` and returns their events. */
  notice(now: number): ReadonlyArray<Event> {
    const brought: Array<Event> = []
    for (let next = this.#next(now); next !== undefined; next = this.#next(now)) brought.push(this.#apply(next))
    return brought
  }

  command(command: Command, now: number): ReadonlyArray<Event> | Refused {
    const outcome = this.#decide(command, now)
    return "refused" in outcome ? outcome : outcome.map((draft) => this.#apply({ at: now, ...draft }))
  }

  /** Without its position unless it is asked for: positions follow from the statuses. */
  view(consumerId: string, isPositioned = true): View {
    const events = this.#of(consumerId)
    const entry = events.findLast((event) => event._tag === "Entered")
    if (entry === undefined) return { status: "NOT_ENTERED" }
    const enteredAt = entry.at
    const last = events.at(-1)!
    if (last._tag === "Left") return { status: "LEFT", enteredAt, leftAt: last.at }
    if (last._tag === "Denied") {
      const { reason = "WAITLIST_CLOSED" } = last
      return { status: "DENIED", enteredAt, reason, deniedAt: last.at }
    }
    const offer = this.#offerOf(consumerId)
    if (last._tag === "Expired") return { status: "EXPIRED", enteredAt, expiresAt: last.at }
    if (last._tag === "Completed") {
      return { status: "COMPLETED", enteredAt, completedAt: last.at, completedGrant: offer!.sequence }
    }
    if (last._tag === "Offered" || last._tag === "GrantExtended") {
      const { offeredAt, expiresAt, sequence } = offer!
      const expiry = expiresAt === Infinity ? {} : { expiresAt }
      return { status: "OFFERED", enteredAt, offeredAt, ...expiry, grantSequence: sequence }
    }
    const status = events.some((event) => event._tag === "Notified") ? "NOTIFIED" : "ENTERED"
    return { status, enteredAt, position: isPositioned ? this.#members.indexOf(consumerId) + 1 : 0 }
  }

  counts(): { [status: string]: number } {
    const counts: { [status: string]: number } = {
      ENTERED: 0,
      NOTIFIED: 0,
      OFFERED: 0,
      COMPLETED: 0,
      EXPIRED: 0,
      LEFT: 0,
      DENIED: 0
    }
    for (const consumerId of this.#consumers) counts[this.view(consumerId).status]!++
    return counts
  }

  /** Returns the members to be notified now, in order. */
  awaiting(): ReadonlyArray<string> {
    const isOpen = this.events.findLast(({ _tag }) => _tag === "NoticeScheduled" || _tag === "NoticeDue")
    return isOpen?._tag === "NoticeDue" && !this.#has("Ended") && !this.#isOffering ? this.#waiting : []
  }

  get configuration(): Configuration {
    return this.events.findLast((event) => event._tag === "Configured")!.configuration
  }

  /** The configuration in force. */
  get #held(): Configuration {
    return { ...this.configuration, ...held(this.configuration) }
  }

  get #isOffering(): boolean {
    return this.configuration.offers === true
  }

  /** The consumer's last offer. */
  #offerOf(consumerId: string) {
    const isOf = (event: Event) => "consumerId" in event && event.consumerId === consumerId
    const index = this.events.findLastIndex((event) => event._tag === "Offered" && isOf(event))
    if (index === -1) return undefined
    const { configuration } = this.events.slice(0, index).findLast((event) => event._tag === "Configured")!
    const moved = this.events.findLastIndex((event, at) => at > index && event._tag === "GrantExtended" && isOf(event))
    const offeredAt = this.events[index]!.at
    const extended = this.events[moved] as { readonly expiresAt: number } | undefined
    const expiresAt = extended?.expiresAt ?? offeredAt + 1000 * (configuration.admissionExpirationSeconds ?? Infinity)
    return { offeredAt, expiresAt, sequence: index + 1, listed: moved === -1 ? index : moved }
  }

  /** The consumers that hold an offer, the next to expire first. */
  get #holding() {
    return this.#consumers
      .filter((consumerId) => this.view(consumerId).status === "OFFERED")
      .map((consumerId) => ({ consumerId, ...this.#offerOf(consumerId)! }))
      .toSorted((a, b) => a.expiresAt - b.expiresAt || a.listed - b.listed)
  }

  /** The units here. */
  get #units(): number {
    return this.events.reduce((units, event) => {
      if (event._tag === "UnitsCame") return units + event.units
      if (event._tag === "UnitsLeft") return units - event.units
      return event._tag === "Completed" && this.#isOffering ? units - 1 : units
    }, 0)
  }

  /** The transfer that left and was not taken. */
  get #leaving() {
    const last = this.events.findLast(({ _tag }) => _tag === "UnitsLeft" || _tag === "UnitsTaken")
    return last?._tag === "UnitsLeft" ? last : undefined
  }

  get #lastTransfer() {
    const of = (tag: "UnitsCame" | "UnitsLeft") =>
      (this.events.findLast(({ _tag }) => _tag === tag) as { readonly transfer: number } | undefined)?.transfer ?? 0
    return { came: of("UnitsCame"), left: of("UnitsLeft") }
  }

  get #closed(): boolean {
    return this.#has("Ended") || this.#has("Closed")
  }

  #has(tag: Event["_tag"]): boolean {
    return this.events.some(({ _tag }) => _tag === tag)
  }

  #of(consumerId: string): ReadonlyArray<Event> {
    return this.events.filter((event) => "consumerId" in event && event.consumerId === consumerId)
  }

  get #consumers(): ReadonlyArray<string> {
    return [...new Set(this.events.flatMap((event) => ("consumerId" in event ? [event.consumerId] : [])))]
  }

  /** The members, in the order of their last entries. */
  get #members(): ReadonlyArray<string> {
    const entries = this.events.flatMap((event) => (event._tag === "Entered" ? [event.consumerId] : []))
    return entries
      .filter((consumerId, index) => entries.lastIndexOf(consumerId) === index)
      .filter((consumerId) => ["ENTERED", "NOTIFIED"].includes(this.view(consumerId, false).status))
  }

  get #waiting(): ReadonlyArray<string> {
    return this.#members.filter((consumerId) => !this.#of(consumerId).some(({ _tag }) => _tag === "Notified"))
  }

  get #noticeAt(): number | undefined {
    return this.events.findLast((event) => event._tag === "NoticeScheduled")?.noticeAt
  }

  #next(now: number): Draft | undefined {
    const lastAt = this.events.at(-1)!.at
    const [waiting] = this.#waiting
    const ended = this.events.find(({ _tag }) => _tag === "Ended")?.at
    const closedAt = this.events.find(({ _tag }) => _tag === "Ended" || _tag === "Closed")?.at
    const lastChance = this.#isOffering ? closedAt : ended
    const [expiring] = this.#holding
    const free = this.#units - this.#holding.length
    const canOffer = this.#isOffering && !this.#closed && waiting !== undefined && free > 0
    const isGivenBack = this.#units === 0 && this.#leaving === undefined
    const isDone = this.#closed && waiting === undefined && expiring === undefined && isGivenBack
    const isTornDown = this.#has("TornDown")
    const latest = this.events.findLast(({ _tag }) => _tag === "NoticeScheduled" || _tag === "NoticeDue")?._tag
    const isScheduled = latest === "NoticeScheduled" && ended === undefined && !isTornDown
    const candidates: ReadonlyArray<[number, Draft]> = [
      [this.#closed ? Infinity : (this.#held.closeAt ?? Infinity), { _tag: "Closed" }],
      [isScheduled ? (this.#noticeAt ?? Infinity) : Infinity, { _tag: "NoticeDue" }],
      [waiting === undefined ? Infinity : (lastChance ?? Infinity), { _tag: "Denied", consumerId: waiting }],
      [expiring?.expiresAt ?? Infinity, { _tag: "Expired", consumerId: expiring?.consumerId }],
      [canOffer && lastAt <= now ? now : Infinity, { _tag: "Offered", consumerId: waiting }],
      [
        this.#isOffering && closedAt !== undefined && this.#leaving === undefined && free > 0
          ? Math.max(lastAt, closedAt)
          : Infinity,
        { _tag: "UnitsLeft", transfer: this.#lastTransfer.left + 1, units: free }
      ],
      [isDone && !isTornDown ? lastAt : Infinity, { _tag: "TornDown" }]
    ]
    const [at, draft] = candidates.reduce((a, b) => (b[0] < a[0] ? b : a))
    return at <= now ? { at: Math.max(lastAt, at), ...draft } : undefined
  }

  #apply(draft: Draft): Event {
    const event = draft as Event
    this.events.push(event)
    return event
  }

  #decide(command: Command, now: number): ReadonlyArray<Draft> | Refused {
    const isOver = this.#has("Ended") || (this.#closed && this.#waiting.length === 0)
    const ended: ReadonlyArray<Draft> = isOver || !("by" in command) ? [] : [{ _tag: "Ended", by: command.by }]
    switch (command._tag) {
      case "Configure":
        return this.#configure(command.configuration, command.by, now)
      case "SetExperienceWindow": {
        const { openAt: _, ...window } = command.window
        const configuration = this.#closed ? undefined : afterWindow(this.configuration, window, false)
        return configuration === undefined ? [] : [{ _tag: "Configured", configuration, by: command.by }]
      }
      case "Extend": {
        const closeAt = this.#closed ? undefined : this.#held.closeAt
        const events = extension(command, {
          configuration: this.configuration,
          closeAt,
          holding: this.#holding
        })
        return events
      }
      case "End":
        return ended
      case "Archive":
        return this.#has("Archived") ? [] : [...ended, { _tag: "Archived", by: command.by }]
      case "Enter":
        return this.#enter(command.consumerId, now)
      case "Leave": {
        const { status } = this.view(command.consumerId)
        if (status === "LEFT") return []
        const isMember = status === "ENTERED" || status === "NOTIFIED" || status === "OFFERED"
        if (!isMember) return { refused: "WrongStatus", status }
        return [{ _tag: "Left", consumerId: command.consumerId, ...("by" in command && { by: command.by }) }]
      }
      case "Remove": {
        const { consumerId, by } = command
        const isOffered = this.view(consumerId).status === "OFFERED"
        if (isOffered) return [{ _tag: "Denied", consumerId, reason: "ADMIN_ACTION", by }]
        return this.#members.includes(consumerId) ? [{ _tag: "Left", consumerId, by }] : []
      }
      case "Deny": {
        const { consumerId, by, reason } = command
        const { status } = this.view(consumerId)
        if (status === "DENIED") return []
        if (!["ENTERED", "NOTIFIED", "OFFERED"].includes(status)) return { refused: "WrongStatus", status }
        return [{ _tag: "Denied", consumerId, reason, by }]
      }
      case "Complete":
        return completion(this.events, "Offered", "OFFERED", this.view(command.consumerId).status, command)
      case "SettleUnits":
        return this.#settle(command)
      case "ScheduleNotice": {
        if (this.#has("Ended") || this.#has("TornDown") || command.at === this.#noticeAt) return []
        return [{ _tag: "NoticeScheduled", ...(command.at !== undefined && { noticeAt: command.at }) }]
      }
      case "MarkNotified": {
        const { _tag: _, ...marked } = command
        if (this.#isOffering) return []
        return this.#waiting.includes(command.consumerId) ? [{ _tag: "Notified", ...marked }] : []
      }
    }
  }

  #settle({ arriving, taken, giveBack = 0 }: Extract<Command, { _tag: "SettleUnits" }>): ReadonlyArray<Draft> {
    if (this.configuration.stockId === undefined || this.#has("TornDown")) return []
    const leaving = this.#leaving
    const { came, left } = this.#lastTransfer
    const isTaken = leaving !== undefined && taken >= leaving.transfer
    const units = Math.min(giveBack, this.#units - this.#holding.length)
    return [
      ...(isTaken ? [{ _tag: "UnitsTaken" as const, transfer: leaving.transfer }] : []),
      ...(arriving !== undefined && arriving.transfer > came ? [{ _tag: "UnitsCame" as const, ...arriving }] : []),
      ...(units > 0 && (leaving === undefined || isTaken)
        ? [{ _tag: "UnitsLeft" as const, transfer: left + 1, units }]
        : [])
    ]
  }

  #configure(wanted: Configuration, by: string, now: number): ReadonlyArray<Draft> | Refused {
    let configuration = wanted
    if (this.events.length > 0) {
      if (this.#closed) return { refused: "Closed" }
      configuration = keepingWindow(wanted, this.configuration)
      const hasOpened = this.#consumers.length > 0 || now >= (this.configuration.openAt ?? 0)
      if (hasOpened && configuration.openAt !== this.configuration.openAt) {
        return { refused: "ConfigurationFixed", setting: "openAt" }
      }
      for (const setting of ["stockId", "offers"] as const) {
        if (hasOpened && configuration[setting] !== this.configuration[setting]) {
          return { refused: "ConfigurationFixed", setting }
        }
      }
      const sorted = (settings: Configuration) =>
        JSON.stringify(Object.entries(settings).toSorted(([a], [b]) => a.localeCompare(b)))
      if (sorted(configuration) === sorted(this.configuration)) return []
    }
    return [{ _tag: "Configured", configuration, by }]
  }

  #enter(consumerId: string, now: number): ReadonlyArray<Draft> | Refused {
    const { status } = this.view(consumerId)
    const { openAt = 0, capacity = Infinity } = this.configuration
    if (status !== "NOT_ENTERED" && status !== "LEFT" && status !== "EXPIRED") return []
    if (this.#closed) return status === "NOT_ENTERED" ? { refused: "Closed" } : []
    if (now < openAt) return { refused: "NotOpen", opensAt: openAt }
    if (this.#members.length >= capacity) return { refused: "Full", retryAfterSeconds: 60 }
    return [{ _tag: "Entered", consumerId }]
  }
}
