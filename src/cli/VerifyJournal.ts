/** `usher verify-journal`: compares what is stored of each mechanism with a replay of its journal, and repairs it. */
import { Clock, Console, Data, Effect, Layer, Option, Runtime } from "effect"
import { Command, Flag } from "effect/cli"
import { Organizations } from "../auth/keys/Organizations.ts"
import { actorDeciders } from "../domain/mechanism/Mechanism.ts"
import type { Difference } from "../engine/verification/Differences.ts"
import { repair, type Verdict, verify } from "../engine/verification/Verification.ts"
import { StartRefused } from "../settings/Settings.ts"
import * as Nodes from "../store/coordination/Nodes.ts"
import * as JournalCodec from "../store/journal/JournalCodec.ts"
import * as JournalSql from "../store/journal/JournalSql.ts"
import { firstId, Projections, type Selection } from "../store/journal/Projections.ts"
import { idFlag, json, orDatabaseProblem, organization, refused } from "./runtime/Arguments.ts"
import * as Environment from "./runtime/Environment.ts"
import { makeProgress } from "./runtime/Progress.ts"
import { interruptible } from "./runtime/Signals.ts"

/** Stored values differ from the journal. */
export class JournalDiffers extends Data.TaggedError("JournalDiffers")<{ readonly message: string }> {
  // The command line has printed the message. A log entry with a stack would only hide it.
  override readonly [Runtime.errorReported] = false
}

/** Differences that are shown. The rest is counted. */
const shownMax = 1_000

/** The inputs of a verification. */
export const journals = Layer.mergeAll(
  JournalSql.layer({ codecs: JournalCodec.codecs(actorDeciders) }),
  Projections.layer,
  Organizations.layer
)

const services = journals.pipe(Layer.provideMerge(Environment.withDatabase))

/** The sums over all verified mechanisms. */
interface Report {
  mechanisms: number
  events: number
  places: number
  /** Mechanisms that were not verified, because their journals are in archives. */
  readonly archived: number
  /** Values that differed, whether they were repaired or not. */
  differences: number
  /** Values that differed and were repaired. */
  repaired: number
  /** The first differences, with their mechanisms. */
  readonly shown: Array<Difference & Pick<Verdict, "mechanismId" | "kind">>
}

const options = {
  organization: organization.pipe(Flag.optional),
  mechanism: idFlag("mechanism", "a mechanism").pipe(
    Flag.withDescription("Verify only the mechanism with this id"),
    Flag.optional
  ),
  repair: Flag.Boolean("repair").pipe(
    Flag.withDescription(
      "Rewrite places, heads and records that differ; the journal is never changed. Refused while servers run"
    ),
    Flag.withDefault(false)
  ),
  json
}

/** The command `verify-journal`. */
export const command = Command.make("verify-journal", options, ({ organization, mechanism, repair, json }) =>
  Effect.gen(function* () {
    const selection = {
      organizationId: Option.getOrUndefined(organization),
      mechanismId: Option.getOrUndefined(mechanism)
    }
    if (repair) yield* refuseWhileServing
    const report = yield* verifyAll(selection, repair)
    yield* Console.log(json ? JSON.stringify(report) : readable(report))
    const left = report.differences - report.repaired
    if (left > 0) return yield* new JournalDiffers({ message: problemOf(left, repair) })
  }).pipe(orDatabaseProblem, Effect.provide(services), interruptible)
).pipe(
  Command.withDescription(
    "Replay the journal of every mechanism and compare the head, the record and each place with the stored values. " +
      "Changes nothing without --repair, and works while servers run. Ends with code 0 if nothing differs or all was " +
      "repaired, else with 1."
  ),
  Command.withExamples([
    { command: "usher verify-journal", description: "All mechanisms" },
    {
      command: "usher verify-journal --mechanism 0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a --json",
      description: "One mechanism, for scripts"
    },
    {
      command: "usher verify-journal --repair",
      description: "Rewrite stored values that differ, after all servers have ended"
    }
  ])
)

