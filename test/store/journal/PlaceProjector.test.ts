import { assert, it } from "@effect/vitest"
import { Effect, Exit, References, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as PlaceProjector from "../../../src/store/journal/PlaceProjector.ts"

interface Statement {
  /** `mechanism:sequence consumer=status …` of each mechanism. */
  readonly texts: ReadonlyArray<string>
  readonly answer: (answer: Exit.Exit<void, string>) => void
}

const textsOf = ({ mechanisms }: PlaceProjector.Segment) =>
  Array.from(mechanisms, ([id, { sequence, places }]) =>
    [`${id}:${sequence}`, ...Array.from(places, ([consumerId, { status }]) => `${consumerId}=${status}`)].join(" ")
  )

/** A projector over a database whose statements the test itself answers. At the end of the test, all succeed. */
const projector = Effect.fnUntraced(function* (limits: Partial<PlaceProjector.Limits> = {}) {
  const statements: Array<Statement> = []
  let isOver = false
  const made = yield* PlaceProjector.make<string>({
    ...PlaceProjector.defaults,
    ...limits,
    isRefusal: (error) => error === "refused",
    write: (segment) =>
      Effect.callback((resume) => {
        statements.push({ texts: textsOf(segment), answer: resume })
        if (isOver) resume(Exit.void)
      })
  })
  const end = Effect.sync(() => {
    isOver = true
    for (const statement of statements) statement.answer(Exit.void)
  })
  /** Adds the places of a commit, as `consumer=status`, and runs all fibers until they wait. */
  const add = (mechanismId: string, sequence: number, ...places: ReadonlyArray<string>) =>
    Effect.suspend(() => {
      made.add({
        mechanismId,
        sequence,
        places: places.map((text) => {
          const [consumerId, status] = text.split("=") as [string, string]
          return { consumerId, status, enteredAt: 0, updatedAt: 0, fields: {} }
        })
      })
      return settle
    })
  const answer = (index: number, exit: Exit.Exit<void, string> = Exit.void) =>
    Effect.suspend(() => {
      statements[index]!.answer(exit)
      return settle
    })
  const texts = () => statements.map((statement) => statement.texts)
  return { ...made, add, answer, texts, end }
})

/** The same in the scope of the test. */
const inTest = (limits?: Partial<PlaceProjector.Limits>) =>
  Effect.tap(projector(limits), ({ end }) => Effect.addFinalizer(() => end))

const settle = TestClock.adjust(0)

const silently = Effect.provideService(References.MinimumLogLevel, "None")

/** A limit under which every commit is load. */
const loaded = { loadRowsPerSecond: 0 }

it.effect("writes places at once without load, and those that come meanwhile in the next statement", () =>
  Effect.gen(function* () {
    const { add, answer, texts } = yield* inTest()
    yield* add("a", 1, "x=QUEUED")
    yield* add("b", 7, "x=QUEUED")
    yield* add("a", 2, "y=QUEUED")
    assert.deepStrictEqual(texts(), [["a:1 x=QUEUED"]])
    yield* answer(0)
    assert.deepStrictEqual(texts()[1], ["b:7 x=QUEUED", "a:2 y=QUEUED"])
    yield* answer(1)
    assert.strictEqual(texts().length, 2)
  })
)

it.effect("writes the last of several changes of a place, with the sequence of its last commit", () =>
  Effect.gen(function* () {
    const { add, texts, waiting } = yield* inTest(loaded)
    yield* add("a", 1, "x=QUEUED", "y=QUEUED")
    yield* add("a", 4, "x=GRANTED")
    yield* add("a", 5)
    assert.deepStrictEqual([texts(), waiting().rows], [[], 2])
    yield* TestClock.adjust(PlaceProjector.defaults.yieldMillisMax)
    assert.deepStrictEqual(texts(), [["a:5 x=GRANTED y=QUEUED"]])
  })
)

it.effect("yields under load until a caller waits, a place is old, or many wait", () =>
  Effect.gen(function* () {
    const asked = yield* inTest(loaded)
    yield* asked.add("a", 1, "x=QUEUED")
    yield* TestClock.adjust(1_000)
    assert.deepStrictEqual([asked.texts(), asked.waiting()], [[], { rows: 1, seconds: 1 }])
    yield* Effect.forkChild(asked.flush)
    yield* settle
    assert.strictEqual(asked.texts().length, 1)

    const many = yield* inTest({ ...loaded, yieldRowsMax: 3 })
    yield* many.add("a", 2, "x=QUEUED", "y=QUEUED")
    yield* TestClock.adjust(1_000)
    assert.strictEqual(many.texts().length, 0)
    yield* many.add("a", 3, "z=QUEUED")
    yield* TestClock.adjust(100)
    assert.strictEqual(many.texts().length, 1)
  })
)

it.effect("answers a caller when what waited at its call is written, whatever comes later", () =>
  Effect.gen(function* () {
    const { add, answer, flush } = yield* inTest({ ...loaded, statementRowsMax: 1 })
    yield* add("a", 1, "x=QUEUED")
    yield* add("a", 2, "y=QUEUED")
    const flushed = yield* Effect.forkChild(flush)
    yield* settle
    yield* add("a", 3, "z=QUEUED")
    yield* answer(0)
    assert.isUndefined(flushed.pollUnsafe())
    yield* answer(1)
    assert.isDefined(flushed.pollUnsafe())
    yield* flush.pipe(Effect.forkChild)
    yield* settle
    yield* answer(2)
    yield* flush
  })
)

it.effect("repeats a statement that fails, before all later ones", () =>
  Effect.gen(function* () {
    const { add, answer, texts } = yield* inTest({ statementRowsMax: 1 })
    yield* add("a", 1, "x=QUEUED")
    yield* add("a", 2, "x=GRANTED")
    yield* answer(0, Exit.fail("the database is away"))
    assert.strictEqual(texts().length, 1)
    yield* TestClock.adjust(1_000)
    assert.deepStrictEqual(texts()[1], ["a:1 x=QUEUED"])
    yield* answer(1)
    assert.deepStrictEqual(texts()[2], ["a:2 x=GRANTED"])
  })
)

it.effect("leaves behind only the mechanism whose places the database refuses", () =>
  Effect.gen(function* () {
    const { add, answer, flush, texts } = yield* inTest(loaded)
    for (const name of ["a", "b", "c"]) yield* add(name, 1, "x=QUEUED")
    const flushed = yield* Effect.forkChild(flush)
    yield* settle
    yield* answer(0, Exit.fail("refused"))
    yield* answer(1)
    for (const index of [2, 3, 4]) {
      yield* answer(index, Exit.fail("refused"))
      yield* TestClock.adjust(1_000)
    }
    yield* answer(5)
    const [a, b, c] = [["a:1 x=QUEUED"], ["b:1 x=QUEUED"], ["c:1 x=QUEUED"]]
    assert.deepStrictEqual(texts().slice(1), [a, b, b, b, c])
    assert.isDefined(flushed.pollUnsafe())
  }).pipe(silently)
)

it.effect("writes what waits before its scope ends, under load too", () =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const { add, answer, texts } = yield* Scope.provide(projector(loaded), scope)
    yield* add("a", 1, "x=QUEUED")
    const closed = yield* Effect.forkChild(Scope.close(scope, Exit.void))
    yield* settle
    assert.deepStrictEqual([texts(), closed.pollUnsafe()], [[["a:1 x=QUEUED"]], undefined])
    yield* answer(0)
    assert.isDefined(closed.pollUnsafe())
  })
)
