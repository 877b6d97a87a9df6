/** Errors as answers: those with an answer are replaced, the others are kept. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { answering } from "../../../src/http/errors/Answering.ts"
import { Conflict, NotFound } from "../../../src/api/Errors.ts"

class Taken extends Schema.TaggedError<Taken>()("Taken", { name: Schema.String }) {}
class Missing extends Schema.TaggedError<Missing>()("Missing", {}) {}

const orConflict = answering({
  Taken: ({ name }: Taken) => new Conflict({ error: `${name} is taken`, code: "TAKEN" })
})

describe("An error with an answer", () => {
  it.effect("is replaced by it", () =>
    Effect.gen(function* () {
      const answer: Conflict = yield* Effect.flip(orConflict(Effect.fail(new Taken({ name: "a" }))))
      assert.deepStrictEqual(answer, new Conflict({ error: "a is taken", code: "TAKEN" }))
    })
  )

  it.effect("leaves other errors and answers as they are", () =>
    Effect.gen(function* () {
      const missing: Missing = yield* Effect.flip(orConflict(Effect.fail(new Missing())))
      assert.instanceOf(missing, Missing)
      const answered: NotFound = yield* Effect.flip(orConflict(Effect.fail(NotFound.of("Queue"))))
      assert.strictEqual(answered.error, "Queue not found")
      assert.strictEqual(yield* orConflict(Effect.succeed(1)), 1)
    })
  )

  it("adds its answer only to effects that can fail with it", () => {
    const never: Effect.Effect<number> = orConflict(Effect.succeed(1))
    const either: Effect.Effect<never, Conflict | Missing> = orConflict(
      Effect.fail<Taken | Missing>(new Taken({ name: "a" }))
    )
    assert.isTrue(Effect.isEffect(never) && Effect.isEffect(either))
  })
})
