/**
 * Verifies the stored projections of a mechanism against a replay of its journal, and corrects them on request.
 *
 * The head's sequence and wake-up, the record and the places follow from the events. The places are those after the
 * event up to which they are written, which may be behind the last one: that is no difference. The time and the author
 * of the record's last change follow from nothing: they are neither compared nor changed. At most two states of one
 * mechanism are in memory; events and places are read in pages.
 */
import { Effect } from "effect"
import { actorDeciders, type ActorKind } from "../../domain/mechanism/Mechanism.ts"
import { type Head, Journal } from "../../store/journal/Journal.ts"
import { JournalCorrupt } from "../../store/journal/JournalCodec.ts"
import { firstId, pagePlaces, Projections, type StoredPlace } from "../../store/journal/Projections.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import type { Recovered } from "../actor/Actor.ts"
import type { AnyDecider } from "../actor/Batch.ts"
import { derivedRecordOf } from "../actor/Record.ts"
import { recover } from "../actor/Recovery.ts"
import { type Difference, Differences, headFields, placeFields, recordFields } from "./Differences.ts"

/** The result for one mechanism. */
export interface Verdict {
  readonly mechanismId: string
  /** Null if the mechanism has no head. */
  readonly kind: ActorKind | null
  /** Replayed events. */
  readonly events: number
  /** Compared places. */
  readonly places: number
  readonly count: number
  /** The first of the differences. */
  readonly differences: ReadonlyArray<Difference>
  /** False if the journal itself is unusable: only a backup has the missing events. */
  readonly isRepairable: boolean
}

type Verified = Effect.Effect<Verdict, Unavailable, Journal | Projections>

/** Called with the number of further replayed events. */
type Replayed = (events: number) => Effect.Effect<void>

/**
 * Compares one mechanism as the database has it at one moment. Writes nothing. Works while servers run. `replayed` runs
 * after each page of events.
 */
export const verify = (mechanismId: string, replayed: Replayed): Verified =>
  Effect.flatMap(Projections, ({ atOneMoment }) => atOneMoment(examine(mechanismId, false, replayed)))

/**
 * Corrects head, record and places of one mechanism, in one transaction. It first takes the mechanism over, as an
 * owner does, so no former owner can write. `permitted` runs after that, and its failure undoes everything. Returns
 * the differences that were corrected.
 */
export const repair = <E, R>(mechanismId: string, permitted: Effect.Effect<void, E, R>) =>
  Effect.gen(function* () {
    const { together, holdPlaces } = yield* Projections
    const journal = yield* Journal
    return yield* together(
      Effect.gen(function* () {
        yield* journal.takeOver([mechanismId])
        yield* holdPlaces(mechanismId)
        yield* permitted
        return yield* examine(mechanismId, true, () => Effect.void)
      })
    )
  })

/** Compares one mechanism, and writes differing values if `corrects`. An unusable journal corrects nothing. */
const examine = Effect.fnUntraced(function* (mechanismId: string, corrects: boolean, replayed: Replayed) {
  const { lastSequence } = yield* Projections
  const head = yield* (yield* Journal).head(mechanismId)
  const differences = new Differences()
  const unusable = (what: string, expected: unknown, stored: unknown): Verdict => {
    differences.note(what, expected, stored)
    return { ...verdictOf(mechanismId, head, differences), isRepairable: false }
  }
  if (head === undefined) return unusable("head", "a row", null)
  const last = yield* lastSequence(mechanismId)
  if (last === 0 || last < head.sequence) {
    return unusable("journal: last event", Math.max(head.sequence, 1), last)
  }
  const consumerIds = new Set<string>()
  const recovered = yield* recover({ ...head, sequence: last }, (page) => {
    for (const { event, sequence } of page)
      if (event.consumerId !== undefined && sequence <= head.placesSequence) consumerIds.add(event.consumerId)
    return replayed(page.length)
  }).pipe(
    Effect.catchDefect((defect) => (defect instanceof JournalCorrupt ? Effect.succeed(defect) : Effect.die(defect)))
  )
  if (recovered instanceof JournalCorrupt) {
    return unusable(`journal: event ${recovered.sequence}`, "a readable event", recovered.problem)
  }
  yield* examineHead(head, recovered, differences, corrects)
  yield* examineRecord(recovered, differences, corrects)
  const written = head.placesSequence < last ? yield* recover({ ...head, sequence: head.placesSequence }) : recovered
  const places = yield* examinePlaces(written, consumerIds, differences, corrects)
  return { ...verdictOf(mechanismId, head, differences), events: last, places }
})

