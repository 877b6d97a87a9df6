import { assert, describe, it } from "@effect/vitest"
import type { Command } from "../../../src/domain/mechanism/Decider.ts"
import type { Taker } from "../../../src/domain/stock/Configuration.ts"
import { configuration } from "./history.ts"
import { closeMillis, dice, type Dice, Drop, type Name, names } from "./drop.ts"

/** `STOCK_DROPS` plays more. */
const drops = Number(process.env["STOCK_DROPS"] ?? 1_000)

/** Every order of the mechanisms. */
const orders = (rest: ReadonlyArray<Name>): ReadonlyArray<ReadonlyArray<Name>> =>
  rest.length === 0
    ? [[]]
    : rest.flatMap((first) => orders(rest.filter((name) => name !== first)).map((order) => [first, ...order]))

const everyOrder = orders(names)

const takerOf = (roll: Dice, distributionId: Name): Taker => {
  switch (roll(4)) {
    case 0:
      return { distributionId, units: 1 + roll(10) }
    case 1:
      return { distributionId, upTo: 1 + roll(10) }
    default:
      return { distributionId }
  }
}

/** People, staff and shops do something. */
const act = (drop: Drop, roll: Dice): void => {
  const name = names[roll(names.length)]!
  const consumerId = `c${roll(30)}`
  const place = { consumerId, by: "shop" }
  switch (roll(12)) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
      return drop.tell(name, { _tag: "Enter", consumerId, isGuest: false, loyaltyScore: 0 } as Command)
    case 5:
    case 6:
      return drop.tell(name, { _tag: "Complete", ...place })
    case 7:
      return drop.tell(name, { _tag: "Leave", consumerId })
    case 8:
      return drop.tell(name, { _tag: "Deny", ...place, reason: "FRAUD_DETECTED" } as Command)
    case 9:
      return drop.tellStock({ _tag: "Adjust", units: roll(7) - 3, reason: "COUNTED", by: "admin" } as Command)
    case 10:
      return drop.tellStock({ _tag: "CountOrder", orderId: `o${roll(9)}`, units: 1 } as Command)
    case 11:
      return staffActs(drop, roll, name)
  }
}

const staffActs = (drop: Drop, roll: Dice, name: Name): void => {
  switch (roll(6)) {
    case 0:
      return drop.tell(name, { _tag: "End", by: "admin" } as Command)
    case 1: {
      const order = everyOrder[roll(everyOrder.length)]!
      const takers = order.slice(roll(2)).map((other) => takerOf(roll, other))
      return drop.tellStock({ _tag: "Configure", configuration: configuration({ takers }), by: "admin" } as Command)
    }
    case 2:
    case 3: {
      const orderId = `o${roll(9)}`
      return drop.tellStock({ _tag: "CancelOrder", orderId, units: 0 } as Command)
    }
    default: {
      const again = drop.said[roll(Math.max(1, drop.said.length))]
      return again && drop.tell(again.name, again.command)
    }
  }
}

/** Plays a drop to its end; kills the worker in every fourth pass if `kills`. */
const play = (seed: number, order: ReadonlyArray<Name>, kills: boolean): Drop => {
  const roll = dice(seed)
  const drop = new Drop(
    order.map((name) => takerOf(roll, name)),
    roll(25)
  )
  while (drop.now < closeMillis) {
    drop.wait(100 + roll(400))
    for (let acts = roll(6); acts > 0; acts--) act(drop, roll)
    if (kills && roll(4) === 0) drop.work(roll(12))
    else {
      drop.work()
      assert.strictEqual(drop.idle, 0, `seed ${seed}, ${drop.now} ms: a unit lies idle while somebody waits`)
    }
  }
  return drop
}

/** Lets all grants expire and all units go back. */
const finish = (drop: Drop): void => {
  for (let pass = 0; pass < 5; pass++) {
    drop.wait(3_000)
    for (const name of names) drop.tell(name, { _tag: "End", by: "admin" } as Command)
    drop.work()
  }
}

describe("a drop from one stock", () => {
  it(
    `conserves its units at every position of the journals, in ${drops} drops with kills between all steps`,
    () => {
      for (let seed = 1; seed <= drops; seed++) {
        const { facts } = play(seed, everyOrder[seed % everyOrder.length]!, true)
        assert.isAtLeast(facts.onHand, facts.sold, `seed ${seed}`)
      }
    },
    drops * 300
  )

  it("lets no unit lie idle for more than half a second while somebody waits, for every order of takers", () => {
    for (const [index, order] of everyOrder.entries()) {
      for (let seed = 0; seed < 2; seed++) {
        assert.strictEqual(play(10_000 + index * 100 + seed, order, false).idle, 0)
      }
    }
  }, 300_000)

  it("has every unit free or sold at the end", () => {
    for (let seed = 1; seed <= 50; seed++) {
      const drop = play(20_000 + seed, names, true)
      finish(drop)
      const { onHand, free, sold, underway } = drop.facts
      assert.deepStrictEqual([free + sold, underway], [onHand, 0], `seed ${seed}`)
      for (const name of names) assert.deepInclude(drop.mechanisms[name].report, { units: 0, isOver: true }, name)
    }
  })
})
