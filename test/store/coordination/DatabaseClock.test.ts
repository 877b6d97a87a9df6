import { assert, describe, it } from "@effect/vitest"
import { Clock } from "effect"
import { DatabaseClock, machineOf } from "../../../src/store/coordination/DatabaseClock.ts"
import { millisAtLeast, millisAtMost, readClocks } from "../../../src/store/coordination/LeaseClock.ts"

const databaseStart = 1_800_000_000_000

/** A machine whose clock can be set, and a database whose clock goes right. Times pass together. */
const aMachine = (aheadMillis: number) => {
  const real = Clock.Clock.defaultValue()
  const machine = { aheadMillis, passedMillis: 0 }
  const clock = new DatabaseClock(
    Object.create(real, {
      currentTimeMillisUnsafe: { value: () => databaseStart + machine.passedMillis + machine.aheadMillis },
      monotonicTimeNanosUnsafe: { value: () => BigInt(machine.passedMillis) * 1_000_000n }
    }) as Clock.Clock
  )
  /** Asks the database, which reads its clock after `thereMillis`. The answer takes `backMillis`. */
  const ask = (thereMillis = 0, backMillis = 0, databaseAheadMillis = 0) => {
    const sentNanos = clock.monotonicTimeNanosUnsafe()
    const databaseMillis = databaseStart + machine.passedMillis + thereMillis + databaseAheadMillis
    machine.passedMillis += thereMillis + backMillis
    clock.observe({ databaseMillis, sentNanos, receivedNanos: clock.monotonicTimeNanosUnsafe() })
  }
  const aheadOfDatabase = () => clock.currentTimeMillisUnsafe() - databaseStart - machine.passedMillis
  return { machine, clock, ask, aheadOfDatabase }
}

describe("The time of a process", () => {
  it("is the machine's before the database was asked, and the database's from then on", () => {
    for (const aheadMillis of [120_000, -120_000, 86_400_000, 2_500, 0]) {
      const { ask, aheadOfDatabase, clock } = aMachine(aheadMillis)
      assert.strictEqual(aheadOfDatabase(), aheadMillis)
      ask()
      assert.strictEqual(aheadOfDatabase(), 0)
      assert.closeTo(Number(clock.currentTimeNanosUnsafe() / 1_000_000n), clock.currentTimeMillisUnsafe(), 1)
    }
  })

  it("passes at its pace while the machine's clock is set forward or back", () => {
    const { machine, ask, aheadOfDatabase } = aMachine(0)
    ask()
    for (const aheadMillis of [3_600_000, -120_000, 0, 30]) {
      machine.aheadMillis = aheadMillis
      machine.passedMillis += 700
      assert.isAtMost(Math.abs(aheadOfDatabase()), 1)
    }
  })

  it("is corrected only as far as a slow answer proves it wrong", () => {
    const { machine, ask, aheadOfDatabase } = aMachine(120_000)
    ask(200, 300)
    assert.strictEqual(aheadOfDatabase(), -300, "it is never early")
    for (const [there, back, ahead] of [
      [0, 3_000, -300],
      [900, 400, -300],
      [1_500, 250, -250],
      [3_000, 40, -40],
      [5, 900, -40]
    ] as const) {
      ask(there, back)
      assert.strictEqual(aheadOfDatabase(), ahead)
    }
    machine.passedMillis += 100
    ask()
    assert.strictEqual(aheadOfDatabase(), 0)
  })

  it("follows a database that another one has replaced", () => {
    const { ask, aheadOfDatabase } = aMachine(0)
    ask()
    ask(0, 0, 5_000)
    assert.closeTo(aheadOfDatabase(), 5_000, 1)
    ask(0, 0, -5_000)
    assert.closeTo(aheadOfDatabase(), -5_000, 1)
  })

  it("does not replace the machine's in leases, which must see that the machine was asleep", () => {
    const { machine, ask, clock } = aMachine(0)
    ask()
    const since = readClocks(clock)
    machine.aheadMillis = 60_000
    assert.strictEqual(millisAtMost(clock, since), 60_000)
    assert.strictEqual(millisAtLeast(clock, since), 0)
    assert.strictEqual(machineOf(clock), clock.machine)
  })
})
