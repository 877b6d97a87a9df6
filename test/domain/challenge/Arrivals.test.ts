/** The adaptive gate as histories of arrivals. */
import { assert, describe, it } from "@effect/vitest"
import {
  admitted,
  attempt,
  isEnough,
  leastWork,
  lifetimeSeconds,
  mostWork,
  noAddressArrivals,
  noScopeArrivals,
  workOf
} from "../../../src/domain/challenge/Arrivals.ts"
import type { ChallengeMode } from "../../../src/domain/challenge/Challenge.ts"

/** A scope whose arrivals pass as soon as they may, and otherwise do the work if they are willing. */
const aScope = (mode: ChallengeMode = "adaptive") => {
  const scope = noScopeArrivals(0)
  const addresses = new Map<string, ReturnType<typeof noAddressArrivals>>()
  return (name: string, at: number, isWilling = true): number => {
    const address = addresses.get(name) ?? noAddressArrivals(at)
    addresses.set(name, address)
    attempt(address, scope, at)
    const work = workOf(mode, address, scope)
    if (work === 0 || isWilling) admitted(address)
    return work
  }
}

const repeat = <A>(count: number, each: (index: number) => A): ReadonlyArray<A> =>
  Array.from({ length: count }, (_, i) => each(i))

describe("An address", () => {
  it("passes five times at once, and then must work", () => {
    const arrive = aScope()
    assert.deepStrictEqual(
      repeat(6, () => arrive("a", 0) > 0),
      [false, false, false, false, false, true]
    )
  })

  it("passes three times a minute for as long as it likes", () => {
    const arrive = aScope()
    assert.deepStrictEqual([...new Set(repeat(500, (index) => arrive("a", index * 20_000)))], [0])
  })

  it("that presses on a limit works from the first arrival on, unless the gate is off", () => {
    const [address, scope] = [noAddressArrivals(0), noScopeArrivals(0)]
    attempt(address, scope, 0)
    assert.strictEqual(workOf("adaptive", address, scope), 0)
    for (const mode of ["adaptive", "always"] as const) {
      assert.strictEqual(workOf(mode, address, scope, true), leastWork, mode)
    }
    assert.strictEqual(workOf("off", address, scope, true), 0)
  })

  it("does not make others work", () => {
    const arrive = aScope()
    repeat(10_000, (index) => arrive("a", index))
    assert.strictEqual(arrive("b", 10_000), 0)
  })

  it("gets more work with each arrival, up to eight times the least", () => {
    const arrive = aScope()
    const works = repeat(60, () => arrive("a", 0)).filter((work) => work > 0)
    assert.deepStrictEqual(
      works,
      works.toSorted((a, b) => a - b)
    )
    assert.isAbove(works[1]!, works[0]!)
    assert.isAtMost(works[0]!, 2.1 * leastWork)
    assert.strictEqual(works.at(-1), 8 * leastWork)
  })

  it("gets no more work for attempts that were refused", () => {
    const arrive = aScope()
    repeat(5, () => arrive("a", 0))
    assert.strictEqual(new Set(repeat(50, () => arrive("a", 0, false))).size, 1)
  })

  it("is free again a few minutes later", () => {
    const arrive = aScope()
    repeat(20, () => arrive("a", 0))
    assert.isAbove(arrive("a", 60_000), 0)
    assert.strictEqual(arrive("a", 4 * 60_000), 0)
  })
})

describe("A flood", () => {
  const flooded = () => {
    const arrive = aScope()
    repeat(200, (index) => arrive(`bot ${index}`, index))
    return arrive
  }

  it("requires the least work of every client", () => {
    assert.strictEqual(flooded()("a", 200), leastWork)
  })

  it("multiplies the work of an address by four with each arrival, up to the most", () => {
    const arrive = flooded()
    assert.deepStrictEqual(
      repeat(7, () => arrive("a", 200)),
      [1, 4, 16, 64, 256, 256, 256].map((factor) => factor * leastWork)
    )
    assert.strictEqual(mostWork, 256 * leastWork)
  })

  it("cannot be made by a few addresses", () => {
    const arrive = aScope()
    repeat(20_000, (index) => arrive(`bot ${index % 15}`, index, false))
    assert.strictEqual(arrive("a", 20_000), 0)
  })

  it("lasts while many addresses keep trying, and ends soon after", () => {
    const arrive = aScope()
    repeat(60_000, (index) => arrive(`bot ${index % 50}`, index * 2, false))
    assert.strictEqual(arrive("a", 120_000), leastWork)
    assert.strictEqual(arrive("b", 150_000), 0)
  })
})

describe("A mode", () => {
  it("off never asks", () => {
    const arrive = aScope("off")
    assert.deepStrictEqual([...new Set(repeat(500, (index) => arrive(`${index % 7}`, 0)))], [0])
  })

  it("always asks the first arrival for the least work", () => {
    assert.strictEqual(aScope("always")("a", 0), leastWork)
  })
})

describe("A solution", () => {
  it("is enough for twice its work, because others may have arrived meanwhile", () => {
    assert.isTrue(isEnough(leastWork, 2 * leastWork))
    assert.isFalse(isEnough(leastWork, 2 * leastWork + 1))
  })

  it("has time that grows with the work", () => {
    assert.strictEqual(lifetimeSeconds(leastWork), 123)
    assert.strictEqual(lifetimeSeconds(mostWork), 888)
  })
})
