/** `usher rehearse`: plays a crowd against a copy of a live drop in test mode, under a test clock. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Clock, Config, Console, Effect, FileSystem, Option, Redacted, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { isUuid } from "../domain/values/Ids.ts"
import { toText } from "../domain/values/Time.ts"
import { dayMillis } from "../domain/values/WallClock.ts"
import { planOf } from "../domain/rehearsal/Acts.ts"
import { type Crowd, CrowdFile, crowdOf, peopleMax } from "../domain/rehearsal/Crowd.ts"
import { type MechanismOutcome, outcomeOf } from "../domain/rehearsal/Outcome.ts"
import { StartRefused } from "../settings/Settings.ts"
import * as Client from "../load/Client.ts"
import { orRefused } from "../load/Setup.ts"
import { columns, json } from "./runtime/Arguments.ts"
import { makeProgress } from "./runtime/Progress.ts"
import { interruptible } from "./runtime/Signals.ts"
import * as Copy from "./rehearse/Copy.ts"
import * as TestClock from "./rehearse/Clock.ts"
import { openingOf, play } from "./rehearse/Play.ts"

const hourMillis = 3_600_000

const address = (name: string, described: string) =>
  Flag.String(name).pipe(
    Flag.withDescription(described),
    Flag.filter(
      (text) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol),
      () => "an http or https address"
    )
  )

const options = {
  experienceId: Argument.String("experience").pipe(
    Argument.withDescription("The id of the live experience"),
    Argument.filter(isUuid, () => "the id of an experience, such as 0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"),
    Argument.map((id) => id.toLowerCase())
  ),
  url: address("url", "The Consumer API's address"),
  adminUrl: address("admin-url", "The Admin API's address"),
  people: Flag.Int("people").pipe(
    Flag.withDescription(`How many people come (1 to ${peopleMax})`),
    Flag.filter(
      (count) => count >= 1 && count <= peopleMax,
      () => `a whole number from 1 to ${peopleMax}`
    ),
    Flag.optional
  ),
  crowd: Flag.String("crowd").pipe(
    Flag.withDescription(
      'A JSON file of the crowd, such as {"people": 5000, "noShow": 0.2, "checkout": {"median": "90 seconds", "spread": 1.6}}'
    ),
    Flag.optional
  ),
  seed: Flag.Int("seed").pipe(
    Flag.withDescription("The same seed gives the same people and acts"),
    Flag.withDefault(1)
  ),
  report: Flag.String("report").pipe(Flag.withDescription("Write the report to this file, as JSON"), Flag.optional),
  json
}

const keys = Config.all({
  live: Config.String("LIVE_SECRET_KEY"),
  test: Config.String("SECRET_KEY")
}).pipe(
  Effect.filterOrFail(
    ({ live, test }) => live.startsWith("sk_live_") && test.startsWith("sk_test_"),
    () => "wrong"
  ),
  Effect.mapError(
    () =>
      new StartRefused({
        message:
          "LIVE_SECRET_KEY and SECRET_KEY have to be in the environment: the keys sk_live_… and sk_test_… of one " +
          "organization. The live key only reads the experience."
      })
  )
)

const readCrowd = Effect.fnUntraced(function* (file: Option.Option<string>, people: Option.Option<number>) {
  const count = Option.getOrUndefined(people)
  if (Option.isNone(file)) return crowdOf({}, count)
  const fs = yield* FileSystem.FileSystem
  const refuse = (error: { readonly message: string }) =>
    new StartRefused({ message: `${file.value}: ${error.message}` })
  const text = yield* fs.readFileString(file.value).pipe(Effect.mapError(refuse))
  const decoded = yield* Schema.decodeUnknownEffect(Schema.fromJsonString(CrowdFile))(text, {
    onExcessProperty: "error"
  }).pipe(Effect.mapError(refuse))
  return crowdOf(decoded, count)
})

interface Report {
  readonly experienceId: string
  readonly copyId: string
  readonly name: string
  readonly seed: number
  readonly crowd: Crowd
  readonly from: string
  readonly to: string
  readonly seconds: number
  readonly mechanisms: ReadonlyArray<MechanismOutcome>
  /** Requests that were refused, by code. */
  readonly refusals: Readonly<Record<string, number>>
  readonly findings: ReadonlyArray<{ readonly code: string; readonly severity: string; readonly message: string }>
}

