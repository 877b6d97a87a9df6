/**
 * `usher replay`: runs the journal of one mechanism through the rules again, as it was or with other settings, and shows
 * the figures of both.
 */
import { Console, Effect, Layer } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { columns } from "../domain/values/Columns.ts"
import { type Kind, kindNames } from "../domain/mechanism/Mechanism.ts"
import { isUuid } from "../domain/values/Ids.ts"
import { rowsOf } from "../engine/replay/FigureRows.ts"
import { onceMore, type Outcome, type Replayed } from "../engine/replay/OnceMore.ts"
import { readJournal, replayedEventsMax } from "../engine/replay/RecordedJournal.ts"
import { changeOfText } from "../engine/replay/Settings.ts"
import type { Difference } from "../engine/replay/Unchanged.ts"
import { StartRefused } from "../settings/Settings.ts"
import { json, orDatabaseProblem } from "./runtime/Arguments.ts"
import * as Environment from "./runtime/Environment.ts"
import { interruptible } from "./runtime/Signals.ts"
import { JournalDiffers, journals } from "./VerifyJournal.ts"

const services = journals.pipe(Layer.provideMerge(Environment.withDatabase))

const options = {
  mechanismId: Argument.String("mechanism").pipe(
    Argument.withDescription("The mechanism's id"),
    Argument.filter(isUuid, () => "the id of a mechanism, such as 0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"),
    Argument.map((id) => id.toLowerCase())
  ),
  changes: Flag.String("set").pipe(
    Flag.withDescription(
      "A setting with another value, such as admitRate=120; may be repeated. Nothing after the sign removes the " +
        "setting. It replaces every recorded value of the setting"
    ),
    Flag.atLeast(0)
  ),
  seed: Flag.Int("seed").pipe(
    Flag.withDescription("The seed of what people do with their grants. Equal seeds lead to equal reports"),
    Flag.withDefault(1)
  ),
  json
}

/** The command `replay`. */
export const command = Command.make("replay", options, ({ mechanismId, changes, seed, json }) =>
  Effect.gen(function* () {
    const { head, events, kind } = yield* recorded(mechanismId)
    const outcome = onceMore({ kind, changes: changes.map(changeOfText), seed }, head.formatVersion, events)
    if (outcome._tag === "Refused") {
      return yield* new StartRefused({ message: `--set ${outcome.problem.name}: ${outcome.problem.message}` })
    }
    if (json) yield* Console.log(JSON.stringify({ mechanismId, kind, ...reported(outcome, changes, seed) }))
    if (outcome._tag === "Differs") {
      if (!json) yield* Console.log(differenceInWords(outcome.difference, events.length))
      return yield* new JournalDiffers({ message: "The rules of this release do not lead to the recorded events." })
    }
    if (!json) yield* Console.log(readable(kind, outcome, changes))
  }).pipe(orDatabaseProblem, Effect.provide(services), interruptible)
).pipe(
  Command.withDescription(
    "Run the journal of a mechanism through the rules of this release again. Every event must come out as it was " +
      "recorded: ends with code 0 if all do, else with 1. With --set also show what other settings would have led to, " +
      "if people had come and gone as they did. Changes nothing, and works while servers run."
  ),
  Command.withExamples([
    {
      command: "usher replay 0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a",
      description: "Every event again, as it was recorded"
    },
    {
      command:
        "usher replay 0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a --set admitRate=120 --set admissionExpirationSeconds=300 --seed 7",
      description: "What a rate of 120 a minute and grants of five minutes would have done"
    }
  ])
)

/** The outcome as JSON shows it. */
const reported = (
  { _tag, ...outcome }: Exclude<Outcome, { _tag: "Refused" }>,
  set: ReadonlyArray<string>,
  seed: number
) => ("changed" in outcome ? { ...outcome, changed: { ...outcome.changed, set, seed } } : outcome)

/** Reads the journal. Refuses one that cannot be replayed. */
const recorded = Effect.fnUntraced(function* (mechanismId: string) {
  const refuse = (message: string) => Effect.fail(new StartRefused({ message }))
  const journal = yield* readJournal(mechanismId).pipe(
    Effect.catchTags({
      JournalTooLong: () => refuse(`The journal of ${mechanismId} has more than ${replayedEventsMax} events.`),
      JournalArchived: () =>
        refuse(
          `The journal of ${mechanismId} is in an archive. \`usher archive list\` shows the files, and \`usher archive restore\` brings one back.`
        ),
      JournalCorrupt: ({ sequence, problem }) =>
        Effect.fail(new JournalDiffers({ message: `Event ${sequence} of ${mechanismId} cannot be read: ${problem}` }))
    })
  )
  if (journal === undefined) return yield* refuse(`There is no mechanism ${mechanismId}.`)
  const { kind } = journal.head.identity
  if (kind === "stock") return yield* refuse(`${mechanismId} is a stock. Only mechanisms can be replayed.`)
  return { ...journal, kind }
})

const differenceInWords = ({ sequence, recorded, expected }: Difference, events: number): string =>
  [
    `Event ${sequence} of ${events} is not what the rules lead to.`,
    `  recorded: ${recorded}`,
    `  expected: ${expected}`
  ].join("\n")

const readable = (kind: Kind, { events, commands, figures, changed }: Replayed, set: ReadonlyArray<string>): string => {
  const unchanged = `${kindNames[kind]}: ${events} events of ${commands} commands, all as they were recorded.`
  const rows = rowsOf(figures)
  if (changed === undefined) return [unchanged, "", columns(rows)].join("\n")
  const others = rowsOf(changed.figures)
  const table = rows.map(([name, value], index) => [name, value, others[index]![1]])
  return [changed.assumption, "", columns([["", "recorded", set.join(" ")], ...table]), "", unchanged].join("\n")
}
