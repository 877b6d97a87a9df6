/** The path of a consumer through a draw, over HTTP. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Result, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { createLocalJWKSet, decodeJwt, jwtVerify } from "jose"
import { randomUUID } from "node:crypto"
import { decodeProof } from "../../../../src/domain/draw/proof/Proof.ts"
import { verify } from "../../../../src/domain/draw/proof/Verification.ts"
import { Engine } from "../../../../src/engine/Engine.ts"
import { openStream } from "../../support/eventStream.ts"
import { asConsumer, asServer, type Guest, Usher } from "../../support/usherFixture.ts"
import * as Fixture from "../../support/usherFixture.ts"
import { aDraw, soon } from "./drawFixture.ts"
import { placesWritten } from "../../../store/support/placesWritten.ts"

const isoUtc = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const entryId = /^[0-9a-f]{26}$/

const guests = (count: number) =>
  Effect.flatMap(Usher, ({ guest }) => Effect.all(Array.from({ length: count }, () => guest())))

/** Returns which of the consumers have won, and which have lost. */
const sorted = Effect.fnUntraced(function* (draw: Effect.Success<ReturnType<typeof aDraw>>, all: ReadonlyArray<Guest>) {
  const winners: Array<Guest> = []
  const losers: Array<Guest> = []
  for (const someone of all) {
    const { body } = yield* draw.status(someone)
    ;(body.status === "WON" ? winners : losers).push(someone)
  }
  return { winners, losers }
})

