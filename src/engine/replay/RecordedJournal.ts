/** Reads the whole journal of one mechanism, as the database has it at one moment. */
import { Effect, Stream } from "effect"
import type { Event } from "../../domain/mechanism/Decider.ts"
import { type Head, Journal } from "../../store/journal/Journal.ts"
import { JournalCorrupt } from "../../store/journal/JournalCodec.ts"
import { Projections } from "../../store/journal/Projections.ts"

/** The events of one journal that are replayed. They are in memory together. */
export const replayedEventsMax = 5_000_000

export interface RecordedJournal {
  readonly head: Head
  readonly events: ReadonlyArray<Event>
}

/** Returns the journal; undefined if there is no such mechanism. Fails if it is archived, too long or unreadable. */
export const readJournal = Effect.fnUntraced(function* (mechanismId: string) {
  const events: Array<Event> = []
  const head = yield* readPages(mechanismId, replayedEventsMax, (page) => {
    for (const event of page) events.push(event)
  })
  return head === undefined ? undefined : ({ head, events } satisfies RecordedJournal)
})

/** Hands the events of the journal over page by page, and returns its head. Otherwise like {@link readJournal}. */
export const readPages = Effect.fnUntraced(function* (
  mechanismId: string,
  eventsMax: number,
  take: (events: ReadonlyArray<Event>) => void
) {
  const { atOneMoment, count } = yield* Projections
  const journal = yield* Journal
  const read = Effect.gen(function* () {
    const head = yield* journal.head(mechanismId)
    if (head === undefined) return undefined
    const { archived } = yield* count({ mechanismId })
    if (archived > 0) return yield* Effect.fail({ _tag: "JournalArchived" as const })
    if (head.sequence > eventsMax) return yield* Effect.fail({ _tag: "JournalTooLong" as const })
    yield* Stream.runForEach(journal.read(head, 0), (page) => Effect.sync(() => take(page.map(({ event }) => event))))
    return head
  })
  return yield* atOneMoment(read).pipe(
    Effect.catchDefect((defect) => (defect instanceof JournalCorrupt ? Effect.fail(defect) : Effect.die(defect)))
  )
})
