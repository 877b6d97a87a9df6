/** A rehearsal from the copy to its report. */
import { Clock as Machine, Effect, Redacted, Schedule } from "effect"
import { planOf } from "../../domain/rehearsal/Acts.ts"
import { busiestOf } from "../../domain/rehearsal/Busiest.ts"
import type { CheckedMechanism } from "../../domain/rehearsal/CheckedDrop.ts"
import type { Crowd } from "../../domain/rehearsal/Crowd.ts"
import { type FormerDrop, measuredBeside, type MeasuredFigure } from "../../domain/rehearsal/Former.ts"
import { outcomeOf } from "../../domain/rehearsal/Outcome.ts"
import type { Finding } from "../../domain/rehearsal/Finding.ts"
import { isExplained, type PlayedFinding, playedFindings, unservedOf } from "../../domain/rehearsal/Played.ts"
import { toText } from "../../domain/values/Time.ts"
import { dayMillis } from "../../domain/values/WallClock.ts"
import * as Client from "../Client.ts"
import { archiveFormer } from "./Catalogue.ts"
import * as Clock from "./Clock.ts"
import * as Copy from "./Copy.ts"
import { formerDrop } from "./Former.ts"
import { openingOf, play } from "./Play.ts"
import { type Report, type ReportedFinding, type SentMessages, verdictOf } from "./Report.ts"

const hourMillis = 3_600_000

/** How long the server may be away meanwhile: people do what they did once more, which changes nothing. */
const retries = Schedule.max([Schedule.spaced("500 millis"), Schedule.recurs(240)])

/** A 503 has changed nothing. After no answer a record may have been created. */
const preparing: Client.Options = { timeout: "1 minute", retries, isRetried: ({ reason }) => reason === "503" }

export interface Wanted {
  readonly experienceId: string
  readonly url: string
  readonly adminUrl: string
  readonly keys: { readonly live: string; readonly test: string }
  readonly crowd: Crowd
  /** The figures of the crowd that its author has set. The others are taken from a former drop, if there is one. */
  readonly declared: ReadonlyArray<string>
  readonly seed: number
  /** When the copy begins; undefined: when the original does. */
  readonly from: number | undefined
  /** Called after each step. */
  readonly onStep: (step: Step) => Effect.Effect<void>
}

/** How far a rehearsal is. */
export interface Step {
  /** The acts that are done, and those that are known: grants that come lead to more. */
  readonly done: number
  readonly total: number
  /** The test clock's time. */
  readonly now: number
}

/** Copies the experience, plays the crowd, and returns what happened. */
export const rehearse = Effect.fnUntraced(function* (wanted: Wanted) {
  const { experienceId, url, adminUrl, keys, seed, from } = wanted
  const begunAt = yield* Machine.currentTimeMillis
  const target = (secretKey: string) => ({ url, adminUrl, publishableKey: "", secretKey: Redacted.make(secretKey) })
  const live = yield* Client.make(target(keys.live), preparing)
  const client = yield* Client.make(target(keys.test), preparing)
  const original = yield* Copy.read(live, experienceId)
  const ownBeginning = beginningOf(original.instants, begunAt)
  const beginsAt = from ?? ownBeginning
  const shift = beginsAt - ownBeginning
  yield* Clock.set(client, beginsAt, `${seed}`)
  const copy = yield* Copy.create(live, client, original, shift)
  // Played at another time, it is checked as it was before it began.
  const checked = yield* check(live, experienceId, from === undefined ? {} : { at: ownBeginning })
  const { crowd, former } = yield* crowdFor(live, wanted, copy.mechanisms)
  const openings = copy.mechanisms.map((mechanism) => openingOf(mechanism, beginsAt))
  const plan = planOf(crowd, openings, seed)
  const ends = [...openings.map((opening) => opening.until), ...original.instants.map((at) => at + shift)]
  const until = Math.max(beginsAt, ...ends) + dayMillis
  const onStep = (done: number, now: number) => wanted.onStep({ done, total: plan.acts.length, now })
  const players = yield* Client.make(target(keys.test), { timeout: "1 minute", retries })
  const { events, refusals, endedAt } = yield* play({
    client: players,
    ...copy,
    openings,
    crowd,
    plan,
    until,
    onStep
  }).pipe(broken)
  const unitsLeft = yield* unitsLeftOf(client, copy.mechanisms)
  const outcomes = copy.mechanisms.map((mechanism, index) =>
    outcomeOf(mechanism, events[index]!, refusals[index], unitsLeft.get(mechanism.settings.stockId ?? ""))
  )
  const played = copy.mechanisms.flatMap((mechanism, index) => playedFindings(mechanism, outcomes[index]!, crowd))
  const findings = findingsOf(copy.mechanisms, played, checked.findings)
  const wrong = new Set(played.map(({ code, recordId }) => (code === "UNITS_LEFT_WHILE_WAITING" ? recordId : "")))
  const unserved = outcomes.reduce((sum, one) => sum + (wrong.has(one.id) ? unservedOf(one) : 0), 0)
  const report: Report = {
    experienceId,
    copyId: copy.id,
    name: original.name,
    timeZone: original.record["timeZone"] as string,
    seed,
    crowd,
    ...(former !== undefined && { former }),
    from: toText(beginsAt),
    to: toText(endedAt),
    seconds: ((yield* Machine.currentTimeMillis) - begunAt) / 1_000,
    unserved,
    verdict: verdictOf({ unserved, mechanisms: outcomes }),
    mechanisms: outcomes,
    busiest: busiestOf(plan.acts, events) ?? null,
    messages: yield* messagesOf(client, beginsAt),
    findings
  }
  return report
})

