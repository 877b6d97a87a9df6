/** `usher resume`: ends the hold of a restored database, and extends what stood still meanwhile. */
import { Clock, Console, Effect, Layer, Option } from "effect"
import { Command, Flag } from "effect/cli"
import { extensionSecondsMax } from "../../domain/mechanism/extension/Extension.ts"
import { actorDeciders } from "../../domain/mechanism/Mechanism.ts"
import { extendHeld } from "../../engine/lifecycle/Extension.ts"
import { StartRefused } from "../../settings/Settings.ts"
import * as Installation from "../../store/coordination/Installation.ts"
import { Journal } from "../../store/journal/Journal.ts"
import * as JournalCodec from "../../store/journal/JournalCodec.ts"
import * as JournalSql from "../../store/journal/JournalSql.ts"
import { orDatabaseProblem } from "../runtime/Arguments.ts"
import * as Environment from "../runtime/Environment.ts"
import { makeProgress } from "../runtime/Progress.ts"
import { interruptible } from "../runtime/Signals.ts"

const unitSeconds = { s: 1, m: 60, h: 3_600, d: 86_400 }

/** Returns the seconds of a duration such as `30m`; undefined if it is none. */
const secondsOf = (text: string): number | undefined => {
  const [, count, unit] = /^(\d{1,8})([smhd])$/.exec(text) ?? []
  if (count === undefined || unit === undefined) return undefined
  const seconds = Number(count) * unitSeconds[unit as keyof typeof unitSeconds]
  return seconds > 0 && seconds <= extensionSecondsMax ? seconds : undefined
}

const options = {
  extend: Flag.String("extend").pipe(
    Flag.filter(
      (text) => secondsOf(text) !== undefined,
      () => "a duration of at most a year, such as 90s, 30m, 2h or 1d"
    ),
    Flag.withDescription(
      "First move the expiry of every grant that consumers hold, and every closing that had not passed, by this time, " +
        "such as 30m. Choose at least the time since the backup, or they end at once"
    ),
    Flag.optional
  )
}

const services = JournalSql.layer({ codecs: JournalCodec.codecs(actorDeciders) }).pipe(
  Layer.provideMerge(Environment.withDatabase)
)

/** The command `resume`. */
export const command = Command.make("resume", options, ({ extend }) =>
  Effect.gen(function* () {
    const { heldAt, timeline } = yield* Installation.read
    if (heldAt === undefined) {
      return yield* new StartRefused({
        message:
          "The database is not on hold. Nothing was changed. `POST /distributions/{id}/extend` of the Admin API extends a " +
          "mechanism that runs."
      })
    }
    if (Option.isSome(extend)) yield* extendAll(secondsOf(extend.value)!, timeline)
    yield* Installation.endHold
    yield* Console.log("The hold has ended. Running servers take writes within some seconds.")
  }).pipe(
    orDatabaseProblem,
    Effect.catchTag("JournalConflict", ({ mechanismId }) =>
      Effect.fail(
        new StartRefused({ message: `Another process changed the mechanism ${mechanismId}. Run the command again.` })
      )
    ),
    Effect.provide(services),
    interruptible
  )
).pipe(
  Command.withDescription(
    "End the hold of a restored database: servers take writes, and timers, messages and webhooks run. Everything " +
      "that became due since the backup happens at once, unless it is extended. An interrupted command can be " +
      "repeated: it extends nothing twice."
  ),
  Command.withExamples([
    { command: "usher resume", description: "After you have checked the restored data" },
    { command: "usher resume --extend 30m", description: "Consumers have 30 minutes more for what they hold" }
  ])
)

/** Extends every unfinished mechanism, one after the other. */
const extendAll = Effect.fnUntraced(function* (seconds: number, timeline: string) {
  const heads = yield* (yield* Journal).unfinished
  const progress = makeProgress(heads.length, yield* Clock.currentTimeMillis)
  let grants = 0
  for (const head of heads) {
    grants += yield* extendHeld(head, { seconds }, `usher resume ${timeline}`)
    yield* progress.advance("mechanisms", 1)
  }
  yield* progress.end
  yield* Console.log(`Extended ${heads.length} mechanisms and ${grants} grants by ${seconds} seconds.`)
})
