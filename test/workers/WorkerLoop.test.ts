import { assert, describe, it } from "@effect/vitest"
import { Clock, Deferred, Effect, Exit, Fiber, Latch, Layer, Logger, Scope } from "effect"
import { TestClock } from "effect/testing"
import { Engine } from "../../src/engine/Engine.ts"
import { Leases } from "../../src/store/coordination/Leases.ts"
import { Unavailable } from "../../src/store/postgres/Unavailable.ts"
import { makeWithLease, start, wakeUpFor } from "../../src/workers/WorkerLoop.ts"

const failureMessage = "Nothing could be done"

/** Starts a loop whose rounds note their times. `round` gives the result of each, by its number. */
const aLoop = Effect.fnUntraced(function* (
  round: (number: number) => Effect.Effect<boolean | void, string | Unavailable>,
  options: { readonly pausesFirst?: boolean; readonly spacingMillis?: number } = {}
) {
  const rounds: Array<number> = []
  const scope = yield* Scope.make()
  const wakeUp = yield* Latch.make()
  const noted = Effect.flatMap(Clock.currentTimeMillis, (now) => round(rounds.push(now)))
  yield* start({ round: noted, pauseMillis: 1_000, wakeUp, failureMessage, ...options }).pipe(Scope.provide(scope))
  yield* TestClock.adjust(0)
  return { rounds, wakeUp, end: Scope.close(scope, Exit.void) }
})

describe("The loop of a worker", () => {
  it.effect("runs a round at once, and then after each pause", () =>
    Effect.gen(function* () {
      const { rounds } = yield* aLoop(() => Effect.void)
      assert.deepStrictEqual(rounds, [0])
      yield* TestClock.adjust(2_000)
      assert.deepStrictEqual(rounds, [0, 1_000, 2_000])
    })
  )

  it.effect("runs the first round after a pause if it is told to", () =>
    Effect.gen(function* () {
      const { rounds } = yield* aLoop(() => Effect.void, { pausesFirst: true })
      yield* TestClock.adjust(999)
      assert.deepStrictEqual(rounds, [])
      yield* TestClock.adjust(1_001)
      assert.deepStrictEqual(rounds, [1_000, 2_000])
    })
  )

  it.effect("runs the next round without a pause while there is more to do", () =>
    Effect.gen(function* () {
      const { rounds } = yield* aLoop((number) => Effect.succeed(number < 3))
      yield* TestClock.adjust(0)
      assert.deepStrictEqual(rounds, [0, 0, 0])
      yield* TestClock.adjust(1_000)
      assert.deepStrictEqual(rounds, [0, 0, 0, 1_000])
    })
  )

  it.effect("leaves the least time between rounds while there is more to do", () =>
    Effect.gen(function* () {
      const { rounds } = yield* aLoop((number) => Effect.succeed(number < 3), { spacingMillis: 100 })
      yield* TestClock.adjust(1_200)
      assert.deepStrictEqual(rounds, [0, 100, 200, 1_200])
    })
  )

  it.effect("ends a pause when it is woken, but not before the least time", () =>
    Effect.gen(function* () {
      const { rounds, wakeUp } = yield* aLoop(() => Effect.void, { spacingMillis: 100 })
      yield* TestClock.adjust(500)
      yield* wakeUp.open
      yield* TestClock.adjust(10)
      assert.deepStrictEqual(rounds, [0, 500])
      for (let more = 0; more < 5; more++) yield* wakeUp.open
      yield* TestClock.adjust(89)
      assert.deepStrictEqual(rounds, [0, 500])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(rounds, [0, 500, 600])
      yield* TestClock.adjust(999)
      assert.deepStrictEqual(rounds, [0, 500, 600])
    })
  )

  it.effect("runs another round if it is woken during one", () =>
    Effect.gen(function* () {
      const { rounds, wakeUp } = yield* aLoop((number) => (number === 1 ? Effect.sleep(50) : Effect.void))
      yield* wakeUp.open
      yield* TestClock.adjust(50)
      assert.deepStrictEqual(rounds, [0, 50])
    })
  )

  it.effect("pauses after a failed round, goes on, and logs what failed unless the database is away", () => {
    const logged: Array<string> = []
    const log = Logger.layer([
      Logger.make(({ logLevel, message }) => void logged.push(`${logLevel} ${[message].flat()[0]}`))
    ])
    const failures = [Effect.fail(new Unavailable({ cause: "away" })), Effect.fail("refused"), Effect.die("broken")]
    return Effect.gen(function* () {
      const { rounds } = yield* aLoop((number) => failures[number - 1] ?? Effect.void)
      yield* TestClock.adjust(3_000)
      assert.deepStrictEqual(rounds, [0, 1_000, 2_000, 3_000])
      assert.deepStrictEqual(logged, [`Warn ${failureMessage}`, `Error ${failureMessage}`])
    }).pipe(Effect.provide(log))
  })

  it.effect("ends with its scope", () =>
    Effect.gen(function* () {
      const { rounds, end } = yield* aLoop(() => Effect.void)
      yield* end
      yield* TestClock.adjust(10_000)
      assert.deepStrictEqual(rounds, [0])
    })
  )

  it.effect("is woken by the engine until its scope ends", () =>
    Effect.gen(function* () {
      const listeners = new Set<() => void>()
      const engine = {
        onEffectNeeded: (_, onNeed) => {
          listeners.add(onNeed)
          return () => void listeners.delete(onNeed)
        }
      } as Partial<Engine["Service"]> as Engine["Service"]
      const scope = yield* Scope.make()
      const wakeUp = yield* wakeUpFor("draw").pipe(Effect.provideService(Engine, engine), Scope.provide(scope))
      const woken = yield* Effect.forkChild(wakeUp.await, { startImmediately: true })
      assert.isUndefined(woken.pollUnsafe())
      for (const onNeed of listeners) onNeed()
      yield* Fiber.join(woken)
      yield* Scope.close(scope, Exit.void)
      assert.strictEqual(listeners.size, 0)
    })
  )
})