/** Returns what the check of the live drop finds, because what is around a drop is that of live mode. */
const check = (live: Client.Client, id: string, query: { readonly at?: number }) =>
  live
    .admin((api) => api.experiences.checkExperience({ params: { id }, query }))
    .pipe(Clock.orBrokenOff("The live experience could not be checked"))

/** Returns the crowd with what the people of a former drop did, and that drop. */
const crowdFor = Effect.fnUntraced(function* (
  live: Client.Client,
  { crowd, declared, experienceId }: Wanted,
  mechanisms: ReadonlyArray<CheckedMechanism>
) {
  const found = yield* formerDrop(live, experienceId, new Set(mechanisms.map(({ kind }) => kind))).pipe(
    Clock.orBrokenOff("A former drop could not be read")
  )
  if (found === undefined) return { crowd, former: undefined }
  const taken = measuredBeside(declared, found.measured)
  const figures = Object.keys(taken) as Array<MeasuredFigure>
  const former: FormerDrop = { name: found.name, people: found.measured.people, figures }
  return { crowd: { ...crowd, ...taken }, former }
})

const broken = Clock.orBrokenOff("The rehearsal broke off")

/** Ends the test clock, which archives the copy, and archives the copied products and stocks. */
export const tidyUp = Effect.fnUntraced(function* ({ experienceId, url, adminUrl, keys }: Wanted) {
  const target = (secretKey: string) => ({ url, adminUrl, publishableKey: "", secretKey: Redacted.make(secretKey) })
  const live = yield* Client.make(target(keys.live))
  const client = yield* Client.make(target(keys.test), { timeout: "1 minute", retries })
  const { products } = yield* Copy.read(live, experienceId)
  // A request before it, whose answer was lost, may have ended the clock.
  yield* Clock.patient(client.admin((api) => api.testClock.deleteTestClock({}))).pipe(
    Effect.catchIf(
      ({ reason }) => reason === "404",
      () => Effect.void
    ),
    broken
  )
  yield* archiveFormer(client, products).pipe(broken)
})

/** Returns when a rehearsal begins: an hour before the first instant that the drop names, at a whole second. */
const beginningOf = (instants: ReadonlyArray<number>, now: number): number => {
  const first = instants.length === 0 ? now : Math.min(...instants)
  return Math.floor(first / 1_000) * 1_000 - hourMillis
}

/** Returns the units that the stocks of mechanisms have not sold, by stock. */
const unitsLeftOf = Effect.fnUntraced(function* (client: Client.Client, mechanisms: ReadonlyArray<CheckedMechanism>) {
  const ids = new Set(mechanisms.flatMap(({ settings }) => settings.stockId ?? []))
  const left = yield* Effect.forEach(ids, (id) =>
    client
      .admin((api) => api.stocks.getStock({ params: { id } }))
      .pipe(
        Effect.map(({ onHand, sold }) => [id, onHand - sold] as const),
        Clock.orBrokenOff("A stock could not be read")
      )
  )
  return new Map(left)
})
/**
 * Returns what is wrong with the live drop, errors first: what its check finds, and what playing its copy shows besides.
 * One cause is told once.
 */
const findingsOf = (
  mechanisms: ReadonlyArray<Copy.CopiedMechanism>,
  played: ReadonlyArray<PlayedFinding>,
  checked: ReadonlyArray<Finding>
): ReadonlyArray<ReportedFinding> => {
  const originals = new Map(mechanisms.map(({ id, originalId }) => [id, originalId]))
  const shown = played.flatMap((finding): ReadonlyArray<ReportedFinding> => {
    const recordId = originals.get(finding.recordId)!
    return isExplained(finding, recordId, checked) ? [] : [{ ...finding, record: "distribution", recordId }]
  })
  const found = [...shown, ...checked]
  return [
    ...found.filter(({ severity }) => severity === "error"),
    ...found.filter(({ severity }) => severity === "warning")
  ]
}

/** Returns the messages since an instant, by subject. Without an outbox there are none. */
const messagesOf = (client: Client.Client, since: number) =>
  client
    .admin((api) => api.outbox.readOutbox({ query: {} }))
    .pipe(
      Effect.map(({ data }): ReadonlyArray<SentMessages> => {
        // The newest comes first.
        const sent = data.filter(({ sentAt }) => sentAt >= since).toReversed()
        return [...Map.groupBy(sent, ({ channel, subject }) => `${channel} ${subject}`).values()].map((some) => {
          const { channel, subject, text } = some[0]!
          return { channel, subject, text, count: some.length }
        })
      }),
      Effect.catchIf(
        ({ reason }) => reason === "404",
        () => Effect.succeed([])
      ),
      Clock.orBrokenOff("The messages could not be read")
    )
