/** One-time codes: they cannot be guessed, raced or replayed. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { createHash } from "node:crypto"
import { ConsumerAccounts } from "../../../src/auth/sessions/ConsumerAccounts.ts"
import { OneTimeCodes } from "../../../src/auth/codes/OneTimeCodes.ts"
import { Sessions } from "../../../src/auth/sessions/Sessions.ts"
import { Tokens } from "../../../src/auth/tokens/Tokens.ts"
import type { Tenant } from "../../../src/domain/values/Ids.ts"
import { anotherProcess, aTenant } from "../authFixture.ts"
import * as Fixture from "../authFixture.ts"
import {
  anAddress,
  asked,
  client,
  forgetAttempts,
  isSession,
  otherThan,
  requested,
  shown,
  stranger,
  verified
} from "./codesFixture.ts"

const guestOf = (tenant: Tenant) =>
  Effect.gen(function* () {
    const { accessToken, refreshToken, session } = yield* Effect.flatMap(Sessions, (sessions) => sessions.guest(tenant))
    const access = yield* Effect.flatMap(Tokens, (tokens) => tokens.verifyAccess(accessToken))
    return { accessToken, refreshToken, consumerId: session.consumerId, sessionId: access!.sessionId }
  })

describe("A one-time code", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("is six digits and starts one session", () =>
      Effect.gen(function* () {
        const tenant = yield* aTenant
        const address = anAddress()
        const code = yield* requested(tenant, address)
        assert.match(code, /^\d{6}$/)
        const session = yield* verified(tenant, address, code)
        assert.deepInclude(session, { type: "authenticated", email: address.value })
        assert.strictEqual(yield* verified(tenant, address, code), "otp_expired")
      })
    )

    it.effect("is accepted once when fifty requests present it at the same time, on two processes", () =>
      Effect.gen(function* () {
        const tenant = yield* aTenant
        const other = yield* anotherProcess
        for (let race = 0; race < 10; race++) {
          const address = anAddress()
          const code = yield* requested(tenant, address)
          const outcomes = yield* Effect.forEach(
            Array.from({ length: 50 }, (_, index) => index % 2 === 0),
            (here) => {
              const attempt = shown(tenant, address, { code, client: `192.0.2.${10 + race}` })
              return here ? attempt : Effect.provide(attempt, other)
            },
            { concurrency: "unbounded" }
          )
          assert.strictEqual(outcomes.filter(isSession).length, 1)
          assert.strictEqual(outcomes.filter((outcome) => outcome === "otp_expired").length, 49)
        }
        assert.deepStrictEqual(yield* Fixture.countsOf(tenant), { consumers: 10, sessions: 10 })
      })
    )

    it.effect("is invalid after five wrong tries, however many run at the same time", () =>
      Effect.gen(function* () {
        const tenant = yield* aTenant
        const address = anAddress()
        const code = yield* requested(tenant, address)
        const outcomes = yield* Effect.forEach(
          Array.from({ length: 200 }, (_, index) => otherThan(code, index + 1)),
          (guess) => verified(tenant, address, guess),
          { concurrency: "unbounded" }
        )
        assert.strictEqual(outcomes.filter((outcome) => outcome === "otp_invalid").length, 5)
        assert.isAtMost(outcomes.filter((outcome) => outcome === "otp_expired").length, 45)
        assert.isAtLeast(outcomes.filter((outcome) => outcome === "TooManyAttempts").length, 100)
        yield* forgetAttempts
        assert.strictEqual(yield* verified(tenant, address, code), "otp_expired")
      })
    )

    it.effect("is valid after four wrong tries", () =>
      Effect.gen(function* () {
        const tenant = yield* aTenant
        const address = anAddress()
        const code = yield* requested(tenant, address)
        for (let guess = 1; guess <= 4; guess++) {
          assert.strictEqual(yield* verified(tenant, address, otherThan(code, guess)), "otp_invalid")
        }
        assert.isTrue(isSession(yield* verified(tenant, address, code)))
      })
    )

    it.effect("is replaced by a newer one, which allows five tries again", () =>
      Effect.gen(function* () {
        const tenant = yield* aTenant
        const address = anAddress()
        const older = yield* requested(tenant, address)
        for (let guess = 1; guess <= 5; guess++) yield* verified(tenant, address, otherThan(older, guess))
        let newer = yield* requested(tenant, address)
        if (newer === older) newer = yield* requested(tenant, address)
        assert.strictEqual(yield* verified(tenant, address, older), "otp_invalid")
        assert.isTrue(isSession(yield* verified(tenant, address, newer)))
      })
    )

    it.effect("is valid for ten minutes", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant
        const address = anAddress()
        const code = yield* requested(tenant, address)
        const rows = yield* sql<{ minutes: number }>`
          select round(extract(epoch from expires_at - now()) / 60)::int as minutes from one_time_codes
          where address = ${address.value}`
        assert.deepStrictEqual(rows, [{ minutes: 10 }])
        yield* sql`update one_time_codes set expires_at = now() - interval '1 millisecond' where address = ${address.value}`
        assert.strictEqual(yield* verified(tenant, address, code), "otp_expired")
      })
    )

    it.effect(
      "is sent at most five times in ten minutes to one address, however many requests run at the same time",
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const tenant = yield* aTenant
          const address = anAddress()
          const request = requested(tenant, address).pipe(
            Effect.match({ onFailure: (error) => error, onSuccess: () => undefined })
          )
          const outcomes = yield* Effect.all(
            Array.from({ length: 30 }, () => request),
            { concurrency: "unbounded" }
          )
          assert.strictEqual(outcomes.filter((outcome) => outcome === undefined).length, 5)
          const refusal = outcomes.find((outcome) => outcome !== undefined)
          assert.isTrue(refusal?._tag === "TooManyCodes")
          // After ten minutes the oldest of the five no longer counts, so one more is allowed.
          yield* sql`
          update one_time_codes set sent_at = sent_at - interval '10 minutes'
          where id = (select id from one_time_codes where address = ${address.value} order by sent_at, id limit 1)`
          assert.isUndefined(yield* request)
          assert.strictEqual((yield* request)?._tag, "TooManyCodes")
          // Another address and another mode have their own counts.
          yield* requested(tenant, anAddress())
          yield* requested({ ...tenant, mode: "test" }, address)
        })
    )

    it.effect("is valid only for its own tenant and address", () =>
      Effect.gen(function* () {
        const tenant = yield* aTenant
        const address = anAddress()
        const code = yield* requested(tenant, address)
        assert.strictEqual(yield* verified(yield* aTenant, address, code), "otp_expired")
        assert.strictEqual(yield* verified({ ...tenant, mode: "test" }, address, code), "otp_expired")
        assert.strictEqual(yield* verified(tenant, { ...address, channel: "phone" }, code), "otp_expired")
        assert.isTrue(isSession(yield* verified(tenant, address, code)))
      })
    )

    it.effect("cannot be found in the database, not even by trying all codes", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant
        const address = anAddress()
        const code = yield* requested(tenant, address)
        const rows = yield* sql<{ hash: Uint8Array; row: string }>`
          select hash, c::text as row from one_time_codes c where address = ${address.value}`
        assert.notInclude(rows[0]!.row.replaceAll(/[0-9a-f]{20,}/g, ""), code)
        const stored = Buffer.from(rows[0]!.hash).toString("hex")
        for (const text of [code, `${address.value}${code}`, `${code}${address.value}`]) {
          assert.notStrictEqual(createHash("sha256").update(text).digest("hex"), stored)
        }
      })
    )

    it.effect(
      "survives another client that requests codes and sends wrong ones, if its owner sends the request's id",
      () =>
        Effect.gen(function* () {
          const tenant = yield* aTenant
          const address = anAddress()
          const own = yield* asked(tenant, address, client)
          const forStranger = yield* Effect.replicateEffect(asked(tenant, address, stranger), 8)
          assert.strictEqual(forStranger.filter((request) => request !== undefined).length, 4)
          for (let guess = 1; guess <= 20; guess++) {
            yield* shown(tenant, address, { code: otherThan(own!.code, guess), client: stranger })
          }
          // The code that was sent last is dead now; the owner's is not. The stranger's own requests open nothing with it.
          const { requestId } = forStranger[0]!
          assert.strictEqual(yield* shown(tenant, address, { code: own!.code }), "otp_expired")
          if (forStranger[0]!.code !== own!.code) {
            assert.strictEqual(yield* shown(tenant, address, { code: own!.code, requestId }), "otp_invalid")
          }
          assert.isTrue(isSession(yield* shown(tenant, address, own!)))
          assert.strictEqual(yield* shown(tenant, address, own!), "otp_expired")
          // The owner still has its share of codes: one request of the stranger's counts, and its own first.
          const further = yield* Effect.replicateEffect(asked(tenant, address, client), 8)
          assert.strictEqual(further.filter((request) => request !== undefined).length, 3)
        })
    )

    it.effect("is valid for its own request alone, and dies of five wrong tries with its id", () =>
      Effect.gen(function* () {
        const tenant = yield* aTenant
        const address = anAddress()
        const first = (yield* asked(tenant, address, client))!
        const second = (yield* asked(tenant, address, client))!
        for (let guess = 1; guess <= 5; guess++) {
          const { requestId } = first
          assert.strictEqual(
            yield* shown(tenant, address, { code: otherThan(first.code, guess), requestId }),
            "otp_invalid"
          )
        }
        assert.strictEqual(yield* shown(tenant, address, first), "otp_expired")
        assert.strictEqual(yield* shown(tenant, anAddress(), second), "otp_expired")
        assert.strictEqual(yield* shown({ ...tenant, mode: "test" }, address, second), "otp_expired")
        assert.isTrue(isSession(yield* shown(tenant, address, second)))
      })
    )

    it.effect("is limited to 50 wrong tries of one client in ten minutes; right codes do not use them up", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant
        const tried = Effect.fnUntraced(function* (from: string) {
          const wrong = Effect.suspend(() => shown(tenant, anAddress(), { code: "000000", client: from }))
          const outcomes = yield* Effect.replicateEffect(wrong, 60, { concurrency: "unbounded" })
          return outcomes.filter((outcome) => outcome !== "TooManyAttempts").length
        })
        assert.strictEqual(yield* tried(stranger), 50)
        assert.strictEqual(yield* tried(stranger), 0)
        assert.strictEqual(yield* tried(client), 50)
        yield* sql`update attempts set ends_at = now()`
        assert.strictEqual(yield* tried(client), 50)
        yield* forgetAttempts
        const other = anAddress()
        for (let sign = 0; sign < 12; sign++) {
          yield* sql`update one_time_codes set sent_at = sent_at - interval '1 hour'`
          assert.isTrue(isSession(yield* verified(tenant, other, yield* requested(tenant, other))))
        }
        assert.deepStrictEqual(yield* sql`select sum(count)::int as count from attempts`, [{ count: 0 }])
      })
    )

    it.effect("ends the consumer's other sessions when it proves an address for the first time, and not later", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant
        const address = anAddress()
        const sessions = yield* Sessions
        const accounts = yield* ConsumerAccounts
        const tokens = yield* Tokens
        const { consumer } = yield* sql.withTransaction(accounts.byAddress(tenant, address, undefined))
        // Another person used the address before its owner proved it.
        const before = yield* sessions.start(consumer)
        const first = yield* Effect.flatMap(OneTimeCodes, (codes) =>
          Effect.flatMap(requested(tenant, address), (code) => codes.verify(tenant, { address, code, client }))
        )
        assert.isUndefined(yield* tokens.verifyAccess(before.accessToken))
        assert.isTrue(isSession(yield* verified(tenant, address, yield* requested(tenant, address))))
        assert.isDefined(yield* tokens.verifyAccess(first.accessToken))
      }).pipe(Effect.provide(ConsumerAccounts.layer))
    )

    it.effect("turns a guest into the consumer of a free address: same id, and its old tokens end", () =>
      Effect.gen(function* () {
        const tenant = yield* aTenant
        const address = anAddress()
        const guest = yield* guestOf(tenant)
        const session = yield* verified(tenant, address, yield* requested(tenant, address), guest)
        assert.deepInclude(session, { type: "authenticated", consumerId: guest.consumerId, email: address.value })
        assert.isUndefined(yield* Effect.flatMap(Tokens, (tokens) => tokens.verifyAccess(guest.accessToken)))
        const again = yield* verified(tenant, address, yield* requested(tenant, address))
        assert.deepInclude(again, { consumerId: guest.consumerId })
      })
    )

    it.effect("leaves the guest unchanged if the address is taken, and starts a session of that consumer", () =>
      Effect.gen(function* () {
        const tenant = yield* aTenant
        const address = anAddress()
        const owner = yield* verified(tenant, address, yield* requested(tenant, address))
        const guest = yield* guestOf(tenant)
        const session = yield* verified(tenant, address, yield* requested(tenant, address), guest)
        assert.deepInclude(session, { consumerId: (owner as { consumerId: string }).consumerId })
        assert.notStrictEqual((owner as { consumerId: string }).consumerId, guest.consumerId)
        assert.isDefined(yield* Effect.flatMap(Tokens, (tokens) => tokens.verifyAccess(guest.accessToken)))
      })
    )

    it.effect(
      "and any other proof of an address create one consumer, however many guests claim the address at the same time",
      () =>
        Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          const accounts = yield* ConsumerAccounts
          const tenant = yield* aTenant
          for (let race = 0; race < 10; race++) {
            const address = anAddress()
            const guests = yield* Effect.forEach(Array.from({ length: 6 }), () => guestOf(tenant))
            const claims = [...guests.map(({ consumerId }) => consumerId), undefined, undefined]
            const outcomes = yield* Effect.forEach(
              claims,
              (guestId) => sql.withTransaction(accounts.byAddress(tenant, address, guestId)),
              { concurrency: "unbounded" }
            )
            assert.strictEqual(new Set(outcomes.map(({ consumer }) => consumer.consumerId)).size, 1)
            assert.isAtMost(outcomes.filter(({ isUpgrade }) => isUpgrade).length, 1)
            const [left] = yield* sql<{ guests: number }>`
            select count(*)::int as guests from consumers
            where type = 'guest' and id = any(${guests.map(({ consumerId }) => consumerId)}::uuid[])`
            assert.isAtLeast(left!.guests, 5)
          }
        }).pipe(Effect.provide(ConsumerAccounts.layer))
    )
  })
})
