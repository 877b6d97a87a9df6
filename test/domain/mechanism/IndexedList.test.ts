import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { type Chunk, IndexedList, type Member } from "../../../src/domain/mechanism/IndexedList.ts"
import { below, type Random32, seededRandom } from "../../../src/domain/values/SeededRandom.ts"

interface Standing extends Member<Standing> {
  readonly name: number
}

const standing = (name: number, order: number | bigint): Standing => ({
  name,
  order,
  chunk: undefined as Chunk<Standing> | undefined
})

/** The reference: inserts into a sorted array. */
const insertInto = (members: Array<Standing>, member: Standing): void => {
  const behind = members.findIndex((other) => other.order > member.order)
  members.splice(behind === -1 ? members.length : behind, 0, member)
}

const assertSame = (line: IndexedList<Standing>, members: ReadonlyArray<Standing>): void => {
  assert.strictEqual(line.size, members.length)
  assert.strictEqual(line.first, members[0])
  assert.strictEqual(line.last, members.at(-1))
  for (const count of [0, 1, 700]) assert.deepStrictEqual(line.head(count), members.slice(0, count))
  for (let index = 0; index < members.length; index++) {
    if (line.position(members[index]!) !== index + 1) assert.fail(`wrong position at ${index}`)
  }
}

/** Runs `steps` random changes on a list and on an array, and compares them from time to time. */
const compare = (random: Random32, steps: number, orders: number, shareOfRemovals: number): void => {
  const line = new IndexedList<Standing>()
  const members: Array<Standing> = []
  for (let step = 0; step < steps; step++) {
    const removes = below(random, 100) < shareOfRemovals
    if (removes && members.length > 0) {
      const [member] = members.splice(below(random, 3) === 0 ? 0 : below(random, members.length), 1)
      line.remove(member!)
    } else {
      const member = standing(step, orders === 0 ? step : below(random, orders))
      line.insert(member)
      insertInto(members, member)
    }
    if (step % 997 === 0) assertSame(line, members)
  }
  assertSame(line, members)
  while (members.length > 0) line.remove(members.splice(below(random, members.length), 1)[0]!)
  assertSame(line, [])
}

describe("an indexed list", () => {
  it.prop(
    "gives every member the same position as a sorted array does, after random insertions and removals",
    {
      seed: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 0xffff_ffff })),
      orders: Schema.Literals([0, 1, 7, 100_000])
    },
    ({ seed, orders }) => {
      const random = seededRandom(seed.toString(16).padStart(8, "0").repeat(4))
      compare(random, 3_000, orders, below(random, 60))
    },
    { arbitrary: { runs: 25 } }
  )

  it("keeps members of the same order in the order of their insertion", () => {
    const line = new IndexedList<Standing>()
    const members = [standing(1, 5), standing(2, 5), standing(3, 4), standing(4, 5)]
    for (const member of members) line.insert(member)
    assert.deepStrictEqual(
      line.takeAll().map((member) => member.name),
      [3, 1, 2, 4]
    )
  })

  it("distinguishes orders that are the same floating point number", () => {
    const line = new IndexedList<Standing>()
    const near = 10n ** 20n
    const members = [3n, 1n, 2n].map((order, name) => standing(name, near + order))
    for (const member of members) line.insert(member)
    assert.deepStrictEqual(
      line.takeAll().map(({ order }) => order),
      [near + 1n, near + 2n, near + 3n]
    )
  })

  it.prop(
    "shows other members the positions they had at the mark, after any changes",
    {
      seed: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 0xffff_ffff })),
      orders: Schema.Literals([1, 7, 100_000])
    },
    ({ seed, orders }) => {
      const random = seededRandom(seed.toString(16).padStart(8, "0").repeat(4))
      const line = new IndexedList<Standing>()
      const members = Array.from({ length: 1_500 }, (_, name) => standing(name, below(random, orders)))
      for (const member of members) line.insert(member)
      const before = new Map(members.map((member) => [member, line.position(member)]))
      line.mark()
      for (let step = 0; step < 400; step++) {
        const moved = members.splice(below(random, members.length), 1)[0]!
        line.remove(moved)
        line.insert(standing(members.length + step, below(random, orders)))
      }
      line.rewind()
      for (const member of members) assert.strictEqual(line.position(member), before.get(member))
    },
    { arbitrary: { runs: 10 } }
  )

  it("ignores the removal of a member that is not in it", () => {
    const line = new IndexedList<Standing>()
    const member = standing(1, 1)
    line.remove(member)
    assert.strictEqual(line.position(member), 0)
    line.insert(member)
    line.remove(member)
    line.remove(member)
    assert.strictEqual(line.size, 0)
  })

  it("knows its own members from those of another list", () => {
    const [line, other] = [new IndexedList<Standing>(), new IndexedList<Standing>()]
    const [mine, theirs] = [standing(1, 1), standing(2, 2)]
    line.insert(mine)
    other.insert(theirs)
    assert.deepStrictEqual([line.has(mine), line.has(theirs), line.has(standing(3, 3))], [true, false, false])
    line.remove(mine)
    assert.isFalse(line.has(mine))
  })

  it("is empty and usable after all members were taken out", () => {
    const line = new IndexedList<Standing>()
    const members = Array.from({ length: 2_000 }, (_, name) => standing(name, name))
    for (const member of members) line.insert(member)
    assert.deepStrictEqual(line.takeAll(), members)
    assertSame(line, [])
    for (const member of members) line.insert(member)
    assertSame(line, members)
  })
})
