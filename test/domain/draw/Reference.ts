/**
 * The reference of the draw, as plain as possible: arrays, and every answer computed by iterating over all of them. It
 * shares only the types with the draw; the naive algorithm gives the drawn order.
 */
import { extension } from "../mechanism/support/extension.ts"
import { createHash } from "node:crypto"
import type { Command, Configuration, Event, View } from "../../../src/domain/draw/Draw.ts"
import { roundAfter } from "../../../src/domain/draw/proof/Beacon.ts"
import * as Naive from "./proof/naive.ts"
import { completion, grantsOf } from "../mechanism/support/redemption.ts"
import { afterWindow, held, keepingWindow } from "../mechanism/support/window.ts"

interface Standing {
  readonly consumerId: string
  readonly enteredAt: number
  /** The number of the event that made the entry. */
  readonly entry: number
  readonly weight: number
  status: "ENTERED" | "WON" | "COMPLETED" | "DENIED" | "LEFT"
  since: number
  sequence: number
  /** When its expiry was set last, as a number of events. */
  listed: number
  reason: string
  expiresAt: number
}

type Draft = { readonly _tag: Event["_tag"]; readonly [name: string]: unknown }

/** A refusal's name with its fields. */
export interface Refused {
  readonly refused: string
  readonly [name: string]: unknown
}

const sha256 = (data: string | Buffer) => createHash("sha256").update(data).digest("hex")

export class Reference {
  readonly events: Array<Event> = []
  readonly #entropy: () => string
  #standings: Array<Standing> = []
  /** The entries that were valid at the closing. */
  #list: ReadonlyArray<Standing> = []

  constructor(entropy: () => string) {
    this.#entropy = entropy
  }

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
    const found = this.#standings.find((standing) => standing.consumerId === consumerId)
    const drawnAt = this.#all("Drawn")[0]?.at
    const drawn = drawnAt === undefined ? {} : { drawnAt }
    if (found === undefined) return { status: "NOT_ENTERED", ...drawn }
    const { status, enteredAt, since, sequence, expiresAt, reason } = found
    if (status === "LEFT") return { status: "NOT_ENTERED", leftAt: since, ...drawn }
    const isInList = this.#list.includes(found)
    const view = {
      ENTERED: {},
      WON: { wonAt: since, grantSequence: sequence, ...(expiresAt === Infinity ? {} : { expiresAt }) },
      COMPLETED: { completedAt: since, completedGrant: grantsOf(this.events, consumerId, "Won").at(-1) },
      DENIED: { deniedAt: since, reason }
    }
    const named = status === "ENTERED" || isInList ? { entryId: this.#id(found) } : {}
    return { status, enteredAt, ...named, ...view[status], ...drawn } as View
  }

  counts(): { [status: string]: number } {
    const counts: { [status: string]: number } = { ENTERED: 0, WON: 0, COMPLETED: 0, DENIED: 0, LEFT: 0 }
    for (const { status } of this.#standings) counts[status]!++
    return counts
  }

  get configuration(): Configuration {
    return this.#all("Configured").at(-1)!.configuration
  }

  /** The configuration in force. */
  get #held(): Configuration {
    return { ...this.configuration, ...held(this.configuration) }
  }

  get closedAt(): number | undefined {
    return this.events.find(({ _tag }) => _tag === "Ended" || _tag === "Closed")?.at
  }