describe("A draw on the Consumer API", () => {
  layer(Fixture.layer, { excludeTestServices: true })((it) => {
    it.effect("runs from the first entry to the shop without a request in between", () =>
      Effect.gen(function* () {
        const { consumer } = yield* Usher
        const all = yield* guests(5)
        const draw = yield* aDraw({ drawAt: soon(2), winnerCount: 2, admissionExpirationSeconds: 600 })
        const before = (yield* draw.get).body
        assert.match(before.seedCommitment, /^[0-9a-f]{64}$/)
        assert.deepInclude(before, { entriesDigest: null, drawnAt: null, beacon: null, lifecycle: "open" })
        assert.deepStrictEqual((yield* draw.status(all[0]!)).body, { status: "NOT_ENTERED" })
        for (const someone of all) assert.strictEqual((yield* draw.enter(someone)).body.status, "ENTERED")
        const early = yield* draw.proof
        assert.deepStrictEqual(
          [early.status, early.body],
          [409, { error: "Draw has not been drawn", code: "NOT_DRAWN" }]
        )

        const drawn = yield* draw.get.pipe(
          Effect.repeat({
            until: ({ body }) => body.drawnAt !== null,
            schedule: Schedule.spaced("20 millis"),
            times: 300
          })
        )
        assert.strictEqual(drawn.body.seedCommitment, before.seedCommitment)
        assert.strictEqual(drawn.body.lifecycle, "settling")
        const { winners, losers } = yield* sorted(draw, all)
        assert.strictEqual(winners.length, 2)
        for (const loser of losers) {
          const { body } = yield* draw.status(loser)
          const { drawnAt } = drawn.body
          assert.deepInclude(body, { status: "DENIED", reason: "NOT_SELECTED", deniedAt: drawnAt, drawnAt })
        }
        const [first] = winners as [Guest]
        const { admissionGrant, wonAt, expiresAt, ...rest } = (yield* draw.status(first)).body
        assert.hasAllKeys(rest, ["status", "enteredAt", "entryId", "drawnAt"])
        assert.strictEqual(Date.parse(expiresAt) - Date.parse(wonAt), 600_000)
        assert.isAtLeast(Date.parse(wonAt), Date.parse(drawn.body.drawAt))
        const jwks = (yield* consumer({ path: "/.well-known/jwks.json" })).body
        const { payload } = yield* Effect.promise(() =>
          jwtVerify(admissionGrant, createLocalJWKSet(jwks), { issuer: "usher", audience: "usher:admission" })
        )
        assert.deepInclude(payload, {
          type: "admission",
          consumerId: first.consumerId,
          distributionId: draw.id,
          distributionType: "draw"
        })
        const { consumerId } = first
        assert.strictEqual((yield* draw.validate({ consumerId, token: admissionGrant })).body, true)
        const completed = yield* draw.complete({ consumerId })
        assert.deepInclude(completed.body, { status: "COMPLETED", entryId: rest.entryId })
        assert.deepStrictEqual((yield* draw.complete({ consumerId })).body, {
          ...completed.body,
          alreadyCompleted: true
        })
        const used = (yield* draw.validate({ consumerId, token: admissionGrant })).body
        assert.deepInclude(used, { valid: false, code: "GRANT_COMPLETED" })
      })
    )

    it.effect("publishes its drawing time to every consumer, on streams too, also to those that can still win", () =>
      Effect.gen(function* () {
        const { brand, consumerUrl } = yield* Usher
        const [one, other, stranger] = (yield* guests(3)) as [Guest, Guest, Guest]
        const draw = yield* aDraw({ continueSelectingUntilCompleted: true })
        for (const someone of [one, other]) yield* draw.enter(someone)
        for (const someone of [one, stranger]) assert.notProperty((yield* draw.status(someone)).body, "drawnAt")
        const follow = ({ accessToken }: Guest) =>
          openStream(consumerUrl, `/api/draws/${draw.id}/events`, asConsumer(brand.publishableKey, accessToken))
        const streams = [yield* follow(one), yield* follow(other), yield* follow(stranger)]
        for (const stream of streams) assert.notProperty((yield* stream.next).data, "drawnAt")
        yield* draw.drawNow
        const { drawnAt } = (yield* draw.get).body
        const told = yield* Effect.forEach(streams, (stream) =>
          Effect.repeat(stream.next, { until: ({ data }) => data.drawnAt !== undefined })
        )
        assert.sameMembers(
          told.map(({ data }) => data.status),
          ["WON", "ENTERED", "NOT_ENTERED"]
        )
        for (const { data } of told) assert.strictEqual(data.drawnAt, drawnAt)
        for (const [index, someone] of [one, other, stranger].entries()) {
          assert.deepStrictEqual((yield* draw.status(someone)).body, told[index]!.data)
        }
        const winner = told[0]!.data.status === "WON" ? one : other
        const completed = yield* draw.complete({ consumerId: winner.consumerId })
        assert.deepInclude(completed.body, { status: "COMPLETED", drawnAt })
        yield* Effect.forEach(streams, (stream) => stream.leave)
      })
    )

    it.effect("answers each entry with a receipt that any reader can verify, and repeats the same receipt", () =>
      Effect.gen(function* () {
        const { consumer, brand } = yield* Usher
        const [someone] = (yield* guests(1)) as [Guest]
        const draw = yield* aDraw()
        const entered = yield* draw.enter(someone)
        const { entryReceipt, ...shown } = entered.body
        assert.strictEqual(entered.status, 200)
        assert.hasAllKeys(shown, ["status", "enteredAt", "entryId"])
        assert.match(shown.enteredAt, isoUtc)
        assert.match(shown.entryId, entryId)
        const jwks = (yield* consumer({ path: "/.well-known/jwks.json" })).body
        const { payload } = yield* Effect.promise(() =>
          jwtVerify(entryReceipt, createLocalJWKSet(jwks), { issuer: "usher", audience: "usher:entry-receipt" })
        )
        assert.deepStrictEqual(payload, {
          type: "entry_receipt",
          iss: "usher",
          aud: "usher:entry-receipt",
          jti: `${draw.id}.${shown.entryId}`,
          organizationId: brand.organizationId,
          drawId: draw.id,
          seedCommitment: (yield* draw.get).body.seedCommitment,
          entryId: shown.entryId,
          enteredAt: shown.enteredAt,
          iat: Math.floor(Date.parse(shown.enteredAt) / 1000)
        })
        assert.deepStrictEqual((yield* draw.enter(someone)).body, entered.body)
        assert.deepStrictEqual((yield* draw.status(someone)).body, shown)
        const asGrant = yield* draw.validate({ consumerId: someone.consumerId, token: entryReceipt })
        assert.strictEqual(asGrant.body.code, "INVALID_TOKEN")
      })
    )

    it.effect("can be left before the drawing, and entered again as a new entry", () =>
      Effect.gen(function* () {
        const [someone, other] = (yield* guests(2)) as [Guest, Guest]
        const draw = yield* aDraw()
        const first = (yield* draw.enter(someone)).body
        yield* draw.enter(other)
        const left = yield* draw.leave(someone)
        assert.deepStrictEqual([left.status, Object.keys(left.body).toSorted()], [200, ["leftAt", "status"]])
        assert.strictEqual(left.body.status, "ENTERED")
        assert.match(left.body.leftAt, isoUtc)
        assert.deepStrictEqual((yield* draw.status(someone)).body, { status: "NOT_ENTERED" })
        const again = yield* draw.leave(someone)
        assert.deepStrictEqual([again.status, again.body], [409, { error: "Not entered", code: "NOT_ENTERED" }])
        assert.notStrictEqual((yield* draw.enter(someone)).body.entryId, first.entryId)
        yield* draw.leave(someone)
        yield* draw.drawNow
        const late = yield* draw.leave(other)
        assert.deepStrictEqual([late.status, late.body], [409, { error: "Already granted", code: "ALREADY_GRANTED" }])
        const never = yield* draw.leave(someone)
        assert.strictEqual(never.body.code, "NOT_ENTERED")
      })
    )

    it.effect("passes an expired or denied win to the next consumer, and ends after enough completions", () =>
      Effect.gen(function* () {
        const all = yield* guests(4)
        const draw = yield* aDraw({ continueSelectingUntilCompleted: true, admissionExpirationSeconds: 600 })
        for (const someone of all) yield* draw.enter(someone)
        yield* draw.drawNow
        const first = (yield* sorted(draw, all)).winners as [Guest]
        assert.lengthOf(first, 1)
        const denied = yield* draw.deny({ consumerId: first[0].consumerId, reason: "FRAUD_DETECTED" })
        assert.deepInclude(denied.body, { status: "DENIED", reason: "FRAUD_DETECTED" })
        const second = (yield* sorted(draw, all)).winners as [Guest]
        assert.lengthOf(second, 1)
        assert.notStrictEqual(second[0].consumerId, first[0].consumerId)
        yield* draw.complete({ consumerId: second[0].consumerId })
        const over = yield* draw.get.pipe(
          Effect.repeat({
            until: ({ body }) => body.teardownStatus === "completed",
            schedule: Schedule.spaced("10 millis"),
            times: 300
          })
        )
        assert.strictEqual(over.body.lifecycle, "closed")
        const { losers } = yield* sorted(draw, all)
        const reasons = yield* Effect.forEach(losers, (loser) =>
          Effect.map(draw.status(loser), ({ body }) => body.reason ?? body.status)
        )
        assert.sameMembers(reasons, ["FRAUD_DETECTED", "COMPLETED", "NOT_SELECTED", "NOT_SELECTED"])
      })
    )

    it.effect("validates a grant, and returns whether it admits", () =>
      Effect.gen(function* () {
        const [holder, loser] = (yield* guests(2)) as [Guest, Guest]
        const draw = yield* aDraw()
        yield* draw.enter(holder)
        yield* draw.drawNow
        const { consumerId } = holder
        const token = (yield* draw.status(holder)).body.admissionGrant as string
        assert.strictEqual((yield* draw.validate({ consumerId, token })).body, true)
        const stranger = yield* draw.validate({ consumerId: loser.consumerId, token })
        assert.strictEqual(stranger.body.code, "WRONG_CONSUMER")
        yield* draw.deny({ consumerId, reason: "BOT_DETECTED" })
        assert.strictEqual((yield* draw.validate({ consumerId, token })).body.code, "GRANT_DENIED")
      })
    )

    it.effect("is full at its capacity, and cannot be entered before it opens or after it closes", () =>
      Effect.gen(function* () {
        const [one, two] = (yield* guests(2)) as [Guest, Guest]
        const draw = yield* aDraw({ capacity: 1 })
        yield* draw.enter(one)
        const full = yield* draw.enter(two)
        assert.deepStrictEqual([full.status, full.body], [409, { error: "Draw is full", code: "DRAW_FULL" }])
        assert.match(full.headers["retry-after"]!, /^[1-9]\d*$/)
        const opensAt = soon(1800)
        const early = yield* (yield* aDraw({ openAt: opensAt })).enter(one)
        assert.deepStrictEqual(
          [early.status, early.body],
          [423, { error: "Draw is not open yet", code: "NOT_OPEN", opensAt }]
        )
        yield* draw.drawNow
        const late = yield* draw.enter(two)
        assert.deepStrictEqual([late.status, late.body], [409, { error: "Draw is closed", code: "CLOSED" }])
        assert.strictEqual((yield* draw.enter(one)).body.status, "WON")
        const guestless = yield* (yield* aDraw({ supportsGuest: false })).enter(one)
        assert.deepStrictEqual([guestless.status, guestless.body], [403, { error: "Draw does not admit guests" }])
      })
    )

    it.effect("that ends before its drawing denies every consumer and has no proof", () =>
      Effect.gen(function* () {
        const [someone] = (yield* guests(1)) as [Guest]
        const draw = yield* aDraw()
        yield* draw.enter(someone)
        assert.strictEqual((yield* draw.end).status, 200)
        const { body } = yield* draw.status(someone)
        assert.deepInclude(body, { status: "DENIED", reason: "DRAW_CLOSED" })
        assert.strictEqual((yield* draw.proof).body.code, "NOT_DRAWN")
      })
    )

    it.effect("shows a valid proof, with the entries that the consumers' receipts contain", () =>
      Effect.gen(function* () {
        const all = yield* guests(6)
        const draw = yield* aDraw({ winnerCount: 3 })
        const ids: Array<string> = []
        for (const someone of all) ids.push((yield* draw.enter(someone)).body.entryId)
        const { seedCommitment } = (yield* draw.get).body
        yield* draw.drawNow
        const answers = yield* Effect.all([draw.proof, draw.proof, draw.proof], { concurrency: 3 })
        const [{ status, headers, text, body }] = answers
        assert.strictEqual(status, 200)
        assert.match(headers["content-type"]!, /^application\/json/)
        assert.strictEqual(headers["content-length"], `${text.length}`)
        for (const answer of answers) assert.strictEqual(answer.text, text)
        const proof = Result.getOrThrow(decodeProof(body))
        assert.isTrue(verify(proof).isValid)
        assert.deepInclude(proof, { drawId: draw.id, seedCommitment, beacon: "", winnerCount: 3 })
        assert.strictEqual(proof.entriesDigest, (yield* draw.get).body.entriesDigest)
        assert.sameMembers(
          proof.entries.map(({ id }) => id),
          ids
        )
        for (const { consumerId } of all) assert.notInclude(text, consumerId)
        const { winners } = yield* sorted(draw, all)
        const winning = yield* Effect.forEach(winners, (winner) =>
          Effect.map(draw.status(winner), ({ body }) => body.entryId as string)
        )
        assert.sameMembers([...proof.winners], winning)
      })
    )

    it.effect("gives loyal consumers more weight, where loyalty counts", () =>
      Effect.gen(function* () {
        const { brand } = yield* Usher
        const sql = yield* SqlClient.SqlClient
        const [plain, loyal] = (yield* guests(2)) as [Guest, Guest]
        yield* sql`update organizations set settings = '{"loyaltyFullScoreBalance": 50}' where id = ${brand.organizationId}`
        yield* sql`update consumers set loyalty_balance = 25 where id = ${loyal.consumerId}`
        const draw = yield* aDraw({ loyaltyBiasEnabled: true, loyaltyWeight: 3 })
        yield* draw.enter(plain)
        const { entryId } = (yield* draw.enter(loyal)).body
        yield* sql`update organizations set settings = '{}' where id = ${brand.organizationId}`
        yield* draw.drawNow
        const { entries } = (yield* draw.proof).body
        assert.deepStrictEqual(
          entries.find(({ id }: { id: string }) => id === entryId),
          { id: entryId, weight: 2_500_000 }
        )
      })
    )

    it.effect("hides the seed until the drawing, and always hides the salt", () =>
      Effect.gen(function* () {
        const [someone] = (yield* guests(1)) as [Guest]
        const draw = yield* aDraw()
        yield* draw.enter(someone)
        const sql = yield* SqlClient.SqlClient
        const [stored] = yield* sql<{ data: { seed: string; salt: string } }>`
          select data from journal where mechanism_id = ${draw.id} and type = 'SeedDrawn'`
        const { seed, salt } = stored!.data
        const seen = (yield* draw.recorded).body.data.find(({ type }: { type: string }) => type === "SeedDrawn")
        assert.deepStrictEqual(seen.data, {})
        for (const answer of [yield* draw.recorded, yield* draw.record, yield* draw.get, yield* draw.status(someone)]) {
          for (const secret of [seed.slice(0, 32), seed.slice(32), salt]) assert.notInclude(answer.text, secret)
        }
        yield* draw.drawNow
        const after = (yield* draw.recorded).body.data.find(({ type }: { type: string }) => type === "SeedDrawn")
        assert.deepStrictEqual(after.data, { seed })
        assert.strictEqual((yield* draw.proof).body.seed, seed)
        for (const answer of [yield* draw.recorded, yield* draw.record, yield* draw.proof])
          assert.notInclude(answer.text, salt)
      })
    )

    it.effect("counts entries in their own rate limit", () =>
      Effect.gen(function* () {
        const { consumer, stranger, guest } = yield* Usher
        const draw = yield* aDraw()
        const outsider = yield* guest(stranger.publishableKey)
        const headers = Fixture.asConsumer(stranger.publishableKey, outsider.accessToken)
        const entered = yield* consumer({ method: "POST", path: `/api/draws/${draw.id}/enter`, headers })
        assert.deepStrictEqual([entered.status, entered.headers["x-ratelimit-limit"]], [404, "100"])
      })
    )

    it.effect("of thousands runs while other requests are served, and finally records every place", () =>
      Effect.gen(function* () {
        const { admin, brand } = yield* Usher
        const engine = yield* Engine
        const draw = yield* aDraw({ winnerCount: 1_500 })
        const mechanism = {
          kind: "draw",
          id: draw.id,
          tenant: { organizationId: brand.organizationId, mode: "live" }
        } as const
        yield* Effect.forEach(
          Array.from({ length: 6_000 }, () => randomUUID()),
          (consumerId) => engine.send(mechanism, { _tag: "Enter", consumerId, isGuest: false, loyaltyScore: 0 }),
          { concurrency: "unbounded", discard: true }
        )
        yield* draw.drawNow
        const shown = yield* admin({ path: `/api/distributions/${draw.id}`, headers: asServer(brand.secretKey) }).pipe(
          Effect.repeat({
            until: ({ body }) => body.live.counts.ENTERED === 0,
            schedule: Schedule.spaced("20 millis"),
            times: 1_000
          })
        )
        assert.deepInclude(shown.body.live.counts, { ENTERED: 0, WON: 1_500, DENIED: 4_500 })
        const sql = yield* SqlClient.SqlClient
        yield* placesWritten
        const rows = yield* sql<{ status: string; count: number }>`
          select status, count(*)::int as count from places where mechanism_id = ${draw.id} group by status order by status`
        const counts = Object.fromEntries(rows.map(({ status, count }) => [status, count]))
        assert.deepStrictEqual(counts, { DENIED: 4_500, WON: 1_500 })
        const proof = Result.getOrThrow(decodeProof((yield* draw.proof).body))
        assert.isTrue(verify(proof).isValid)
        assert.lengthOf(proof.winners, 1_500)
      })
    )

    it.effect("omits the expiry of a grant that does not expire", () =>
      Effect.gen(function* () {
        const [someone] = (yield* guests(1)) as [Guest]
        const draw = yield* aDraw()
        yield* draw.enter(someone)
        yield* draw.drawNow
        const { body } = yield* draw.status(someone)
        assert.notProperty(body, "expiresAt")
        assert.notProperty(decodeJwt(body.admissionGrant), "exp")
      })
    )
  })
})
