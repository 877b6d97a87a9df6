/** The direct path against HttpApi: generated requests get the same answers, byte by byte. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { compare, completeListener, covered, services } from "./generated.ts"

layer(services, { excludeTestServices: true })("The direct path and HttpApi", (it) => {
  it.effect("answer the same to generated requests, valid and odd", () =>
    Effect.gen(function* () {
      const { differences, statuses } = yield* compare(yield* completeListener, 1, 12)
      assert.deepStrictEqual(differences, [])
      assert.isAbove(statuses.get("200") ?? 0, covered.length, JSON.stringify([...statuses]))
      assert.isAbove(statuses.get("401") ?? 0, 0)
    }).pipe(Effect.scoped)
  )
})
