/** Strangers that use up tries: the owner of an address gets in, and its codes are guessed at 50 times a day at most. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import type { Address } from "../../../src/domain/consumer/Address.ts"
import type { Tenant } from "../../../src/domain/values/Ids.ts"
import { aTenant, layer as auth } from "../authFixture.ts"
import { anAddress, asked, client, forgetAttempts, isSession, otherThan, shown } from "./codesFixture.ts"

describe("A code that strangers press", () => {
  layer(auth, { excludeTestServices: true })((it) => {
    const strangers = Array.from({ length: 5 }, (_, index) => `198.51.100.${index + 1}`)

    /** Ways in which five strangers use up tries for an address. */
    const presses: {
      readonly [name: string]: (
        tenant: Tenant,
        address: Address,
        from: ReadonlyArray<string>
      ) => Effect.Effect<unknown, any, any>
    } = {
      "without a request": (tenant, address, from) =>
        Effect.forEach(from, (client) =>
          Effect.replicateEffect(shown(tenant, address, { code: "000000", client }), 12)
        ),
      "with ids that they made up": (tenant, address, from) =>
        Effect.forEach(from, (client) =>
          Effect.replicateEffect(shown(tenant, address, { code: "000000", client, requestId: randomUUID() }), 12)
        ),
      "with a request of their own and its id": (tenant, address, from) =>
        Effect.forEach(from, (client) =>
          Effect.flatMap(asked(tenant, address, client), (own) =>
            Effect.forEach([1, 2, 3, 4, 5, 6], (by) =>
              own === undefined
                ? Effect.void
                : shown(tenant, address, { code: otherThan(own.code, by), client, requestId: own.requestId })
            )
          )
        ),
      "against the code that was sent last": (tenant, address, from) =>
        Effect.andThen(
          asked(tenant, address, from[0]!),
          Effect.forEach(from, (client) =>
            Effect.replicateEffect(shown(tenant, address, { code: "000000", client }), 12)
          )
        )
    }

    for (const [name, press] of Object.entries(presses)) {
      it.effect(`lets its owner in with the request's id, however many wrong ones strangers show ${name}`, () =>
        Effect.gen(function* () {
          const tenant = yield* aTenant
          for (const address of [anAddress(), { channel: "phone", value: "+4915112345679" } as const]) {
            yield* press(tenant, address, strangers.slice(0, 2))
            const own = (yield* asked(tenant, address, client))!
            assert.match(own.code, /^\d{6}$/)
            yield* press(tenant, address, strangers.slice(2))
            assert.isTrue(isSession(yield* shown(tenant, address, own)))
            yield* forgetAttempts
          }
        })
      )
    }

    it.effect(
      "of six digits is guessed at 50 times a day at most; then codes have twelve, and their owner gets in",
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const tenant = yield* aTenant
          const [address, other] = [anAddress(), anAddress()]
          const later = (minutes: number) => sql`
          update one_time_codes set sent_at = sent_at - make_interval(mins => ${minutes}::int),
            expires_at = expires_at - make_interval(mins => ${minutes}::int)`
          let guesses = 0
          for (let round = 0; round < 20; round++) {
            for (const client of [`203.0.113.${round}`, `203.0.113.${100 + round}`]) {
              const own = (yield* asked(tenant, address, client))!
              for (let by = 1; by <= 7; by++) {
                const code = own.code.length === 6 ? otherThan(own.code, by) : "000000000000"
                for (const requestId of [own.requestId, undefined]) {
                  const outcome = yield* shown(tenant, address, { code, client, requestId })
                  if (own.code.length === 6 && outcome === "otp_invalid") guesses++
                }
              }
            }
            yield* later(11)
            yield* forgetAttempts
          }
          assert.isAbove(guesses, 40)
          assert.isAtMost(guesses, 50)
          const own = (yield* asked(tenant, address, client))!
          assert.match(own.code, /^\d{12}$/)
          assert.strictEqual(yield* shown(tenant, address, { ...own, code: "000000000000" }), "otp_invalid")
          assert.isTrue(isSession(yield* shown(tenant, address, own)))
          assert.match((yield* asked(tenant, other, client))!.code, /^\d{6}$/)
          yield* later(24 * 60)
          assert.match((yield* asked(tenant, address, client))!.code, /^\d{6}$/)
        })
    )
  })
})
