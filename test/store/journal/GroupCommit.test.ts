import { assert, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, References, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as GroupCommit from "../../../src/store/journal/GroupCommit.ts"
import type { EncodedCommit } from "../../../src/store/journal/JournalCodec.ts"

/** A commit with some events, named by its mechanism. */
const commit = (mechanismId: string, events = 1): EncodedCommit => ({
  commit: {
    mechanismId,
    kind: "queue",
    expectedSequence: 0,
    events: Array.from({ length: events }, () => ({ _tag: "Entered", at: 0 })),
    places: [],
    wakeAt: null
  },
  data: Array.from({ length: events }, () => null)
})

interface Statement {
  readonly names: ReadonlyArray<string>
  readonly answer: (answer: Exit.Exit<ReadonlyArray<number>, string>) => void
}

/** A group commit over a database whose statements the test itself answers. */
const group = Effect.fnUntraced(function* (limits: Partial<GroupCommit.Limits> = {}, cancellationMillis = 0) {
  const statements: Array<Statement> = []
  const write = (commits: ReadonlyArray<EncodedCommit>) =>
    Effect.callback<ReadonlyArray<number>, string>((resume) => {
      statements.push({ names: commits.map((each) => each.commit.mechanismId), answer: resume })
      return Effect.sleep(cancellationMillis)
    })
  const made = yield* GroupCommit.make({
    appendTimeoutMillis: 1_000,
    waitingEventsMax: 100,
    statementCommitsMax: 50,
    statementEventsMax: 50,
    ...limits,
    write,
    isRefusal: (error) => error === "refused"
  })
  /** Starts an append and runs all fibers until they wait. */
  const append = (name: string, events?: number) =>
    Effect.tap(Effect.forkChild(Effect.exit(made.append(commit(name, events)))), () => settle)
  const answer = (index: number, exit?: Exit.Exit<ReadonlyArray<number>, string>) =>
    Effect.suspend(() => {
      const statement = statements[index]!
      statement.answer(exit ?? Exit.succeed(statement.names.map((_, position) => position + 1)))
      return settle
    })
  const names = () => statements.map((statement) => statement.names)
  return { group: made, append, answer, names }
})

const settle = TestClock.adjust(0)

const tagOf = (exit: Exit.Exit<void, { readonly _tag: string }>) =>
  Exit.isSuccess(exit) ? "written" : Effect.runSync(Effect.flip(exit))._tag

const answers = (fibers: ReadonlyArray<Fiber.Fiber<Exit.Exit<void, { readonly _tag: string }>>>) =>
  Effect.map(Fiber.joinAll(fibers), (exits) => exits.map(tagOf))

const silently = Effect.provideService(References.MinimumLogLevel, "None")

it.effect("writes one statement at a time, and all commits that gathered meanwhile in the next", () =>
  Effect.gen(function* () {
    const { append, answer, names } = yield* group()
    const first = yield* append("a")
    const rest = [yield* append("b"), yield* append("c"), yield* append("d")]
    assert.deepStrictEqual(names(), [["a"]])
    yield* answer(0)
    assert.deepStrictEqual(names(), [["a"], ["b", "c", "d"]])
    yield* answer(1)
    assert.deepStrictEqual(yield* answers([first, ...rest]), ["written", "written", "written", "written"])
  })
)

it.effect("takes appends of the same turn into one statement", () =>
  Effect.gen(function* () {
    const { group: together, answer, names } = yield* group()
    const all = yield* Effect.forkChild(
      Effect.forEach(["a", "b", "c"], (name) => together.append(commit(name)), {
        concurrency: "unbounded"
      })
    )
    yield* settle
    assert.deepStrictEqual(names(), [["a", "b", "c"]])
    yield* answer(0)
    yield* Fiber.join(all)
  })
)

it.effect("answers no commit before its statement has returned", () =>
  Effect.gen(function* () {
    const { append, answer } = yield* group()
    const fiber = yield* append("a")
    yield* TestClock.adjust(500)
    assert.isUndefined(fiber.pollUnsafe())
    yield* answer(0)
    assert.isDefined(fiber.pollUnsafe())
  })
)

it.effect("fails exactly those commits with a conflict whose numbers are missing from the result", () =>
  Effect.gen(function* () {
    const { append, answer } = yield* group()
    const blocking = yield* append("x")
    const fibers = [yield* append("a"), yield* append("b"), yield* append("c")]
    yield* answer(0)
    yield* answer(1, Exit.succeed([3, 1]))
    assert.deepStrictEqual(yield* answers([blocking, ...fibers]), ["written", "written", "JournalConflict", "written"])
  })
)

it.effect("keeps each statement within its bounds and in order, and lets a single commit exceed them", () =>
  Effect.gen(function* () {
    const { append, answer, names } = yield* group({
      statementCommitsMax: 3,
      statementEventsMax: 10,
      waitingEventsMax: 1_000
    })
    const fibers = [yield* append("x")]
    for (const [name, events] of [
      ["a", 1],
      ["b", 1],
      ["c", 1],
      ["d", 6],
      ["e", 5],
      ["f", 40],
      ["g", 1]
    ] as const) {
      fibers.push(yield* append(name, events))
    }
    for (let index = 0; index < 6; index++) yield* answer(index)
    assert.deepStrictEqual(names(), [["x"], ["a", "b", "c"], ["d"], ["e"], ["f"], ["g"]])
    assert.isTrue((yield* answers(fibers)).every((answered) => answered === "written"))
  })
)

it.effect("refuses immediately a commit that would exceed the waiting list, unless nothing waits before it", () =>
  Effect.gen(function* () {
    const { append, answer } = yield* group({ waitingEventsMax: 10 })
    const first = yield* append("a", 500)
    const second = yield* append("b", 500)
    const refused = yield* append("c", 1)
    assert.deepStrictEqual(yield* answers([refused]), ["Unavailable"])
    yield* answer(0)
    const third = yield* append("d", 10)
    yield* answer(1)
    yield* answer(2)
    assert.deepStrictEqual(yield* answers([first, second, third]), ["written", "written", "written"])
  })
)

it.effect("halves a refused statement until it has isolated the refused commit", () =>
  Effect.gen(function* () {
    const { append, answer, names } = yield* group()
    const fibers = [yield* append("x")]
    for (const name of ["a", "b", "c", "d", "e", "f"]) fibers.push(yield* append(name))
    yield* answer(0)
    for (let index = 1; index < names().length; index++) {
      yield* answer(index, names()[index]!.includes("e") ? Exit.fail("refused") : undefined)
    }
    assert.deepStrictEqual(names().slice(1), [
      ["a", "b", "c", "d", "e", "f"],
      ["a", "b", "c"],
      ["d", "e", "f"],
      ["d"],
      ["e", "f"],
      ["e"],
      ["f"]
    ])
    const expected = ["written", "written", "written", "written", "written", "Unavailable", "written"]
    assert.deepStrictEqual(yield* answers(fibers), expected)
  }).pipe(silently)
)

it.effect("fails every commit of a statement that fails for another reason or dies, and continues", () =>
  Effect.gen(function* () {
    const { append, answer } = yield* group()
    const fibers = [yield* append("x"), yield* append("a"), yield* append("b")]
    yield* answer(0)
    yield* answer(1, Exit.fail("the connection is lost"))
    fibers.push(yield* append("c"))
    yield* answer(2, Exit.die("a mistake"))
    fibers.push(yield* append("d"))
    yield* answer(3)
    assert.deepStrictEqual(yield* answers(fibers), ["written", "Unavailable", "Unavailable", "Unavailable", "written"])
  }).pipe(silently)
)

it.effect("fails commits that have waited too long, and gives up a statement that does not return", () =>
  Effect.gen(function* () {
    const { append, answer, names } = yield* group()
    const stuck = yield* append("a")
    yield* TestClock.adjust(600)
    const waiting = yield* append("b")
    yield* TestClock.adjust(300)
    assert.isUndefined(stuck.pollUnsafe())
    yield* TestClock.adjust(200)
    assert.deepStrictEqual(yield* answers([stuck]), ["Unavailable"])
    assert.isUndefined(waiting.pollUnsafe())
    assert.deepStrictEqual(names(), [["a"], ["b"]])
    yield* answer(1)
    assert.deepStrictEqual(yield* answers([waiting]), ["written"])
  }).pipe(silently)
)

it.effect("watches over a commit that comes after a long pause", () =>
  Effect.gen(function* () {
    const { append, answer } = yield* group()
    const first = yield* append("a")
    yield* answer(0)
    assert.deepStrictEqual(yield* answers([first]), ["written"])
    yield* TestClock.adjust(60_000)
    const stuck = yield* append("b")
    yield* TestClock.adjust(900)
    assert.isUndefined(stuck.pollUnsafe())
    yield* TestClock.adjust(200)
    assert.deepStrictEqual(yield* answers([stuck]), ["Unavailable"])
  }).pipe(silently)
)

it.effect("watches over the next statement while one that was given up has not ended", () =>
  Effect.gen(function* () {
    const { append, names } = yield* group({}, 500)
    const stuck = [yield* append("a")]
    yield* TestClock.adjust(600)
    stuck.push(yield* append("b"))
    yield* TestClock.adjust(1_700)
    assert.deepStrictEqual(names(), [["a"], ["b"]])
    stuck.push(yield* append("c"))
    assert.deepStrictEqual(names(), [["a"], ["b"], ["c"]])
    yield* TestClock.adjust(1_200)
    assert.deepStrictEqual(yield* answers(stuck), ["Unavailable", "Unavailable", "Unavailable"])
  }).pipe(silently)
)

it.effect("does not write a commit that it has already answered", () =>
  Effect.gen(function* () {
    const { append, answer, names } = yield* group({ statementCommitsMax: 1 })
    const fibers = [yield* append("a"), yield* append("b")]
    yield* TestClock.adjust(900)
    fibers.push(yield* append("c"))
    yield* TestClock.adjust(200)
    assert.deepStrictEqual(names(), [["a"], ["c"]])
    yield* answer(1)
    assert.deepStrictEqual(yield* answers(fibers), ["Unavailable", "Unavailable", "written"])
  }).pipe(silently)
)

it.effect("keeps the time limit of commits that wait for the other half of a refused statement", () =>
  Effect.gen(function* () {
    const { append, answer, names } = yield* group()
    const first = yield* append("x")
    const both = [yield* append("a"), yield* append("b")]
    yield* TestClock.adjust(800)
    yield* answer(0)
    yield* answer(1, Exit.fail("refused"))
    assert.deepStrictEqual(names(), [["x"], ["a", "b"], ["a"]])
    yield* TestClock.adjust(300)
    assert.deepStrictEqual(yield* answers([first, ...both]), ["written", "Unavailable", "Unavailable"])
    yield* answer(2)
    assert.strictEqual(names().length, 3)
  }).pipe(silently)
)

it.effect("writes a commit even if its caller is interrupted", () =>
  Effect.gen(function* () {
    const { append, answer, names } = yield* group()
    const first = yield* append("a")
    const second = yield* append("b")
    yield* Fiber.interrupt(second)
    yield* answer(0)
    assert.deepStrictEqual(names(), [["a"], ["b"]])
    yield* answer(1)
    assert.deepStrictEqual(yield* answers([first]), ["written"])
  })
)

it.effect("fails waiting commits when it closes, and accepts no more", () =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const { append } = yield* group().pipe(Scope.provide(scope))
    const fibers = [yield* append("a"), yield* append("b")]
    yield* Scope.close(scope, Exit.void)
    fibers.push(yield* append("c"))
    assert.deepStrictEqual(yield* answers(fibers), ["Unavailable", "Unavailable", "Unavailable"])
  })
)

it.effect("is idle without appends", () =>
  Effect.gen(function* () {
    const { names } = yield* group()
    const done = yield* Deferred.make<void>()
    yield* Effect.forkChild(Effect.andThen(Effect.sleep(60_000), Deferred.succeed(done, undefined)))
    yield* TestClock.adjust(60_000)
    yield* Deferred.await(done)
    assert.deepStrictEqual(names(), [])
  })
)
