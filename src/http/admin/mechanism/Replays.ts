/** Replays mechanisms on a thread, one at a time. */
import { Duration, Effect, Option, Semaphore } from "effect"
import { type ReplayBody, servedEventsMax } from "../../../api/admin/ReplayApi.ts"
import { Conflict } from "../../../api/Errors.ts"
import type { MechanismIdentity } from "../../../domain/mechanism/Mechanism.ts"
import { instantOf } from "../../../domain/values/Time.ts"
import type { Figures } from "../../../engine/replay/Figures.ts"
import type { Outcome } from "../../../engine/replay/OnceMore.ts"
import { readPages } from "../../../engine/replay/RecordedJournal.ts"
import * as ReplayThread from "../../../engine/replay/ReplayThread.ts"
import { Journal } from "../../../store/journal/Journal.ts"
import { Projections } from "../../../store/journal/Projections.ts"
import { issueAt, issueWithin } from "../../errors/Issues.ts"
import { invalidInput } from "../../errors/Validation.ts"
import { problemIssues } from "../records/Answers.ts"

type Body = typeof ReplayBody.Type

/** How long the reading and the replay of a journal may take. */
const replaySeconds = 60

/** Makes the function that replays a mechanism. */
export const make = Effect.gen(function* () {
  const services = yield* Effect.context<Journal | Projections>()
  const turns = yield* Semaphore.make(1)

  return Effect.fnUntraced(function* (identity: MechanismIdentity, body: Body) {
    const outcome = yield* Effect.scoped(outcomeOf(identity, body)).pipe(
      Effect.provide(services),
      Effect.timeoutOption(Duration.seconds(replaySeconds)),
      turns.withPermit
    )
    return yield* answerOf(Option.getOrUndefined(outcome), identity, body)
  })
})

/** Returns undefined for a journal that is too long. */
const outcomeOf = Effect.fnUntraced(
  function* ({ id, kind }: MechanismIdentity, { settings = {}, seed = 1 }: Body) {
    const changes = Object.entries(settings).map(([name, value]) => ({ name, readings: [value ?? undefined] as const }))
    const thread = yield* ReplayThread.start({ kind, changes, seed })
    const head = yield* readPages(id, servedEventsMax, thread.take)
    return yield* thread.outcome(head!.formatVersion)
  },
  Effect.catchTags({
    JournalTooLong: () => Effect.succeed(undefined),
    JournalArchived: () => conflict("JOURNAL_ARCHIVED", "The journal is in an archive"),
    JournalCorrupt: ({ sequence }) => conflict("JOURNAL_DIFFERS", `Event ${sequence} cannot be read`)
  })
)

const answerOf = (outcome: Outcome | undefined, { id }: MechanismIdentity, { settings = {} }: Body) => {
  if (outcome === undefined) return Effect.fail(invalidInput([tooLong(id)]))
  switch (outcome._tag) {
    case "Refused": {
      const { name: field, message } = outcome.problem
      const [issue] = problemIssues([{ field, message }], settings)
      return Effect.fail(invalidInput([issueWithin(issue!, { settings }, ["settings"])]))
    }
    case "Differs": {
      const { sequence, recorded, expected } = outcome.difference
      const error = `Event ${sequence} is ${recorded}, and the rules of this release lead to ${expected}`
      return conflict("JOURNAL_DIFFERS", error)
    }
    case "Replayed": {
      const { events, figures, changed } = outcome
      return Effect.succeed({
        events,
        recorded: shown(figures),
        changed: changed === undefined ? null : { ...changed, figures: shown(changed.figures) }
      })
    }
  }
}

const conflict = (code: string, error: string) => Effect.fail(new Conflict({ error, code }))

const shown = (figures: Figures) => ({
  ...figures,
  soldOutAt: figures.soldOutAt === null ? null : instantOf(figures.soldOutAt)!
})

const tooLong = (id: string) => {
  const expected = `a mechanism with at most ${servedEventsMax} events, replayed within ${replaySeconds} seconds`
  return issueAt({ id }, ["id"], { kind: "validation", type: "max_value", expected })
}