const rehearse = Effect.fnUntraced(function* (given: Command.Command.Config.Infer<typeof options>) {
  const { experienceId, url, adminUrl, seed } = given
  const { live, test } = yield* keys
  const crowd = yield* readCrowd(given.crowd, given.people)
  const target = (secretKey: string) => ({ url, adminUrl, publishableKey: "", secretKey: Redacted.make(secretKey) })
  const [source, client] = [yield* Client.make(target(live)), yield* Client.make(target(test), { timeout: "1 minute" })]
  const begunAt = yield* Clock.currentTimeMillis
  const { name, body } = yield* Copy.read(source, experienceId)
  const from = beginningOf(Copy.instantsOf(body), begunAt)
  yield* TestClock.set(client, from, `${seed}`)
  const copy = yield* Copy.create(client, body)
  const { findings } = yield* client
    .admin((api) => api.experiences.checkExperience({ params: { id: copy.id } }))
    .pipe(orRefused("The copy could not be checked"))
  const openings = copy.mechanisms.map((mechanism) => openingOf(mechanism, from))
  const plan = planOf(crowd, openings, seed)
  const until = Math.max(from, ...openings.map((opening) => opening.until), ...Copy.instantsOf(body)) + dayMillis
  const progress = makeProgress(plan.acts.length, begunAt)
  const { events, refusals } = yield* play({
    client,
    mechanisms: copy.mechanisms,
    openings,
    crowd,
    plan,
    until,
    onStep: (done, now) => progress.reach(toText(now), done)
  }).pipe(orBrokenOff, Effect.ensuring(progress.end))
  const report: Report = {
    experienceId,
    copyId: copy.id,
    name,
    seed,
    crowd,
    from: toText(from),
    to: toText(until),
    seconds: ((yield* Clock.currentTimeMillis) - begunAt) / 1_000,
    mechanisms: copy.mechanisms.map((mechanism, index) => outcomeOf(mechanism, events[index]!)),
    refusals: Object.fromEntries(refusals),
    findings
  }
  yield* write(given.report, report)
  yield* Console.log(given.json ? JSON.stringify(report) : readable(report))
})

/** Returns when a rehearsal begins: an hour before the first instant that the drop names, at a whole second. */
const beginningOf = (instants: ReadonlyArray<number>, now: number): number => {
  const first = instants.length === 0 ? now : Math.min(...instants)
  return Math.floor(first / 1_000) * 1_000 - hourMillis
}

const write = Effect.fnUntraced(function* (path: Option.Option<string>, report: Report) {
  if (Option.isNone(path)) return
  const fs = yield* FileSystem.FileSystem
  yield* fs
    .writeFileString(path.value, `${JSON.stringify(report, undefined, 1)}\n`)
    .pipe(Effect.mapError(({ message }) => new StartRefused({ message: `${path.value}: ${message}` })))
})

const orBrokenOff = <A, R>(effect: Effect.Effect<A, Client.RequestError | StartRefused, R>) =>
  Effect.catchTag(effect, "RequestError", ({ message }) =>
    Effect.fail(new StartRefused({ message: `The rehearsal broke off: ${message}` }))
  )

const readable = ({ name, crowd, mechanisms, findings, refusals, seconds, copyId }: Report): string => {
  const number = (value: number | null) => (value === null ? "-" : `${value}`)
  const rows = mechanisms.map((one) => [
    one.name,
    number(one.people),
    `${one.granted}${one.units === null ? "" : ` of ${one.units}`}`,
    number(one.used),
    number(one.lapsed),
    number(one.gaveUp),
    one.waitSeconds === null
      ? "-"
      : `${one.waitSeconds.median} / ${one.waitSeconds.p95} / ${one.waitSeconds.longest} s`,
    one.soldOutAt === null ? "-" : toText(one.soldOutAt),
    number(one.largestSecond)
  ])
  const head = [
    "",
    "people",
    "grants",
    "used",
    "lapsed",
    "gave up",
    "wait: median/p95/longest",
    "sold out",
    "most in 1 s"
  ]
  const refused = Object.entries(refusals).map(([code, count]) => `${code} ${count}`)
  return [
    `${name}: ${crowd.people} people, in ${seconds.toFixed(1)} s. The copy ${copyId} stays in test mode until its clock is deleted.`,
    "",
    columns([head, ...rows]),
    "",
    ...(refused.length === 0 ? [] : [`Refused: ${refused.join(", ")}`, ""]),
    ...(findings.length === 0
      ? ["The check finds nothing wrong."]
      : findings.map(({ severity, message }) => `${severity}: ${message}`))
  ].join("\n")
}

/** The command `rehearse`. */
export const command = Command.make("rehearse", options, (given) =>
  rehearse(given).pipe(Effect.provide(NodeHttpClient.layerUndici), interruptible)
).pipe(
  Command.withDescription(
    "Copy a live drop into test mode, without its products and audiences, and play a crowd under a test clock, over " +
      "HTTP. The shop's server acts for the people, so the limits of the organization apply and no limit of an address; " +
      "where they are reached the crowd waits. `usher organizations allow-load` raises them. No message leaves."
  ),
  Command.withExamples([
    {
      command:
        "LIVE_SECRET_KEY=sk_live_… SECRET_KEY=sk_test_… usher rehearse 0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a --url https://api.example.com --admin-url https://admin.example.com --people 5000 --seed 7",
      description: "Five thousand people, the same ones at each run"
    }
  ])
)
