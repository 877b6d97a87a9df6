import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { generateKeyPairSync } from "node:crypto"
import { Admin, issuesOf, layer as adminLayer } from "../adminFixture.ts"

const secret = "whsec_of_the_provider"

const aReceiver = Effect.fnUntraced(function* (body: object = {}) {
  const { call } = yield* Admin
  const answer = yield* call("POST", "/receivers", { adapter: "stripe", secret, ...body })
  assert.strictEqual(answer.status, 201, answer.text)
  return answer
})

describe("Receivers on the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("have a path with a random id, and never show their secret", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { body: created, text } = yield* aReceiver({ description: "Till" })
        assert.notInclude(text, secret)
        assert.deepInclude(created, {
          adapter: "stripe",
          description: "Till",
          url: null,
          path: `/hooks/${created.id}`,
          formerSecretUntil: null
        })
        const changed = yield* call("PUT", `/receivers/${created.id}`, { secret: "another secret of Stripe" })
        assert.strictEqual(changed.status, 200)
        assert.isAbove(Date.parse(changed.body.formerSecretUntil), Date.now())
        for (const path of [`/receivers/${created.id}`, "/receivers", `/receivers/${created.id}/events`]) {
          const answer = yield* call("GET", path)
          assert.strictEqual(answer.status, 200)
          assert.notInclude(answer.text, "secret of Stripe")
        }
      })
    )

    it.effect("refuse unknown adapters, short secrets, keys that are none, and a change of the adapter", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const mistakes: ReadonlyArray<readonly [object, ReadonlyArray<string>]> = [
          [{ adapter: "paypal" }, ["adapter: picklist"]],
          [{ secret: "short" }, ["secret: min_length"]],
          [{ adapter: "sendgrid" }, ["secret: string"]]
        ]
        for (const [mistake, expected] of mistakes) {
          const answer = yield* call("POST", "/receivers", { adapter: "stripe", secret, ...mistake })
          assert.deepStrictEqual(issuesOf(answer), expected)
          assert.notInclude(answer.text, secret)
        }
        const { publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" })
        const key = publicKey.export({ type: "spki", format: "der" }).toString("base64")
        const { id } = (yield* aReceiver({ adapter: "sendgrid", secret: key })).body
        assert.deepStrictEqual(issuesOf(yield* call("PUT", `/receivers/${id}`, { secret })), ["secret: string"])
        const same = yield* call("PUT", `/receivers/${id}`, { adapter: "stripe", description: "Mail" })
        assert.deepInclude(same.body, { adapter: "sendgrid", description: "Mail" })
      })
    )
  })
})