  #all<Tag extends Event["_tag"]>(tag: Tag): ReadonlyArray<Extract<Event, { _tag: Tag }>> {
    return this.events.filter((event): event is Extract<Event, { _tag: Tag }> => event._tag === tag)
  }

  #of(status: Standing["status"]): ReadonlyArray<Standing> {
    return this.#standings.filter((standing) => standing.status === status)
  }

  #id({ entry }: Standing): string {
    return sha256(`${this.#all("SeedDrawn")[0]!.salt}:${entry}`).slice(0, 26)
  }

  /** The list in its published form. */
  get #entries(): ReadonlyArray<Naive.Entry> {
    return this.#list
      .map((standing) => ({ id: this.#id(standing), weight: standing.weight }))
      .toSorted((a, b) => (a.id < b.id ? -1 : 1))
  }

  /** The first entry of the drawn order that is still ENTERED. */
  get #nextInOrder(): Standing | undefined {
    const chance = {
      seed: this.#all("SeedDrawn")[0]!.seed,
      entriesDigest: this.#all("EntriesFixed")[0]!.entriesDigest,
      beacon: this.#all("BeaconProvided")[0]?.randomness ?? ""
    }
    return Naive.order(chance, this.#entries)
      .map((id) => this.#list.find((standing) => this.#id(standing) === id)!)
      .find(({ status }) => status === "ENTERED")
  }

  /** When the draw was over, computed from all events. */
  get #overAt(): number | undefined {
    if (this.events.length === 0) return undefined
    const { continueSelectingUntilCompleted, winnerCount } = this.configuration
    let [wins, completions, isDrawn, isEnded] = [0, 0, false, false]
    for (const { _tag, at } of this.events) {
      if (_tag === "Won") wins++
      if (_tag === "Completed") completions++
      if (_tag === "Drawn") isDrawn = true
      if (_tag === "Ended") isEnded = true
      const nobodyFollows = !continueSelectingUntilCompleted || isEnded || completions >= winnerCount
      if (isDrawn ? nobodyFollows : isEnded && wins === 0) return at
    }
    return undefined
  }

  #next(now: number): Draft | undefined {
    const { closeAt, drawAt, winnerCount, beacon } = this.#held
    const { closedAt } = this
    const overAt = this.#overAt
    const lastAt = this.events.at(-1)!.at
    const standing = this.#of("ENTERED")
    const holding = this.#of("WON").toSorted((a, b) => a.expiresAt - b.expiresAt || a.listed - b.listed)
    const fixed = this.#all("EntriesFixed")[0]
    const isDrawn = this.#all("Drawn").length > 0
    const isReady = fixed?.beaconRound === undefined || this.#all("BeaconProvided").length > 0
    const wins = this.#all("Won").length
    const open = isDrawn ? winnerCount - holding.length - this.#of("COMPLETED").length : winnerCount - wins
    const mayWin = fixed !== undefined && overAt === undefined && isReady && drawAt <= now
    const isWin = mayWin && open > 0 && standing.length > 0
    const isSettled = closedAt !== undefined && standing.length === 0 && holding.length === 0
    const candidates: ReadonlyArray<[number, () => Draft]> = [
      [closedAt === undefined ? closeAt : Infinity, () => ({ _tag: "Closed" })],
      [
        closedAt !== undefined && fixed === undefined && overAt === undefined ? closedAt : Infinity,
        () => ({
          _tag: "EntriesFixed",
          entriesDigest: Naive.digest(this.#entries),
          ...(beacon === undefined ? {} : { beaconRound: roundAfter(drawAt) })
        })
      ],
      [
        standing.length > 0 ? (overAt ?? Infinity) : Infinity,
        () => ({
          _tag: "Denied",
          consumerId: standing[0]!.consumerId,
          reason: isDrawn ? "NOT_SELECTED" : "DRAW_CLOSED"
        })
      ],
      [holding[0]?.expiresAt ?? Infinity, () => ({ _tag: "Expired", consumerId: holding[0]!.consumerId })],
      [isWin ? now : Infinity, () => ({ _tag: "Won", consumerId: this.#nextInOrder!.consumerId })],
      [mayWin && !isWin && !isDrawn ? now : Infinity, () => ({ _tag: "Drawn" })],
      [
        isSettled && (isDrawn || overAt !== undefined) && this.#all("TornDown").length === 0 ? lastAt : Infinity,
        () => ({ _tag: "TornDown" })
      ]
    ]
    const [at, draft] = candidates.reduce((a, b) => (b[0] < a[0] ? b : a))
    return at <= now ? { at: Math.max(lastAt, at), ...draft() } : undefined
  }

  #apply(draft: Draft): Event {
    const event = draft as Event
    const overAt = this.#overAt
    this.events.push(event)
    if (event._tag === "Closed" || event._tag === "Ended") {
      if (this.closedAt === event.at && this.#list.length === 0) this.#list = this.#of("ENTERED")
    } else if (event._tag === "Entered") {
      this.#enter(event)
    } else if (event._tag === "GrantExtended") {
      const standing = this.#standings.find(({ consumerId }) => consumerId === event.consumerId)!
      Object.assign(standing, { expiresAt: event.expiresAt, listed: this.events.length })
    } else if ("consumerId" in event) {
      const standing = this.#standings.find((standing) => standing.consumerId === event.consumerId)!
      const isEnd = event._tag === "Denied" && standing.status === "ENTERED" && overAt !== undefined
      standing.since = isEnd ? overAt : event.at
      standing.sequence = this.events.length
      standing.listed = this.events.length
      standing.status = (
        { Won: "WON", Expired: "DENIED", Denied: "DENIED", Completed: "COMPLETED", Left: "LEFT" } as const
      )[event._tag]
      if (event._tag === "Won") {
        standing.expiresAt = event.at + (this.configuration.admissionExpirationSeconds ?? Infinity) * 1000
      }
      if (event._tag === "Expired") standing.reason = "ADMISSION_EXPIRED"
      if (event._tag === "Denied") standing.reason = event.reason
    }
    return event
  }

  #enter({ consumerId, at, loyaltyScore = 0, risk }: Extract<Event, { _tag: "Entered" }>): void {
    const { loyaltyBiasEnabled, loyaltyWeight, riskWeight = 0 } = this.configuration
    const loyal = 1_000_000 + (loyaltyBiasEnabled ? Math.round(loyaltyScore * loyaltyWeight * 1_000_000) : 0)
    const standing: Standing = {
      consumerId,
      enteredAt: at,
      entry: this.events.length,
      weight: riskWeight === 0 ? loyal : Math.round(loyal * 100 * Math.max(0.01, 1 - riskWeight * (risk?.score ?? 0))),
      status: "ENTERED",
      since: at,
      sequence: this.events.length,
      listed: this.events.length,
      reason: "",
      expiresAt: Infinity
    }
    const before = this.#standings.findIndex((candidate) => candidate.consumerId === consumerId)
    if (before === -1) this.#standings.push(standing)
    else this.#standings[before] = standing
  }

  #decide(command: Command, now: number): ReadonlyArray<Draft> | Refused {
    const ending: ReadonlyArray<Draft> =
      this.#overAt !== undefined || this.#all("Ended").length > 0 || this.#all("TornDown").length > 0
        ? []
        : [{ _tag: "Ended", by: "admin" }]
    switch (command._tag) {
      case "Configure":
        return this.#configure(command.configuration, command.by, now)
      case "SetExperienceWindow": {
        const isClosed = this.closedAt !== undefined
        const hasOpened = this.#standings.length > 0 || now >= (this.#held.openAt ?? 0)
        const configuration = isClosed ? undefined : afterWindow(this.configuration, command.window, hasOpened)
        return configuration === undefined ? [] : [{ _tag: "Configured", configuration, by: command.by }]
      }
      case "Extend": {
        const closeAt = this.closedAt === undefined ? this.#held.closeAt : undefined
        return extension(command, { configuration: this.configuration, closeAt, holding: this.#of("WON") })
      }
      case "End":
        return ending
      case "Archive":
        return this.#all("Archived").length > 0 ? [] : [...ending, { _tag: "Archived", by: command.by }]
      case "ProvideBeacon": {
        const awaited = this.#all("EntriesFixed")[0]?.beaconRound
        const isAwaited = this.#all("BeaconProvided").length === 0 && this.#overAt === undefined
        const { round, randomness, signature } = command
        const isGenuine = sha256(Buffer.from(signature, "hex")) === randomness
        return isAwaited && awaited === round && isGenuine
          ? [{ _tag: "BeaconProvided", round, randomness, signature }]
          : []
      }
      case "SettleUnits":
        return []
      default:
        return this.#decideOn(command, now)
    }
  }

  #decideOn(command: Extract<Command, { readonly consumerId: string }>, now: number): ReadonlyArray<Draft> | Refused {
    const { consumerId } = command
    const { status } = this.view(consumerId)
    switch (command._tag) {
      case "Enter":
        return this.#mayEnter(command, status, now)
      case "Leave":
        if (status === "ENTERED") return [{ _tag: "Left", consumerId, ...("by" in command && { by: command.by }) }]
        if (status === "NOT_ENTERED") return { refused: "NotEntered" }
        return status === "DENIED" ? { refused: "WrongStatus", status } : { refused: "AlreadyGranted" }
      case "Deny":
        if (status === "DENIED") return []
        return status === "ENTERED" || status === "WON"
          ? [{ _tag: "Denied", consumerId, reason: command.reason, by: command.by }]
          : { refused: "WrongStatus", status }
      case "Remove":
        if (status === "ENTERED") return [{ _tag: "Left", consumerId, by: command.by }]
        return status === "WON" ? [{ _tag: "Denied", consumerId, reason: "ADMIN_ACTION", by: command.by }] : []
      case "Complete":
        return completion(this.events, "Won", "WON", status, command)
    }
  }

  #configure(wanted: Configuration, by: string, now: number): ReadonlyArray<Draft> | Refused {
    if (this.events.length === 0) {
      const configured: Draft = { _tag: "Configured", configuration: wanted, by }
      return [configured, { _tag: "SeedDrawn", seed: this.#entropy() + this.#entropy(), salt: this.#entropy() }]
    }
    if (this.closedAt !== undefined) return { refused: "Closed" }
    const hasEntries = this.#standings.length > 0
    const configuration = keepingWindow(wanted, this.configuration)
    const opened = hasEntries || now >= (this.#held.openAt ?? 0)
    if (opened && configuration.openAt !== this.configuration.openAt) {
      return { refused: "ConfigurationFixed", setting: "openAt" }
    }
    for (const setting of ["loyaltyBiasEnabled", "loyaltyWeight", "beacon"] as const) {
      if (hasEntries && configuration[setting] !== this.configuration[setting])
        return { refused: "ConfigurationFixed", setting }
      if (setting === "loyaltyWeight" && hasEntries && configuration.riskWeight !== this.configuration.riskWeight)
        return { refused: "ConfigurationFixed", setting: "riskWeight" }
    }
    const sorted = (settings: Configuration) =>
      JSON.stringify(Object.entries(settings).toSorted(([a], [b]) => a.localeCompare(b)))
    return sorted(configuration) === sorted(this.configuration) ? [] : [{ _tag: "Configured", configuration, by }]
  }

  #mayEnter(
    { consumerId, isGuest, loyaltyScore, risk }: Extract<Command, { _tag: "Enter" }>,
    status: View["status"],
    now: number
  ): ReadonlyArray<Draft> | Refused {
    const { supportsGuest, openAt = 0, capacity = Infinity } = this.#held
    if (status !== "NOT_ENTERED") return []
    if (this.closedAt !== undefined) return { refused: "Closed" }
    if (isGuest && !supportsGuest) return { refused: "GuestsRefused" }
    if (now < openAt) return { refused: "NotOpen", opensAt: openAt }
    if (this.#of("ENTERED").length >= capacity) return { refused: "Full", retryAfterSeconds: 60 }
    return [{ _tag: "Entered", consumerId, ...(loyaltyScore > 0 ? { loyaltyScore } : {}), ...(risk && { risk }) }]
  }
}
