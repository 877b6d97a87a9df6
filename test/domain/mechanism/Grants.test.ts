import { assert, describe, it } from "@effect/vitest"
import { expiry, startExpiry } from "../../../src/domain/mechanism/Grants.ts"
import { type Chunk, IndexedList, type Member } from "../../../src/domain/mechanism/IndexedList.ts"

class Place implements Member<Place> {
  readonly consumerId: string
  order = Infinity
  chunk: Chunk<Place> | undefined = undefined

  constructor(consumerId: string) {
    this.consumerId = consumerId
  }
}

const stateOf = (admissionExpirationSeconds?: number) => ({
  configuration: { admissionExpirationSeconds },
  expiring: new IndexedList<Place>()
})

describe("the expiry of grants", () => {
  it("comes after the configured time, for the next grant first", () => {
    const state = stateOf(2)
    startExpiry(state, new Place("later"), 5_000)
    startExpiry(state, new Place("sooner"), 1_000)
    assert.strictEqual(expiry.dueAt(state), 3_000)
    assert.deepStrictEqual(
      expiry.make(state, 3_500, () => ""),
      { _tag: "Expired", at: 3_500, consumerId: "sooner" }
    )
  })

  it("never comes if the configuration names no time", () => {
    const state = stateOf()
    const place = new Place("kept")
    startExpiry(state, place, 5_000)
    assert.strictEqual(place.order, Infinity)
    assert.strictEqual(state.expiring.size, 0)
    assert.strictEqual(expiry.dueAt(state), Infinity)
  })
})