/** Verifies the selected mechanisms one after the other, and shows its progress. */
export const verifyAll = Effect.fnUntraced(function* (selection: Selection, repairs: boolean) {
  const projections = yield* Projections
  const { events, archived } = yield* expected(selection)
  const progress = makeProgress(events, yield* Clock.currentTimeMillis)
  const report: Report = { mechanisms: 0, events: 0, places: 0, archived, differences: 0, repaired: 0, shown: [] }
  let ids = yield* projections.mechanisms(selection, firstId)
  while (ids.length > 0) {
    for (const id of ids) {
      const found = yield* verify(id, (events) => progress.advance("events", events))
      const repaired =
        repairs && found.count > 0 && found.isRepairable ? yield* repair(id, refuseWhileServing) : undefined
      add(report, repaired ?? found, repaired?.isRepairable === true)
    }
    ids = yield* projections.mechanisms(selection, ids[ids.length - 1]!)
  }
  yield* progress.end
  return report
})

const add = (
  report: Report,
  { mechanismId, kind, events, places, count, differences }: Verdict,
  isRepaired: boolean
) => {
  report.mechanisms += 1
  report.events += events
  report.places += places
  report.differences += count
  if (isRepaired) report.repaired += count
  const room = shownMax - report.shown.length
  report.shown.push(...differences.slice(0, room).map((difference) => ({ mechanismId, kind, ...difference })))
}

/** Counts the selected mechanisms and events. Refuses an organization or a mechanism that does not exist. */
const expected = Effect.fnUntraced(function* (selection: Selection) {
  const { organizationId, mechanismId } = selection
  if (organizationId !== undefined) {
    const isKnown = Option.isSome(yield* (yield* Organizations).find(organizationId))
    if (!isKnown) yield* Effect.fail({ _tag: "OrganizationNotFound" as const }).pipe(refused(organizationId))
  }
  const counted = yield* (yield* Projections).count(selection)
  if (mechanismId !== undefined && counted.mechanisms === 0) {
    if (counted.archived > 0) {
      return yield* new StartRefused({
        message: `--mechanism: the journal of ${mechanismId} is in an archive. \`usher archive list\` shows the files, and \`usher archive restore\` brings one back.`
      })
    }
    const where = organizationId === undefined ? "" : ` in the organization ${organizationId}`
    return yield* new StartRefused({ message: `--mechanism: there is no mechanism ${mechanismId}${where}.` })
  }
  return counted
})

/** Refuses while processes serve from the database, because they may hold any mechanism. */
const refuseWhileServing = Effect.gen(function* () {
  const serving = yield* Nodes.heard
  if (serving.length === 0) return
  const names = serving.map(({ name, address }) => (address === null ? name : `${name} at ${address}`)).join(", ")
  return yield* new StartRefused({
    message:
      `--repair: processes serve from this database and may hold its mechanisms: ${names}. End them first. One that was ` +
      `killed counts as alive for ${Nodes.silentSeconds} seconds.`
  })
})

const problemOf = (left: number, repairs: boolean): string =>
  repairs
    ? `${left} differences were not repaired, because events are missing or unreadable. Restore the journal from a backup.`
    : `${left} stored values differ from the journal. End all servers and run the command with --repair to rewrite them.`

/** Returns the report as text for people. */
export const readable = ({ mechanisms, events, places, archived, differences, repaired, shown }: Report): string => {
  const figures = [`${mechanisms} mechanisms`, `${events} events`, `${places} places`].join(", ")
  const others = archived === 0 ? "" : ` ${archived} mechanisms are in archives.`
  return [
    ...shown.map(
      ({ mechanismId, kind, what, expected, stored }) =>
        `${mechanismId}  ${kind ?? "unknown"}  ${what}: expected ${JSON.stringify(expected)}, stored ${JSON.stringify(stored)}`
    ),
    ...(differences > shown.length ? [`... and ${differences - shown.length} more`] : []),
    `Replayed ${figures}: ${differences === 0 ? "no difference." : `${differences} differences, ${repaired} repaired.`}${others}`
  ].join("\n")
}
