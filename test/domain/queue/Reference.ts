/**
 * The reference of the queue, as plain as possible: arrays, and every answer computed by iterating over all of them. It
 * shares only the types with the queue, and the shuffles and the factor of a risk, which have their own tests.
 */
import { extension } from "../mechanism/support/extension.ts"
import type { Command, Configuration, Event, View } from "../../../src/domain/queue/Queue.ts"
import { riskFactor } from "../../../src/domain/risk/RiskWeight.ts"
import { seededRandom, shuffle, shuffleByWeight } from "../../../src/domain/values/SeededRandom.ts"
import { type Draft, expiryOf, pacedAt, type Span, type Standing } from "./referenceParts.ts"
import { lastRisk } from "../mechanism/support/risks.ts"
import { completion, grantsOf } from "../mechanism/support/redemption.ts"
import { afterWindow, held, keepingWindow } from "../mechanism/support/window.ts"

/** A refusal's name with its fields. */
export interface Refused {
  readonly refused: string
  readonly [name: string]: unknown
}

/** The author of a command, and the reason if there is one. */
const givenBy = ({ by, reason }: { readonly by: string; readonly reason?: string | undefined }) => ({
  by,
  ...(reason === undefined ? {} : { reason })
})

export class Reference {
  readonly events: Array<Event> = []
  #standings: Array<Standing> = []
  #tickets = 0
  #isMoved = false
  /** After each event: its instant, the settings, and whether the rate had a consumer to admit. */
  readonly #spans: Array<Span> = []

  /** Applies the transitions due until `now` and returns their events. */
  notice(now: number, seed: string): ReadonlyArray<Event> {
    const brought: Array<Event> = []
    for (let next = this.#next(now, seed); next !== undefined; next = this.#next(now, seed)) {
      brought.push(this.#apply(next))
    }
    return brought
  }

  command(command: Command, now: number): ReadonlyArray<Event> | Refused {
    const outcome = this.#decide(command, now)
    return "refused" in outcome ? outcome : outcome.map((draft) => this.#apply({ at: now, ...draft }))
  }

  view(consumerId: string): View {
    const found = this.#standings.find((standing) => standing.consumerId === consumerId)
    if (found === undefined) return { status: "NOT_QUEUED" }
    const { status, enteredAt, since, sequence, expiresAt, tokenExpiresAt } = found
    const { admitRate, loyaltyBiasEnabled, insideLimit } = this.configuration
    const position = this.#waiting().indexOf(found) + 1
    const had = grantsOf(this.events, consumerId, "Granted")
    const isLast = had.length >= (this.configuration.grantsPerConsumer ?? Infinity)
    const limit = isLast ? { grantLimitReached: true } : {}
    const view = {
      QUEUED: {
        ...(this.#inLobby ? {} : { position }),
        ...(this.#inLobby || this.#isMoved ? {} : { ticket: found.ticket, joined: found.joined }),
        ...(this.#isPaused ? { paused: true } : {}),
        ...(this.#inLobby || admitRate === 0 || this.#isPaused || insideLimit !== undefined
          ? {}
          : { estimatedWaitTimeInSeconds: Math.ceil((position * 60) / admitRate) }),
        positionDisplayMode: loyaltyBiasEnabled ? "qualitative" : "precise"
      },
      GRANTED: {
        grantedAt: since,
        grantSequence: sequence,
        ...(expiresAt === Infinity ? {} : { expiresAt }),
        ...(tokenExpiresAt > expiresAt ? { tokenExpiresAt } : {})
      },
      COMPLETED: { completedAt: since, completedGrant: had.at(-1), ...limit },
      DENIED: { deniedAt: since, reason: found.reason, ...limit },
      LEFT: { leftAt: since, ...limit }
    }
    return { status, enteredAt, ...view[status] } as View
  }

  counts(): { [status: string]: number } {
    const counts: { [status: string]: number } = { QUEUED: 0, GRANTED: 0, COMPLETED: 0, DENIED: 0, LEFT: 0 }
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
    return this.events.find((event) => event._tag === "Ended" || event._tag === "Closed")?.at
  }

  get #inLobby(): boolean {
    return this.configuration.lobbyOpenAt !== undefined && this.#all("Opened").length === 0
  }

  get #isPaused(): boolean {
    return this.#all("Paused").length > this.#all("Resumed").length
  }

  get #admissionsLeft(): number {
    const { maxAdmissions, recycleExpiredAdmissions } = this.configuration
    if (maxAdmissions === undefined) return Infinity
    const granted = (consumerId: string, before: number) =>
      this.events
        .slice(0, before)
        .findLast(
          (event) =>
            "consumerId" in event &&
            event._tag !== "GrantExtended" &&
            event._tag !== "Renewed" &&
            event.consumerId === consumerId
        )?._tag === "Granted"
    const returned = this.events.filter(
      (event, index) => event._tag === "Expired" || (event._tag === "Denied" && granted(event.consumerId, index))
    )
    const left = this.events.filter((event, index) => event._tag === "Left" && granted(event.consumerId, index))
    const back = left.length + (recycleExpiredAdmissions ? returned.length : 0)
    return maxAdmissions - this.#all("Granted").length + back
  }

  get inside(): number {
    return this.#standings.filter(({ status }) => status === "GRANTED").length
  }

  get #insideLeft(): number {
    return (this.configuration.insideLimit ?? Infinity) - this.inside
  }

  /** Whether everything but the pace lets the rate admit one who waits. */
  get #mayAdmit(): boolean {
    const { admitRate } = this.configuration
    const isOpen = !this.#isPaused && !this.#inLobby && this.closedAt === undefined
    return admitRate > 0 && isOpen && this.#admissionsLeft > 0 && this.#insideLeft > 0
  }