/** Leases in memory. The clock of the test decides when they expire. */
class LeasesInMemory {
  isAway = false
  readonly held = new Map<string, { owner: string; until: number }>()

  readonly layer = Layer.succeed(Leases, {
    acquire: (name, owner, seconds) =>
      Effect.flatMap(Clock.currentTimeMillis, (now) => {
        if (this.isAway) return Effect.fail(new Unavailable({ cause: "away" }))
        const present = this.held.get(name)
        const isFree = present === undefined || present.owner === owner || present.until <= now
        if (isFree) this.held.set(name, { owner, until: now + seconds * 1_000 })
        return Effect.succeed(isFree)
      }),
    release: (name, owner) =>
      Effect.sync(() => {
        if (this.held.get(name)?.owner === owner) this.held.delete(name)
      })
  })

  /** Starts a process of the database. */
  readonly process = Effect.gen({ self: this }, function* () {
    const scope = yield* Scope.make()
    yield* Effect.addFinalizer(() => Scope.close(scope, Exit.void))
    const withLease = yield* makeWithLease.pipe(Effect.provide(this.layer), Scope.provide(scope))
    return { withLease, end: Scope.close(scope, Exit.void) }
  })
}

const done = Effect.succeed(true)

describe("Work with a lease", () => {
  it.effect("is done by one process, and by another once the first has released the lease", () =>
    Effect.gen(function* () {
      const leases = new LeasesInMemory()
      const [one, other] = [yield* leases.process, yield* leases.process]
      const mayEnd = yield* Deferred.make<void>()
      const work = Effect.as(Deferred.await(mayEnd), true)
      const first = yield* Effect.forkChild(one.withLease("w", "release", work), { startImmediately: true })
      // The lease is extended for as long as the work takes.
      yield* TestClock.adjust("1 minute")
      assert.isFalse(yield* other.withLease("w", "release", done))
      yield* Deferred.succeed(mayEnd, undefined)
      assert.isTrue(yield* Fiber.join(first))
      assert.isTrue(yield* other.withLease("w", "release", done))
      assert.strictEqual(leases.held.size, 0)
    })
  )

  it.effect("stays with a process that keeps the lease, until the process ends or is silent for ten seconds", () =>
    Effect.gen(function* () {
      const leases = new LeasesInMemory()
      const [one, two, three] = [yield* leases.process, yield* leases.process, yield* leases.process]
      assert.isTrue(yield* one.withLease("w", "keep", done))
      assert.isFalse(yield* two.withLease("w", "keep", done))
      yield* one.end
      assert.isTrue(yield* two.withLease("w", "keep", done))
      yield* TestClock.adjust(9_999)
      assert.isFalse(yield* three.withLease("w", "keep", done))
      yield* TestClock.adjust(1)
      assert.isTrue(yield* three.withLease("w", "keep", done))
    })
  )

  it.effect("does not write a kept lease again for three seconds", () =>
    Effect.gen(function* () {
      const leases = new LeasesInMemory()
      const { withLease } = yield* leases.process
      const until = () => leases.held.get("w")!.until
      assert.isTrue(yield* withLease("w", "keep", done))
      const first = until()
      yield* TestClock.adjust(2_999)
      assert.isTrue(yield* withLease("w", "keep", done))
      assert.strictEqual(until(), first)
      yield* TestClock.adjust(1)
      assert.isTrue(yield* withLease("w", "keep", done))
      assert.isAbove(until(), first)
    })
  )

  it.effect("goes on while the database is away, and ends when another process has the lease", () =>
    Effect.gen(function* () {
      const leases = new LeasesInMemory()
      const { withLease } = yield* leases.process
      let isInterrupted = false
      const work = Effect.onInterrupt(Effect.never, () => Effect.sync(() => void (isInterrupted = true)))
      const working = yield* Effect.forkChild(withLease("w", "release", work), { startImmediately: true })
      leases.isAway = true
      yield* TestClock.adjust("1 minute")
      assert.isUndefined(working.pollUnsafe())
      leases.isAway = false
      leases.held.set("w", { owner: "other", until: Infinity })
      yield* TestClock.adjust("3 seconds")
      assert.isFalse(yield* Fiber.join(working))
      assert.isTrue(isInterrupted)
      assert.strictEqual(leases.held.get("w")!.owner, "other")
    })
  )
})
