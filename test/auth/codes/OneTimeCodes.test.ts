/** One-time codes: they cannot be guessed, raced or replayed. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { createHash } from "node:crypto"
import type { Address } from "../../../src/auth/codes/Addresses.ts"
import { ConsumerAccounts } from "../../../src/auth/sessions/ConsumerAccounts.ts"
import { OneTimeCodes } from "../../../src/auth/codes/OneTimeCodes.ts"
import { Sessions } from "../../../src/auth/sessions/Sessions.ts"
import { Tokens } from "../../../src/auth/tokens/Tokens.ts"
import type { Tenant } from "../../../src/domain/values/Ids.ts"
import { anotherProcess, aTenant } from "../authFixture.ts"
import * as Fixture from "../authFixture.ts"

let count = 0
const anAddress = (): Address => ({ channel: "email", value: `consumer-${count++}@example.com` })

const requested = (tenant: Tenant, address: Address) =>
  Effect.flatMap(OneTimeCodes, (codes) => Effect.map(codes.request(tenant, address), Redacted.value))

const verified = (tenant: Tenant, address: Address, code: string, guest?: { consumerId: string; sessionId: string }) =>
  Effect.flatMap(OneTimeCodes, (codes) => codes.verify(tenant, { address, code, guest })).pipe(
    Effect.match({
      onFailure: (error) => (error._tag === "WrongCode" ? error.reason : error._tag),
      onSuccess: ({ session }) => session
    })
  )

const otherThan = (code: string, by = 1) => `${(Number(code) + by) % 1_000_000}`.padStart(6, "0")

const isSession = (outcome: unknown) => typeof outcome === "object"

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
            (here) => (here ? verified(tenant, address, code) : Effect.provide(verified(tenant, address, code), other)),
            { concurrency: "unbounded" }
          )
          assert.strictEqual(outcomes.filter(isSession).length, 1)
          assert.strictEqual(outcomes.filter((outcome) => outcome === "otp_expired").length, 49)
        }
        const sql = yield* SqlClient.SqlClient
        const rows = yield* sql<{ sessions: number; consumers: number }>`
          select (select count(*)::int from sessions where organization_id = ${tenant.organizationId}) as sessions,
            (select count(*)::int from consumers where organization_id = ${tenant.organizationId}) as consumers`
        assert.deepStrictEqual(rows, [{ sessions: 10, consumers: 10 }])
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
        assert.strictEqual(outcomes.filter((outcome) => outcome === "otp_expired").length, 195)
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
          update one_time_codes set sent_at[1] = sent_at[1] - interval '10 minutes' where address = ${address.value}`
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
