/** The effect on accounts from before the spellings of a mailbox were one account. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import * as Auth from "../../../../src/auth/Auth.ts"
import { OneTimeCodes } from "../../../../src/auth/codes/OneTimeCodes.ts"
import { Settings } from "../../../../src/settings/Settings.ts"
import { addConsumer, addOrganization, anyId, databaseAt, organizationId } from "./earlierSchema.ts"

const tenant = { organizationId, mode: "live" } as const

const services = Auth.layer.pipe(Layer.provide(Layer.mergeAll(Settings.layerTest(), SecureRandom.layerWebCrypto)))

describe("Step 0027", () => {
  it.live("keeps both accounts of one mailbox; each spelling signs in to its own, and a new one to the oldest", () =>
    Effect.gen(function* () {
      const { sql, database, migrate } = yield* databaseAt(26)
      yield* addOrganization(sql)
      const [first, second, other] = [anyId(4001), anyId(4002), anyId(4003)]
      yield* addConsumer(sql, first, { email: "ann.doe@gmail.com" })
      yield* addConsumer(sql, second, { email: "anndoe+drop@googlemail.com" })
      yield* addConsumer(sql, other, { email: "ann.doe@example.com" })
      assert.include(yield* migrate, 27)
      const signIn = Effect.fnUntraced(function* (value: string) {
        const codes = yield* OneTimeCodes
        const address = { channel: "email", value } as const
        const { code } = yield* codes.request(tenant, address, "192.0.2.1")
        const { session } = yield* codes.verify(tenant, { address, code: Redacted.value(code), client: "192.0.2.1" })
        return session.consumerId
      })
      yield* Effect.gen(function* () {
        assert.strictEqual(yield* signIn("ann.doe@gmail.com"), first)
        assert.strictEqual(yield* signIn("anndoe+drop@googlemail.com"), second)
        assert.strictEqual(yield* signIn("a.n.n.doe@gmail.com"), first)
        assert.notInclude([first, second, other], yield* signIn("anndoe@example.com"))
      }).pipe(Effect.provide(Layer.provide(services, database)))
      assert.lengthOf(yield* sql`select id from consumers`, 4)
    })
  )
})