const verdictOf = (mechanismId: string, head: Head | undefined, { count, kept }: Differences): Verdict => ({
  mechanismId,
  kind: head?.identity.kind ?? null,
  events: 0,
  places: 0,
  count,
  differences: kept,
  isRepairable: true
})

const deciderOf = ({ identity }: Recovered): AnyDecider => actorDeciders[identity.kind]

const examineHead = Effect.fnUntraced(function* (
  head: Head,
  recovered: Recovered,
  differences: Differences,
  corrects: boolean
) {
  const { writeHead } = yield* Projections
  const { sequence, state } = recovered
  const wakeAt = deciderOf(recovered).wakeAt(state) ?? null
  const differs = differences.compare("head", headFields({ sequence, wakeAt }), headFields(head))
  if (differs && corrects) yield* writeHead(head.identity.id, sequence, wakeAt)
})

const examineRecord = Effect.fnUntraced(function* (recovered: Recovered, differences: Differences, corrects: boolean) {
  const { record, writeRecord } = yield* Projections
  const { id } = recovered.identity
  const expected = derivedRecordOf(deciderOf(recovered), recovered.state)
  const differs = differences.compare("record", recordFields(expected), recordFields(yield* record(id)))
  if (differs && corrects) yield* writeRecord(id, expected)
})

/** Compares the stored places, then finds the missing ones among `consumerIds`, and empties it. Returns their number. */
const examinePlaces = Effect.fnUntraced(function* (
  recovered: Recovered,
  consumerIds: Set<string>,
  differences: Differences,
  corrects: boolean
) {
  const { places, writePlaces, removePlaces } = yield* Projections
  const { id } = recovered.identity
  const decider = deciderOf(recovered)
  const expectedOf = (consumerId: string): StoredPlace | undefined => {
    const place = decider.place(recovered.state, consumerId)
    return place && { consumerId, ...place }
  }

  let compared = 0
  let page = yield* places(id, firstId)
  while (page.length > 0) {
    compared += page.length
    const { wrong, surplus } = comparePlaces(page, expectedOf, differences)
    if (corrects && wrong.length > 0) yield* writePlaces(id, wrong)
    if (corrects && surplus.length > 0) yield* removePlaces(id, surplus)
    for (const { consumerId } of page) consumerIds.delete(consumerId)
    page = yield* places(id, page[page.length - 1]!.consumerId)
  }
  const write = (missing: ReadonlyArray<StoredPlace>) => (corrects ? writePlaces(id, missing) : Effect.void)
  let missing: Array<StoredPlace> = []
  for (const consumerId of consumerIds) {
    const place = expectedOf(consumerId)
    if (place === undefined) continue
    compared += 1
    differences.note(`place ${consumerId}`, placeFields(place), null)
    if (missing.push(place) < pagePlaces) continue
    yield* write(missing)
    missing = []
  }
  if (missing.length > 0) yield* write(missing)
  return compared
})

/** Returns the expected places in place of the wrong ones, and the consumers whose places should not exist. */
const comparePlaces = (
  page: ReadonlyArray<StoredPlace>,
  expectedOf: (consumerId: string) => StoredPlace | undefined,
  differences: Differences
) => {
  const wrong: Array<StoredPlace> = []
  const surplus: Array<string> = []
  for (const stored of page) {
    const { consumerId } = stored
    const expected = expectedOf(consumerId)
    if (expected === undefined) {
      differences.note(`place ${consumerId}`, null, placeFields(stored))
      surplus.push(consumerId)
    } else if (differences.compare(`place ${consumerId}`, placeFields(expected), placeFields(stored))) {
      wrong.push(expected)
    }
  }
  return { wrong, surplus }
}
