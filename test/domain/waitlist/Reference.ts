/**
 * The reference of the waitlist, as plain as possible: it keeps only its events, and computes every answer by iterating
 * over all of them.
 */
import { extension } from "../mechanism/support/extension.ts"
import type { Command, Configuration, Event, View } from "../../../src/domain/waitlist/Waitlist.ts"
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

  view(consumerId: string): View {
    const events = this.#of(consumerId)
    const entry = events.findLast((event) => event._tag === "Entered")
    if (entry === undefined) return { status: "NOT_ENTERED" }
    const enteredAt = entry.at
    const last = events.at(-1)!
    if (last._tag === "Left") return { status: "LEFT", enteredAt, leftAt: last.at }
    if (last._tag === "Denied") return { status: "DENIED", enteredAt, deniedAt: last.at }
    const status = events.some((event) => event._tag === "Notified") ? "NOTIFIED" : "ENTERED"
    return { status, enteredAt, position: this.#members.indexOf(consumerId) + 1 }
  }

  counts(): { [status: string]: number } {
    const counts: { [status: string]: number } = { ENTERED: 0, NOTIFIED: 0, LEFT: 0, DENIED: 0 }
    for (const consumerId of this.#consumers) counts[this.view(consumerId).status]!++
    return counts
  }

  /** Returns the members to be notified now, in order. */
  awaiting(): ReadonlyArray<string> {
    const isOpen = this.events.findLast(({ _tag }) => _tag === "NoticeScheduled" || _tag === "NoticeDue")
    return isOpen?._tag === "NoticeDue" && !this.#has("Ended") ? this.#waiting : []
  }

  get configuration(): Configuration {
    return this.events.findLast((event) => event._tag === "Configured")!.configuration
  }

  /** The configuration in force. */
  get #held(): Configuration {
    return { ...this.configuration, ...held(this.configuration) }
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
      .filter((consumerId) => !["Left", "Denied"].includes(this.#of(consumerId).at(-1)!._tag))
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
    const isTornDown = this.#has("TornDown")
    const latest = this.events.findLast(({ _tag }) => _tag === "NoticeScheduled" || _tag === "NoticeDue")?._tag
    const isScheduled = latest === "NoticeScheduled" && ended === undefined && !isTornDown
    const candidates: ReadonlyArray<[number, Draft]> = [
      [this.#closed ? Infinity : (this.#held.closeAt ?? Infinity), { _tag: "Closed" }],
      [isScheduled ? (this.#noticeAt ?? Infinity) : Infinity, { _tag: "NoticeDue" }],
      [waiting === undefined ? Infinity : (ended ?? Infinity), { _tag: "Denied", consumerId: waiting }],
      [this.#closed && waiting === undefined && !isTornDown ? lastAt : Infinity, { _tag: "TornDown" }]
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
          holding: []
        })
        return events as ReadonlyArray<Draft>
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
        const isMember = status === "ENTERED" || status === "NOTIFIED"
        if (!isMember) return { refused: "WrongStatus", status }
        return [{ _tag: "Left", consumerId: command.consumerId, ...("by" in command && { by: command.by }) }]
      }
      case "Remove": {
        const { consumerId, by } = command
        return this.#members.includes(consumerId) ? [{ _tag: "Left", consumerId, by }] : []
      }
      case "ScheduleNotice": {
        if (this.#has("Ended") || this.#has("TornDown") || command.at === this.#noticeAt) return []
        return [{ _tag: "NoticeScheduled", ...(command.at !== undefined && { noticeAt: command.at }) }]
      }
      case "MarkNotified": {
        const { _tag: _, ...marked } = command
        return this.#waiting.includes(command.consumerId) ? [{ _tag: "Notified", ...marked }] : []
      }
    }
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
      const sorted = (settings: Configuration) =>
        JSON.stringify(Object.entries(settings).toSorted(([a], [b]) => a.localeCompare(b)))
      if (sorted(configuration) === sorted(this.configuration)) return []
    }
    return [{ _tag: "Configured", configuration, by }]
  }

  #enter(consumerId: string, now: number): ReadonlyArray<Draft> | Refused {
    const { status } = this.view(consumerId)
    const { openAt = 0, capacity = Infinity } = this.configuration
    if (status !== "NOT_ENTERED" && status !== "LEFT") return []
    if (this.#closed) return status === "LEFT" ? [] : { refused: "Closed" }
    if (now < openAt) return { refused: "NotOpen", opensAt: openAt }
    if (this.#members.length >= capacity) return { refused: "Full", retryAfterSeconds: 60 }
    return [{ _tag: "Entered", consumerId }]
  }
}