  #all<Tag extends Event["_tag"]>(tag: Tag): ReadonlyArray<Extract<Event, { _tag: Tag }>> {
    return this.events.filter((event): event is Extract<Event, { _tag: Tag }> => event._tag === tag)
  }

  #waiting(): Array<Standing> {
    return this.#standings
      .filter((standing) => standing.status === "QUEUED")
      .toSorted((a, b) => a.order - b.order || a.sequence - b.sequence)
  }

  /** Computes the admissions by rate one by one. */
  #admissionDueAt(now: number): number {
    const current = this.#spans.at(-1)!
    if (!current.admissible) return Infinity
    let since = current.at
    for (const span of this.#spans.toReversed()) {
      if (!span.admissible || span.admitRate !== current.admitRate || span.burst !== current.burst) break
      since = span.at
    }
    const dueAt = Math.max(since, pacedAt(this.events, this.#spans))
    return now - dueAt > 250 ? now : dueAt
  }

  #next(now: number, seed: string): Draft | undefined {
    const { openAt, closeAt } = this.#held
    const closedAt = this.closedAt
    const lastAt = this.events.at(-1)!.at
    const waiting = this.#waiting()
    const holding = this.#standings.filter((standing) => standing.status === "GRANTED")
    const expiring = holding.toSorted((a, b) => a.expiresAt - b.expiresAt || a.listed - b.listed)
    const over = closedAt !== undefined && waiting.length === 0 && holding.length === 0
    const candidates: ReadonlyArray<[number, Draft]> = [
      [this.#inLobby && closedAt === undefined ? openAt! : Infinity, { _tag: "Opened", seed }],
      [closedAt === undefined ? (closeAt ?? Infinity) : Infinity, { _tag: "Closed" }],
      [
        closedAt !== undefined && waiting.length > 0 ? closedAt : Infinity,
        { _tag: "Denied", consumerId: waiting[0]?.consumerId, reason: "QUEUE_CLOSED" }
      ],
      [expiring[0]?.expiresAt ?? Infinity, expiryOf(expiring[0], lastAt)],
      [this.#admissionDueAt(now), { _tag: "Granted", consumerId: waiting[0]?.consumerId }],
      [over && this.#all("TornDown").length === 0 ? lastAt : Infinity, { _tag: "TornDown" }]
    ]
    const [at, draft] = candidates.reduce((a, b) => (b[0] < a[0] ? b : a))
    return at <= now ? { at: Math.max(lastAt, at), ...draft } : undefined
  }

  #apply(draft: Draft): Event {
    const event = draft as Event
    this.events.push(event)
    const sequence = this.events.length
    if (event._tag === "Opened") {
      const waiting = this.#waiting()
      const { riskWeight = 0 } = this.configuration
      const factorOf = ({ consumerId }: Standing) => riskFactor(riskWeight, lastRisk(this.events, consumerId))
      if (riskWeight > 0) shuffleByWeight(waiting, seededRandom(event.seed), factorOf)
      else shuffle(waiting, seededRandom(event.seed))
      waiting.forEach((standing, index) => {
        standing.order = index
        standing.ticket = index + 1
        standing.joined = index + 1
      })
      this.#tickets = waiting.length
    } else if (event._tag === "Entered") {
      const { consumerId, at, loyaltyScore = 0 } = event
      const { loyaltyBiasEnabled, loyaltyHeadStartSeconds } = this.configuration
      if (!this.#inLobby && loyaltyBiasEnabled && loyaltyScore * loyaltyHeadStartSeconds > 0) this.#isMoved = true
      const order = this.#inLobby || !loyaltyBiasEnabled ? at : at - loyaltyScore * loyaltyHeadStartSeconds * 1000
      this.#standings = this.#standings.filter((standing) => standing.consumerId !== consumerId)
      this.#standings.push({
        consumerId,
        status: "QUEUED",
        enteredAt: at,
        since: at,
        order,
        expiresAt: Infinity,
        tokenExpiresAt: Infinity,
        sequence,
        listed: sequence,
        reason: "",
        ticket: this.#inLobby ? 0 : ++this.#tickets,
        joined: this.#inLobby ? 0 : this.#waiting().length + 1
      })
    } else if (event._tag === "GrantExtended" || event._tag === "Renewed") {
      const standing = this.#standings.find(({ consumerId }) => consumerId === event.consumerId)!
      const tokenExpiresAt = Math.max(standing.tokenExpiresAt, event.expiresAt)
      Object.assign(standing, { expiresAt: event.expiresAt, tokenExpiresAt, listed: sequence })
    } else if ("consumerId" in event) {
      const standing = this.#standings.find((standing) => standing.consumerId === event.consumerId)!
      standing.status = (
        { Granted: "GRANTED", Expired: "DENIED", Denied: "DENIED", Completed: "COMPLETED", Left: "LEFT" } as const
      )[event._tag]
      standing.since = event.at
      standing.sequence = sequence
      standing.listed = sequence
      if (event._tag === "Granted") {
        const { admissionExpirationSeconds: seconds = Infinity, admissionRenewal } = this.configuration
        const { idleSeconds, maxSeconds } = admissionRenewal ?? { idleSeconds: seconds, maxSeconds: seconds }
        standing.expiresAt = event.at + idleSeconds * 1000
        standing.tokenExpiresAt = event.at + maxSeconds * 1000
      }
      if (event._tag === "Expired") standing.reason = "ADMISSION_EXPIRED"
      if (event._tag === "Denied") standing.reason = event.reason
    }
    const { admitRate, standby = false, admitBurst = Math.max(1, Math.trunc(admitRate / 60)) } = this.configuration
    const admissible = this.#mayAdmit && this.#waiting().length > 0
    this.#spans.push({ at: event.at, admitRate, standby, burst: standby ? admitBurst : 1, admissible })
    return event
  }

  #decide(command: Command, now: number): ReadonlyArray<Draft> | Refused {
    const closed = this.closedAt !== undefined
    if (command._tag === "Configure") return this.#configure(command, now)
    if (command._tag === "SetExperienceWindow") {
      const hasOpened = this.#all("Opened").length > 0 || now >= (this.#held.openAt ?? 0)
      const configuration = closed ? undefined : afterWindow(this.configuration, command.window, hasOpened)
      return configuration === undefined ? [] : [{ _tag: "Configured", configuration, by: command.by }]
    }
    if (command._tag === "AdmitNext") return this.#admitNext(command, now)
    if (command._tag === "Pause" || command._tag === "Resume") {
      if (closed) return { refused: "Closed" }
      const changes = this.#isPaused === (command._tag === "Resume")
      return changes ? [{ _tag: `${command._tag}d`, ...givenBy(command) }] : []
    }
    if (command._tag === "End") return closed ? [] : [{ _tag: "Ended", ...givenBy(command) }]
    if (command._tag === "Archive") {
      if (this.#all("Archived").length > 0) return []
      const archived: Draft = { _tag: "Archived", by: command.by }
      return closed ? [archived] : [{ _tag: "Ended", by: command.by }, archived]
    }
    if (command._tag === "Extend") {
      const holding = this.#standings.filter((standing) => standing.status === "GRANTED")
      const closeAt = closed ? undefined : this.#held.closeAt
      return extension(command, { configuration: this.configuration, closeAt, holding })
    }
    if (command._tag === "SettleUnits") return []
    const { consumerId } = command
    const view = this.view(consumerId)
    const { status } = view
    const stays = { Leave: "LEFT", Admit: "GRANTED", Deny: "DENIED" }[command._tag as string]
    if (status === stays) return []
    switch (command._tag) {
      case "Leave":
        return status === "QUEUED" || status === "GRANTED"
          ? [{ _tag: "Left", consumerId, ...("by" in command && { by: command.by }) }]
          : { refused: "WrongStatus", status }
      case "Deny":
        return status === "QUEUED" || status === "GRANTED"
          ? [{ _tag: "Denied", consumerId, reason: command.reason, by: command.by }]
          : { refused: "WrongStatus", status }
      case "Complete":
        return completion(this.events, "Granted", "GRANTED", status, command)
      case "Admit":
        if (closed) return { refused: "Closed" }
        if (status !== "QUEUED") return { refused: "WrongStatus", status }
        if (this.#admissionsLeft <= 0) return { refused: "AdmissionsUsedUp" }
        return this.#insideLeft > 0
          ? [{ _tag: "Granted", consumerId, ...givenBy(command) }]
          : { refused: "InsideLimitReached" }
      case "Renew":
        return this.#renew(command, view, now)
      case "Remove":
        if (status === "QUEUED") return [{ _tag: "Left", consumerId, by: command.by }]
        return status === "GRANTED" ? [{ _tag: "Denied", consumerId, reason: "ADMIN_ACTION", by: command.by }] : []
      case "Enter":
        return this.#enter(command, view, now)
    }
  }

  #renew(
    { consumerId, grantSequence }: Extract<Command, { _tag: "Renew" }>,
    { status }: View,
    now: number
  ): ReadonlyArray<Draft> | Refused {
    const { admissionRenewal } = this.configuration
    if (admissionRenewal === undefined) return { refused: "NotRenewable" }
    if (status !== "GRANTED") return { refused: "WrongStatus", status }
    const standing = this.#standings.find((one) => one.consumerId === consumerId)!
    if (grantSequence !== standing.sequence) return { refused: "InvalidGrant" }
    const expiresAt = Math.min(now + admissionRenewal.idleSeconds * 1000, standing.tokenExpiresAt)
    return expiresAt >= standing.expiresAt + 1000 ? [{ _tag: "Renewed", consumerId, expiresAt }] : []
  }

  /** Admits the first waiting consumers one by one. */
  #admitNext(command: Extract<Command, { _tag: "AdmitNext" }>, now: number): ReadonlyArray<Draft> | Refused {
    const { count } = command
    const { openAt = 0 } = this.#held
    if (this.closedAt !== undefined) return { refused: "Closed" }
    if (this.#inLobby || now < openAt) return { refused: "NotOpen", opensAt: openAt }
    if (this.#admissionsLeft <= 0) return { refused: "AdmissionsUsedUp" }
    if (this.#insideLeft <= 0) return { refused: "InsideLimitReached" }
    const waiting = this.#waiting()
    const admitted: Array<Draft> = []
    for (
      let left = Math.min(this.#admissionsLeft, this.#insideLeft);
      left > 0 && admitted.length < count && waiting.length > 0;
      left--
    ) {
      admitted.push({ _tag: "Granted", consumerId: waiting.shift()!.consumerId, ...givenBy(command) })
    }
    return admitted
  }

  #configure(command: Extract<Command, { _tag: "Configure" }>, now: number): ReadonlyArray<Draft> | Refused {
    const wanted = command.configuration
    let configuration = wanted
    if (this.events.length > 0) {
      if (this.closedAt !== undefined) return { refused: "Closed" }
      configuration = keepingWindow(wanted, this.configuration)
      const opened = this.#standings.length > 0 || now >= (this.#held.openAt ?? 0)
      for (const setting of ["openAt", "lobbyOpenAt"] as const) {
        if (opened && configuration[setting] !== this.configuration[setting])
          return { refused: "ConfigurationFixed", setting }
      }
      if (opened && (configuration.riskWeight ?? 0) !== (this.configuration.riskWeight ?? 0))
        return { refused: "ConfigurationFixed", setting: "riskWeight" }
      const sorted = (settings: Configuration) =>
        JSON.stringify(Object.entries(settings).toSorted(([a], [b]) => a.localeCompare(b)))
      if (sorted(configuration) === sorted(this.configuration)) return []
    }
    return [{ _tag: "Configured", configuration, ...givenBy(command) }]
  }

  #enter(
    { consumerId, isGuest, loyaltyScore, risk }: Extract<Command, { _tag: "Enter" }>,
    view: View,
    now: number
  ): ReadonlyArray<Draft> | Refused {
    const again =
      view.status === "LEFT" ||
      (view.status === "DENIED" && view.reason === "ADMISSION_EXPIRED") ||
      (view.status === "COMPLETED" && this.configuration.grantsPerConsumer !== undefined)
    const had = grantsOf(this.events, consumerId, "Granted").length
    const { supportsGuest, openAt = 0, lobbyOpenAt, capacity = Infinity, admitRate } = this.#held
    if (view.status !== "NOT_QUEUED" && (!again || this.closedAt !== undefined)) return []
    if (this.closedAt !== undefined) return { refused: "Closed" }
    if (had >= (this.configuration.grantsPerConsumer ?? Infinity)) return { refused: "GrantLimitReached" }
    if (isGuest && !supportsGuest) return { refused: "GuestsRefused" }
    if (now < (lobbyOpenAt ?? openAt)) return { refused: "NotOpen", opensAt: lobbyOpenAt ?? openAt }
    if (this.#waiting().length >= capacity) {
      const isUnknown = admitRate === 0 || this.#isPaused || this.#admissionsLeft <= 0 || this.#insideLeft <= 0
      const spacing = isUnknown ? 60 : Math.ceil(60 / admitRate)
      return { refused: "Full", retryAfterSeconds: spacing + Math.ceil(Math.max(0, openAt - now) / 1000) }
    }
    const { standby = false } = this.configuration
    const isAlone = this.#waiting().length === 0
    const isGranted = standby && isAlone && this.#mayAdmit && pacedAt(this.events, this.#spans) <= now
    return [
      { _tag: "Entered", consumerId, ...(loyaltyScore > 0 ? { loyaltyScore } : {}), ...(risk && { risk }) },
      ...(isGranted ? [{ _tag: "Granted", consumerId } as const] : [])
    ]
  }
}
