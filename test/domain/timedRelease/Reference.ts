/**
 * The reference of the timed release, as plain as possible: it keeps only its events, and computes every answer by
 * iterating over all of them.
 */
import { extension } from "../mechanism/support/extension.ts"
import type { Command, Configuration, Event, View } from "../../../src/domain/timedRelease/TimedRelease.ts"
import { completion, grantsOf } from "../mechanism/support/redemption.ts"
import { afterWindow, held, keepingWindow } from "../mechanism/support/window.ts"

type Draft = { readonly _tag: Event["_tag"]; readonly [name: string]: unknown }

/** A refusal's name with its fields. */
export interface Refused {
  readonly refused: string
  readonly [name: string]: unknown
}

const statuses = { Expired: "EXPIRED", Denied: "DENIED", Completed: "COMPLETED", Left: "LEFT" } as const

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
    const entry = this.#entryOf(consumerId)
    if (entry === undefined) return { status: "NOT_ENTERED" }
    const { enteredAt, expiresAt, variantId, last, sequence } = entry
    const selection = variantId === undefined ? {} : { selectedVariantId: variantId }
    const had = grantsOf(this.events, consumerId, "Entered").length
    const isLast = had >= (this.configuration.grantsPerConsumer ?? Infinity)
    const limit = isLast ? ({ grantLimitReached: true } as const) : {}
    switch (last._tag) {
      case "Left":
        return { status: "LEFT", enteredAt, leftAt: last.at, ...limit }
      case "Completed":
        return {
          status: "COMPLETED",
          enteredAt,
          completedAt: last.at,
          ...selection,
          completedGrant: sequence,
          ...limit
        }
      case "Denied":
        return { status: "DENIED", enteredAt }
      case "Expired":
        return { status: "EXPIRED", enteredAt, expiresAt: last.at, ...limit }
      default: {
        const expiry = expiresAt === Infinity ? {} : { expiresAt }
        return { status: "ENTERED", enteredAt, ...expiry, ...selection, grantSequence: sequence }
      }
    }
  }

  counts(): { [status: string]: number } {
    const counts: { [status: string]: number } = { ENTERED: 0, COMPLETED: 0, DENIED: 0, EXPIRED: 0, LEFT: 0 }
    for (const consumerId of this.#consumers) counts[this.view(consumerId).status]!++
    return counts
  }

  get configuration(): Configuration {
    return this.events.findLast((event) => event._tag === "Configured")!.configuration
  }

  /** The configuration in force. */
  get #held(): Configuration {
    return { ...this.configuration, ...held(this.configuration) }
  }

  get closed(): boolean {
    return this.events.some((event) => event._tag === "Ended" || event._tag === "Closed")
  }

  get #consumers(): ReadonlyArray<string> {
    return [...new Set(this.events.flatMap((event) => ("consumerId" in event ? [event.consumerId] : [])))]
  }

  /** Returns the consumer's last entry, its selection since, its expiry, and the last event of its place. */
  #entryOf(consumerId: string) {
    const of = (event: Event) => "consumerId" in event && event.consumerId === consumerId
    const index = this.events.findLastIndex((event) => event._tag === "Entered" && of(event))
    if (index === -1) return undefined
    const since = this.events.slice(index).filter(of)
    const configured = this.events.slice(0, index).findLast((event) => event._tag === "Configured")!
    const seconds = configured.configuration.admissionExpirationSeconds ?? Infinity
    const enteredAt = since[0]!.at
    const variantId = since.flatMap((event) => ("variantId" in event ? [event.variantId] : [])).at(-1)
    const last = since.findLast(({ _tag }) => _tag !== "Selected" && _tag !== "GrantExtended")!
    const moved = since.findLast((event) => event._tag === "GrantExtended")
    const listed = moved === undefined ? index : this.events.indexOf(moved)
    const expiresAt = moved?.expiresAt ?? enteredAt + seconds * 1000
    return { enteredAt, variantId, expiresAt, last, sequence: index + 1, listed }
  }

  /** The consumers that hold a grant, the next to expire first. */
  get #holding() {
    return this.#consumers
      .filter((consumerId) => this.view(consumerId).status === "ENTERED")
      .map((consumerId) => ({ consumerId, ...this.#entryOf(consumerId)! }))
      .toSorted((a, b) => a.expiresAt - b.expiresAt || a.listed - b.listed)
  }

  #next(now: number): Draft | undefined {
    const [expiring] = this.#holding
    const lastAt = this.events.at(-1)!.at
    const isOver = this.closed && expiring === undefined
    const isTornDown = this.events.some((event) => event._tag === "TornDown")
    const candidates: ReadonlyArray<[number, Draft]> = [
      [this.closed ? Infinity : (this.#held.closeAt ?? Infinity), { _tag: "Closed" }],
      [expiring?.expiresAt ?? Infinity, { _tag: "Expired", consumerId: expiring?.consumerId }],
      [isOver && !isTornDown ? lastAt : Infinity, { _tag: "TornDown" }]
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
    switch (command._tag) {
      case "Configure":
        return this.#configure(command.configuration, command.by, now)
      case "SetExperienceWindow": {
        const hasOpened = this.#consumers.length > 0 || now >= (this.#held.openAt ?? 0)
        const configuration = this.closed ? undefined : afterWindow(this.configuration, command.window, hasOpened)
        return configuration === undefined ? [] : [{ _tag: "Configured", configuration, by: command.by }]
      }
      case "Extend": {
        const closeAt = this.closed ? undefined : this.#held.closeAt
        return extension(command, { configuration: this.configuration, closeAt, holding: this.#holding })
      }
      case "End":
        return this.closed ? [] : [{ _tag: "Ended", by: command.by }]
      case "Archive": {
        if (this.events.some((event) => event._tag === "Archived")) return []
        const archived: Draft = { _tag: "Archived", by: command.by }
        return this.closed ? [archived] : [{ _tag: "Ended", by: command.by }, archived]
      }
      case "Enter":
        return this.#enter(command, now)
      case "SettleUnits":
        return []
      case "Remove": {
        const { consumerId, by } = command
        const { status } = this.view(consumerId)
        return status === "ENTERED" ? [{ _tag: "Denied", consumerId, reason: "ADMIN_ACTION", by }] : []
      }
      case "Complete":
        return completion(this.events, "Entered", "ENTERED", this.view(command.consumerId).status, command)
      default: {
        const { consumerId } = command
        const tag = ({ Leave: "Left", Deny: "Denied" } as const)[command._tag]
        const { status } = this.view(consumerId)
        if (status === statuses[tag]) return []
        if (status !== "ENTERED") return { refused: "WrongStatus", status }
        const reason = "reason" in command && { reason: command.reason }
        return [{ _tag: tag, consumerId, ...reason, ...("by" in command && { by: command.by }) }]
      }
    }
  }

  #configure(wanted: Configuration, by: string, now: number): ReadonlyArray<Draft> | Refused {
    let configuration = wanted
    if (this.events.length > 0) {
      if (this.closed) return { refused: "Closed" }
      configuration = keepingWindow(wanted, this.configuration)
      const hasOpened = this.#consumers.length > 0 || now >= (this.#held.openAt ?? 0)
      if (hasOpened && configuration.openAt !== this.configuration.openAt) {
        return { refused: "ConfigurationFixed", setting: "openAt" }
      }
      const sorted = (settings: Configuration) =>
        JSON.stringify(Object.entries(settings).toSorted(([a], [b]) => a.localeCompare(b)))
      if (sorted(configuration) === sorted(this.configuration)) return []
    }
    return [{ _tag: "Configured", configuration, by }]
  }

  #enter(
    { consumerId, isGuest, variantId, isNotOffered }: Extract<Command, { _tag: "Enter" }>,
    now: number
  ): ReadonlyArray<Draft> | Refused {
    const view = this.view(consumerId)
    const { supportsGuest, openAt = 0, closeAt = Infinity, capacity = Infinity, variantIds } = this.#held
    const isOffered = variantIds === undefined ? isNotOffered !== true : variantIds.includes(variantId!)
    const isUnknown = variantId !== undefined && !isOffered
    const selected = variantId === undefined ? {} : { variantId }
    if (view.status === "ENTERED") {
      if (variantId === undefined || variantId === view.selectedVariantId) return []
      return isUnknown ? { refused: "UnknownVariant" } : [{ _tag: "Selected", consumerId, ...selected }]
    }
    const { grantsPerConsumer } = this.configuration
    if (view.status === "DENIED" || (view.status === "COMPLETED" && grantsPerConsumer === undefined)) return []
    if (this.closed) return view.status === "NOT_ENTERED" ? { refused: "Closed" } : []
    if (grantsOf(this.events, consumerId, "Entered").length >= (grantsPerConsumer ?? Infinity)) {
      return { refused: "GrantLimitReached" }
    }
    if (isGuest && !supportsGuest) return { refused: "GuestsRefused" }
    if (now < openAt) return { refused: "NotOpen", opensAt: openAt }
    if (isUnknown) return { refused: "UnknownVariant" }
    const sold = this.events.filter(({ _tag }) => _tag === "Completed").length
    if (this.#holding.length + sold >= capacity) {
      const freeAt = this.#holding[0]?.expiresAt ?? Infinity
      const mayComeBack = freeAt !== Infinity && freeAt < closeAt
      return { refused: "SoldOut", ...(mayComeBack && { retryAfterSeconds: Math.ceil((freeAt - now) / 1000) }) }
    }
    return [{ _tag: "Entered", consumerId, ...selected }]
  }
}
