/**
 * The list of entries at the closing. Its rows are kept in columns: a million entries take 46 MB, and cause hardly any
 * work of the garbage collector.
 */
import { entriesDigest, idLength } from "./proof/Algorithm.ts"
import { sorted } from "./proof/Sort.ts"
import { type Entries, entryIdOf, type Place, type State } from "./State.ts"

/** Places that are checked between two pauses. */
const placesPerStep = 32

/** Digits of an id that fit in a double. They are almost always enough to order two entries. */
const headLength = 13

/** Lists the entries; pauses after each. */
export function* listEntries(state: State): Generator<undefined, Entries> {
  const places = yield* validAtClosing(state)
  const heads = new Float64Array(places.length)
  const ids = Buffer.alloc(places.length * idLength)
  const idOf = (index: number): string => ids.toString("latin1", index * idLength, (index + 1) * idLength)
  for (let index = 0; index < places.length; index++) {
    const id = entryIdOf(state, places[index]!.entry)
    ids.write(id, index * idLength, "latin1")
    heads[index] = Number.parseInt(id.slice(0, headLength), 16)
    yield
  }
  const byId = yield* sorted(places.length, (a, b) => heads[a]! - heads[b]! || (idOf(a) < idOf(b) ? -1 : 1))
  const place = (position: number): Place => places[byId[position]!]!
  const id = (position: number): string => idOf(byId[position]!)

  const list = entriesDigest()
  let isWeighted = false
  for (let position = 0; position < places.length; position++) {
    const { weight } = place(position)
    list.add(id(position), weight)
    isWeighted ||= weight !== place(0).weight
    yield
  }
  return { size: places.length, digest: list.digest(), isWeighted, place, id }
}

function* validAtClosing({ places }: State): Generator<undefined, ReadonlyArray<Place>> {
  const found: Array<Place> = []
  let lookedAt = 0
  for (const place of places.values()) {
    if (place.entry !== 0) found.push(place)
    if (++lookedAt % placesPerStep === 0) yield
  }
  return found
}
