/** The description of the Admin API has an entry for each type of event. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { described, payloadProblem } from "../../../support/webhookPayloads.ts"
import { Admin, layer as adminLayer } from "../adminFixture.ts"

describe("The description of webhooks", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("has an entry for every type that an endpoint can subscribe to, and one for batches", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { body } = yield* call("GET", "/event-types")
        const types = (body.data as ReadonlyArray<{ type: string }>).map(({ type }) => type)
        assert.deepStrictEqual(Object.keys(described()), [...types, "events.batch"])
      })
    )
  })

  it("has an example that matches the schema", () => {
    for (const { post } of Object.values(described())) {
      const { example } = post.requestBody.content["application/json"]
      assert.isUndefined(payloadProblem(example as { type: string }))
    }
  })
})
