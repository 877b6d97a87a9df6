/** The order in which a rehearsal is played. */
import { assert, describe, it } from "@effect/vitest"
import type { Act } from "../../../src/domain/rehearsal/Acts.ts"
import { Agenda } from "../../../src/domain/rehearsal/Agenda.ts"

const act = (at: number, person: number, mechanism = 0): Act => ({ at, person, mechanism, deed: "enter" })
const places = (acts: ReadonlyArray<Act>) => acts.map(({ at, person, mechanism }) => [at, person, mechanism])

describe("An agenda", () => {
  it("gives each act once, by instant, person and mechanism", () => {
    const agenda = new Agenda([act(3, 1), act(1, 2), act(1, 1, 1), act(1, 1, 0)])
    assert.strictEqual(agenda.nextAt, 1)
    assert.deepStrictEqual(places(agenda.take(2)), [
      [1, 1, 0],
      [1, 1, 1],
      [1, 2, 0]
    ])
    assert.deepStrictEqual(places(agenda.take(2)), [])
    assert.deepStrictEqual([agenda.taken, agenda.nextAt], [3, 3])
    assert.deepStrictEqual(places(agenda.take(3)), [[3, 1, 0]])
    assert.strictEqual(agenda.nextAt, undefined)
  })

  it("gives what was added at its place, whatever the order in which it was added", () => {
    const added = [act(5, 3), act(2, 9), act(5, 1), act(9, 0)]
    const taken = [added, added.toReversed()].map((acts) => {
      const agenda = new Agenda([act(1, 0), act(5, 2)])
      agenda.take(1)
      for (const one of acts) agenda.add(one)
      return places(agenda.take(9))
    })
    assert.deepStrictEqual(taken[0], [
      [2, 9, 0],
      [5, 1, 0],
      [5, 2, 0],
      [5, 3, 0],
      [9, 0, 0]
    ])
    assert.deepStrictEqual(taken[1], taken[0])
  })

  it("gives next what was added too late", () => {
    const agenda = new Agenda([act(1, 0), act(5, 0)])
    agenda.take(4)
    agenda.add(act(1, 7))
    assert.deepStrictEqual(places(agenda.take(4)), [[1, 7, 0]])
  })
})
