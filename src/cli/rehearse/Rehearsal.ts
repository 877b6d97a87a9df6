/** A rehearsal from the copy to its report. */
import { Clock as Machine, Effect, Redacted, Schedule } from "effect"
import { planOf } from "../../domain/rehearsal/Acts.ts"
import { busiestOf } from "../../domain/rehearsal/Busiest.ts"
import type { Crowd } from "../../domain/rehearsal/Crowd.ts"
import { outcomeOf } from "../../domain/rehearsal/Outcome.ts"
import { playedFindings, unservedOf } from "../../domain/rehearsal/Played.ts"
import { toText } from "../../domain/values/Time.ts"
import { dayMillis } from "../../domain/values/WallClock.ts"
import * as Client from "../../load/Client.ts"
import { orRefused } from "../../load/Setup.ts"
import { StartRefused } from "../../settings/Settings.ts"
import { makeProgress } from "../runtime/Progress.ts"
import * as Clock from "./Clock.ts"
import * as Copy from "./Copy.ts"
import { openingOf, play } from "./Play.ts"
import type { Report, SentMessages } from "./Report.ts"

const hourMillis = 3_600_000

/** How long the server may be away meanwhile: people do what they did once more, which changes nothing. */
const retries = Schedule.max([Schedule.spaced("500 millis"), Schedule.recurs(240)])

export interface Wanted {
  readonly experienceId: string
  readonly url: string
  readonly adminUrl: string
  readonly keys: { readonly live: string; readonly test: string }
  readonly crowd: Crowd
  readonly seed: number
  /** When the copy begins; undefined: when the original does. */
  readonly from: number | undefined
}

/** Copies the experience, plays the crowd, and returns what happened. */
export const rehearse = Effect.fnUntraced(function* ({ experienceId, url, adminUrl, keys, crowd, seed, from }: Wanted) {
  const begunAt = yield* Machine.currentTimeMillis
  const target = (secretKey: string) => ({ url, adminUrl, publishableKey: "", secretKey: Redacted.make(secretKey) })
  const live = yield* Client.make(target(keys.live))
  const client = yield* Client.make(target(keys.test), { timeout: "1 minute" })
  const original = yield* Copy.read(live, experienceId)
  const ownBeginning = beginningOf(original.instants, begunAt)
  const beginsAt = from ?? ownBeginning
  const shift = beginsAt - ownBeginning
  yield* Clock.set(client, beginsAt, `${seed}`)
  const copy = yield* Copy.create(live, client, original, shift)
  const checked = yield* client
    .admin((api) => api.experiences.checkExperience({ params: { id: copy.id } }))
    .pipe(orRefused("The copy could not be checked"))
  const openings = copy.mechanisms.map((mechanism) => openingOf(mechanism, beginsAt))
  const plan = planOf(crowd, openings, seed)
  const ends = [...openings.map((opening) => opening.until), ...original.instants.map((at) => at + shift)]
  const until = Math.max(beginsAt, ...ends) + dayMillis
  const progress = makeProgress(plan.acts.length, begunAt)
  const onStep = (done: number, now: number) => progress.reach(toText(now), done)
  const players = yield* Client.make(target(keys.test), { timeout: "1 minute", retries })
  const { events, refusals, endedAt } = yield* play({
    client: players,
    ...copy,
    openings,
    crowd,
    plan,
    until,
    onStep
  }).pipe(orBrokenOff, Effect.ensuring(progress.end))
  const outcomes = copy.mechanisms.map((mechanism, index) => outcomeOf(mechanism, events[index]!, refusals[index]))
  const played = copy.mechanisms.flatMap((mechanism, index) => playedFindings(mechanism, outcomes[index]!))
  const findings = [...played, ...checked.findings].map(({ code, severity, message }) => ({ code, severity, message }))
  const wrong = new Set(played.map(({ code, recordId }) => (code === "UNITS_LEFT_WHILE_WAITING" ? recordId : "")))
  const report: Report = {
    experienceId,
    copyId: copy.id,
    name: original.name,
    timeZone: original.record["timeZone"] as string,
    seed,
    crowd,
    from: toText(beginsAt),
    to: toText(endedAt),
    seconds: ((yield* Machine.currentTimeMillis) - begunAt) / 1_000,
    unserved: outcomes.reduce((sum, one) => sum + (wrong.has(one.id) ? unservedOf(one) : 0), 0),
    mechanisms: outcomes,
    busiest: busiestOf(plan.acts, events) ?? null,
    messages: yield* messagesOf(client, beginsAt),
    findings: [
      ...findings.filter(({ severity }) => severity === "error"),
      ...findings.filter(({ severity }) => severity === "warning")
    ]
  }
  return report
})

/** Returns when a rehearsal begins: an hour before the first instant that the drop names, at a whole second. */
const beginningOf = (instants: ReadonlyArray<number>, now: number): number => {
  const first = instants.length === 0 ? now : Math.min(...instants)
  return Math.floor(first / 1_000) * 1_000 - hourMillis
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
      orRefused("The messages could not be read")
    )

const orBrokenOff = <A, R>(effect: Effect.Effect<A, Client.RequestError | StartRefused, R>) =>
  Effect.catchTag(effect, "RequestError", ({ message }) =>
    Effect.fail(
      new StartRefused({
        message: `The rehearsal broke off: ${message} \`DELETE /test-clock\` ends it; then run it again with the same seed.`
      })
    )
  )
