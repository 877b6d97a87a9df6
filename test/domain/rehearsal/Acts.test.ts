/** What a crowd does, from its settings and a seed. */
import { assert, describe, it } from "@effect/vitest"
import { checkoutLeast, type Opening, planOf } from "../../../src/domain/rehearsal/Acts.ts"
import { type Crowd, defaultCrowd } from "../../../src/domain/rehearsal/Crowd.ts"

const hour = 3_600_000
const openAt = Date.parse("2033-01-01T10:00:00Z")
const queue: Opening = { kind: "queue", from: openAt - hour, openAt, until: openAt + 24 * hour }
const draw: Opening = { ...queue, kind: "draw", from: openAt }
const auction: Opening = { ...queue, kind: "auction", from: openAt }
const crowd = (change: Partial<Crowd> = {}): Crowd => ({ ...defaultCrowd, people: 4_000, ...change })
const arrivals = ({ acts }: ReturnType<typeof planOf>) => acts.filter(({ deed }) => deed === "enter")
const share = (some: ReadonlyArray<unknown>, all: ReadonlyArray<unknown>) => some.length / all.length
const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)]!

describe("The plan of a crowd", () => {
  it("is the same with the same seed, and another with another", () => {
    const one = planOf(crowd(), [queue, draw, auction], 7)
    assert.deepStrictEqual(planOf(crowd(), [queue, draw, auction], 7), one)
    assert.notDeepEqual(planOf(crowd(), [queue, draw, auction], 8).acts, one.acts)
  })

  it("is within what accepts entries", () => {
    const { acts } = planOf(crowd(), [queue, draw, auction], 7)
    for (const { at, deed, mechanism } of acts) {
      const { from, until } = [queue, draw, auction][mechanism]!
      assert.isAtLeast(at, from)
      if (deed !== "leave") assert.isBelow(at, until)
    }
  })

  it("brings the share of a burst before the opening, and more of them near to it", () => {
    const entered = arrivals(planOf(crowd({ arrival: { before: hour, shape: "burst", share: 0.7 } }), [queue], 1))
    const early = entered.filter(({ at }) => at <= openAt)
    assert.closeTo(share(early, entered), 0.7, 0.03)
    const late = early.filter(({ at }) => at > openAt - hour / 4)
    assert.closeTo(share(late, early), 0.5, 0.04)
  })

  it("brings a steady crowd evenly", () => {
    const entered = arrivals(planOf(crowd({ arrival: { before: hour, shape: "steady", share: 1 } }), [queue], 1))
    const first = entered.filter(({ at }) => at < (queue.from + queue.until) / 2)
    assert.closeTo(share(first, entered), 0.5, 0.03)
  })

  it("spreads patience and checkout around their medians", () => {
    const { acts, people } = planOf(crowd({ noShow: 0, checkout: { median: 90_000, spread: 1.6 } }), [queue], 1)
    const enteredAt = new Map(arrivals({ acts, people }).map(({ person, at }) => [person, at]))
    const waits = acts.filter(({ deed }) => deed === "leave").map(({ at, person }) => at - enteredAt.get(person)!)
    assert.closeTo(median(waits) / defaultCrowd.patience.median, 1, 0.06)
    const checkouts = people.map(({ checkout }) => checkout!)
    assert.closeTo(median(checkouts) / 90_000, 1, 0.05)
    const near = checkouts.filter((time) => time > 90_000 / 1.6 && time < 90_000 * 1.6)
    assert.closeTo(share(near, checkouts), 0.68, 0.03)
    assert.isTrue(checkouts.every((time) => time >= checkoutLeast))
  })

  it("has the share of people that do not use their grant, and that of the draws", () => {
    const { acts, people } = planOf(crowd({ noShow: 0.25, draws: { share: 0.4 } }), [queue, draw], 3)
    assert.closeTo(
      share(
        people.filter(({ checkout }) => checkout === undefined),
        people
      ),
      0.25,
      0.03
    )
    const entered = arrivals({ acts, people })
    assert.closeTo(
      share(
        entered.filter(({ mechanism }) => mechanism === 1),
        entered
      ),
      0.4,
      0.03
    )
  })

  it("lets machines come in the second of the opening, as few consumers", () => {
    const { acts, people } = planOf(crowd({ bots: { share: 0.1, addresses: 20 } }), [queue], 3)
    const bots = people.filter(({ isBot }) => isBot)
    assert.closeTo(share(bots, people), 0.1, 0.02)
    assert.strictEqual(new Set(bots.map(({ consumer }) => consumer)).size, 20)
    for (const { at, person, deed } of acts.filter(({ person }) => people[person]!.isBot)) {
      assert.deepStrictEqual([at, deed, people[person]!.checkout], [openAt, "enter", checkoutLeast])
    }
  })

  it("lets people bid several times, each later than before", () => {
    const { acts } = planOf(crowd({ people: 10 }), [auction], 1)
    const own = acts.filter(({ person }) => person === 3)
    assert.deepStrictEqual(
      own.map(({ bid }) => bid),
      [0, 1, 2]
    )
    assert.isTrue(own[0]!.at < own[1]!.at && own[1]!.at < own[2]!.at)
  })

  it("is empty where nothing opens", () => assert.deepStrictEqual(planOf(crowd(), [], 1).acts, []))
})
