/** `usher rehearse`: plays a crowd against a copy of a live drop in test mode, under a test clock. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Clock, Config, Console, Effect, FileSystem, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { CrowdFile, crowdOf, peopleMax } from "../domain/rehearsal/Crowd.ts"
import { isUuid } from "../domain/values/Ids.ts"
import { instantOf, toText } from "../domain/values/Time.ts"
import type { BrokenOff } from "../load/rehearsal/Clock.ts"
import type { Step } from "../load/rehearsal/Rehearsal.ts"
import { StartRefused } from "../settings/Settings.ts"
import { address, json } from "./runtime/Arguments.ts"
import { withModule } from "./runtime/LazyModule.ts"
import { makeProgress } from "./runtime/Progress.ts"
import { interruptible } from "./runtime/Signals.ts"

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
      'A JSON file of the crowd, such as {"people": 5000, "noShow": 0.2, "checkout": {"median": "90 seconds", "spread": 1.6}}. Default: what people did in a former drop, as far as it shows it'
    ),
    Flag.optional
  ),
  seed: Flag.Int("seed").pipe(
    Flag.withDescription("The same seed gives the same people and acts"),
    Flag.withDefault(1)
  ),
  from: Flag.String("from").pipe(
    Flag.withDescription(
      "When the copy begins, such as 2030-01-31T09:00:00Z. All its times move with it. Default: when the original begins"
    ),
    Flag.filter(
      (text) => instantOf(text) !== undefined,
      () => "an instant such as 2030-01-31T09:00:00Z"
    ),
    Flag.map((text) => instantOf(text)!),
    Flag.optional
  ),
  report: Flag.String("report").pipe(Flag.withDescription("Write the report to this file, as a page"), Flag.optional),
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
  if (Option.isNone(file)) return { crowd: crowdOf({}, count), declared: [] }
  const fs = yield* FileSystem.FileSystem
  const refuse = (error: { readonly message: string }) =>
    new StartRefused({ message: `${file.value}: ${error.message}` })
  const text = yield* fs.readFileString(file.value).pipe(Effect.mapError(refuse))
  const decoded = yield* Schema.decodeUnknownEffect(Schema.fromJsonString(CrowdFile))(text, {
    onExcessProperty: "error"
  }).pipe(Effect.mapError(refuse))
  return { crowd: crowdOf(decoded, count), declared: Object.keys(decoded) }
})

/** Shows how far a rehearsal is that began at an instant. */
const showing = (begunAt: number) => {
  let progress: ReturnType<typeof makeProgress> | undefined
  return {
    onStep: ({ done, total, now }: Step) =>
      Effect.suspend(() => {
        progress ??= makeProgress(total, begunAt)
        return progress.reach(toText(now), done)
      }),
    end: Effect.suspend(() => progress?.end ?? Effect.void)
  }
}

/** Says how to go on after a rehearsal that has broken off. */
const advising = <A, E, R>(effect: Effect.Effect<A, E | BrokenOff, R>) =>
  Effect.catchTag(effect as Effect.Effect<A, BrokenOff, R>, "BrokenOff", ({ message }) =>
    Effect.fail(
      new StartRefused({
        message: `${message} \`DELETE /test-clock\` ends the rehearsal; then run it again with the same seed.`
      })
    )
  ) as Effect.Effect<A, Exclude<E, BrokenOff> | StartRefused, R>

const rehearse = Effect.fnUntraced(function* (given: Command.Command.Config.Infer<typeof options>) {
  const { experienceId, url, adminUrl, seed } = given
  const wanted = { experienceId, url, adminUrl, seed, from: Option.getOrUndefined(given.from) }
  const { crowd, declared } = yield* readCrowd(given.crowd, given.people)
  const { report, page, text } = yield* withModule(
    () =>
      Promise.all([
        import("../load/rehearsal/Rehearsal.ts"),
        import("../load/rehearsal/Report.ts"),
        import("../load/rehearsal/Page.ts")
      ]),
    ([{ rehearse }, { readable }, { pageOf }]) =>
      Effect.gen(function* () {
        const { onStep, end } = showing(yield* Clock.currentTimeMillis)
        const report = yield* rehearse({ ...wanted, keys: yield* keys, crowd, declared, onStep }).pipe(
          Effect.ensuring(end),
          advising
        )
        return { report, page: pageOf(report), text: readable(report) }
      })
  )
  if (Option.isSome(given.report)) {
    const path = given.report.value
    yield* (yield* FileSystem.FileSystem)
      .writeFileString(path, page)
      .pipe(Effect.mapError(({ message }) => new StartRefused({ message: `${path}: ${message}` })))
  }
  yield* Console.log(given.json ? JSON.stringify(report) : text)
})

/** The command `rehearse`. */
export const command = Command.make("rehearse", options, (given) =>
  rehearse(given).pipe(Effect.provide(NodeHttpClient.layerUndici), interruptible)
).pipe(
  Command.withDescription(
    "Copy a live drop into test mode, with its products, stocks and audiences, and play a crowd under a test clock, over " +
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
