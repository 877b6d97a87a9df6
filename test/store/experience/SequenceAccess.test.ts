import { assert, describe, layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import { SqlClient } from "effect/sql"
import { createHmac, randomUUID } from "node:crypto"
import type { Tenant } from "../../../src/domain/values/Ids.ts"
import { AudienceMembers } from "../../../src/store/consumer/AudienceMembers.ts"
import { Audiences } from "../../../src/store/consumer/Audiences.ts"
import { Experiences } from "../../../src/store/experience/Experiences.ts"
import { Orders } from "../../../src/store/consumer/Orders.ts"
import { SequenceAccess } from "../../../src/store/experience/SequenceAccess.ts"
import { Sequences } from "../../../src/store/experience/Sequences.ts"
import { aConsumer, aTenant, inTestMode, isAdmitted, layer as records } from "../support/recordsFixture.ts"

const anExperience = Effect.fnUntraced(function* (tenant: Tenant) {
  const experiences = yield* Experiences
  const { id } = yield* experiences.create(tenant, "x", { name: "Drop", timeZone: "UTC", currencyCode: "USD" })
  return id
})

const anAudience = Effect.fnUntraced(function* (tenant: Tenant, members: ReadonlyArray<string>) {
  const { id } = yield* (yield* Audiences).create(tenant, "x", { name: "Friends" })
  yield* (yield* AudienceMembers).add(tenant, id, "x", members)
  return id
})

/** Returns true if the consumer can enter the sequence. */
const admits = Effect.fnUntraced(function* (tenant: Tenant, sequenceId: string, consumerId: string) {
  const admission = yield* (yield* SequenceAccess).admission(tenant, sequenceId, consumerId)
  return admission.startsWith("admitted")
})

const bare = { name: "VIP", priority: 0 }

describe("A sequence", () => {
  layer(records, { excludeTestServices: true })((it) => {
    it.effect("admits every consumer of its tenant, and none of another", () =>
      Effect.gen(function* () {
        const sequences = yield* Sequences
        const tenant = yield* aTenant()
        const { id } = yield* sequences.create(tenant, "x", yield* anExperience(tenant), bare)
        const consumerId = yield* aConsumer(tenant)
        assert.isTrue(yield* admits(tenant, id, consumerId))
        assert.isFalse(yield* admits(inTestMode(tenant), id, consumerId))
        assert.isFalse(yield* admits(yield* aTenant(), id, consumerId))
        assert.isFalse(yield* admits(tenant, randomUUID(), consumerId))
      })
    )

    it.effect("with an audience admits its members, while they are members", () =>
      Effect.gen(function* () {
        const sequences = yield* Sequences
        const members = yield* AudienceMembers
        const tenant = yield* aTenant()
        const [friend, other] = [yield* aConsumer(tenant), yield* aConsumer(tenant)]
        const audienceId = yield* anAudience(tenant, [friend])
        const { id } = yield* sequences.create(tenant, "x", yield* anExperience(tenant), { ...bare, audienceId })
        const mayEnter = () => Effect.forEach([friend, other], (consumerId) => admits(tenant, id, consumerId))
        assert.deepStrictEqual(yield* mayEnter(), [true, false])
        yield* members.remove(tenant, audienceId, "x", [friend])
        yield* members.add(tenant, audienceId, "x", [other])
        assert.deepStrictEqual(yield* mayEnter(), [false, true])
        yield* sequences.change(tenant, id, "x", () => Result.succeed(bare))
        assert.deepStrictEqual(yield* mayEnter(), [true, true])
      })
    )

    it.effect("of an experience with an access code requires that code, in addition to its own", () =>
      Effect.gen(function* () {
        const access = yield* SequenceAccess
        const sequences = yield* Sequences
        const experiences = yield* Experiences
        const tenant = yield* aTenant()
        const experienceId = yield* anExperience(tenant)
        const open = yield* sequences.create(tenant, "x", experienceId, bare)
        const coded = yield* sequences.create(tenant, "x", experienceId, bare, "own")
        const elsewhere = yield* sequences.create(tenant, "x", yield* anExperience(tenant), bare)
        const consumerId = yield* aConsumer(tenant)
        const mayEnter = Effect.forEach([open.id, coded.id, elsewhere.id], (id) => isAdmitted(tenant, id, consumerId))
        const show = (accessCode: string, as: Tenant = tenant) =>
          access.show(as, { experienceId, consumerId, accessCode })
        const ids = [open.id, coded.id, elsewhere.id]
        const among = Effect.map(access.protectedAmong(ids), (found) => ids.map((id) => found.includes(id)))
        assert.deepStrictEqual(yield* mayEnter, [true, false, true])
        assert.deepStrictEqual(yield* among, [false, true, false])
        const coding = yield* experiences.change(tenant, experienceId, "x", Result.succeed, "whole")
        assert.isTrue(coding.hasAccessCode)
        assert.deepStrictEqual(yield* mayEnter, [false, false, true])
        assert.deepStrictEqual(yield* among, [true, true, false])
        const all = yield* access.protectedIds(1_000)
        assert.deepStrictEqual(
          ids.map((id) => all.includes(id)),
          [true, true, false]
        )
        assert.isFalse(yield* show("whole", inTestMode(tenant)))
        assert.isFalse(yield* show("nothing"))
        assert.isTrue(yield* show("own"))
        assert.deepStrictEqual(yield* mayEnter, [false, false, true])
        assert.isTrue(yield* show("whole"))
        assert.deepStrictEqual(yield* mayEnter, [true, true, true])
        // A code that was sent remains valid after a change, as for a sequence.
        yield* experiences.change(tenant, experienceId, "x", Result.succeed, "another")
        assert.deepStrictEqual(yield* mayEnter, [true, true, true])
        const unchanged = yield* experiences.change(tenant, experienceId, "x", Result.succeed)
        assert.isTrue(unchanged.hasAccessCode)
        const stranger = yield* aConsumer(tenant)
        assert.isFalse(yield* isAdmitted(tenant, open.id, stranger))
        yield* experiences.change(tenant, experienceId, "x", Result.succeed, null)
        assert.isTrue(yield* isAdmitted(tenant, open.id, stranger))
        assert.isFalse(yield* isAdmitted(tenant, coded.id, stranger))
      })
    )

    it.effect("with an access code admits consumers who have sent it, also after it was changed", () =>
      Effect.gen(function* () {
        const access = yield* SequenceAccess
        const sequences = yield* Sequences
        const tenant = yield* aTenant()
        const experienceId = yield* anExperience(tenant)
        const { id, hasAccessCode } = yield* sequences.create(tenant, "x", experienceId, bare, "sésame")
        assert.isTrue(hasAccessCode)
        const [early, late] = [yield* aConsumer(tenant), yield* aConsumer(tenant)]
        const show = (consumerId: string, accessCode: string, as: Tenant = tenant) =>
          access.show(as, { experienceId, consumerId, accessCode })
        for (const wrong of ["sesame", "Sésame", "sésamé", "s", "", " ", "x".repeat(200)])
          assert.isFalse(yield* show(early, wrong))
        assert.isFalse(yield* show(early, "sésame", inTestMode(tenant)))
        assert.isFalse(yield* admits(tenant, id, early))
        assert.isTrue(yield* show(early, "sésame"))
        assert.isTrue(yield* show(early, "sésame"))
        assert.isTrue(yield* admits(tenant, id, early))
        assert.isFalse(yield* admits(tenant, id, late))

        yield* sequences.change(tenant, id, "x", Result.succeed, "another")
        assert.isFalse(yield* show(late, "sésame"))
        assert.isTrue(yield* admits(tenant, id, early))
        yield* sequences.change(tenant, id, "x", Result.succeed)
        assert.isTrue(yield* show(late, "another"))
        const opened = yield* sequences.change(tenant, id, "x", Result.succeed, null)
        assert.isFalse(opened.hasAccessCode)
        assert.isTrue(yield* admits(tenant, id, yield* aConsumer(tenant)))
      })
    )

    it.effect("is opened by every spelling of its code, and a code of an earlier release by its own", () =>
      Effect.gen(function* () {
        const access = yield* SequenceAccess
        const sequences = yield* Sequences
        const sql = yield* SqlClient.SqlClient
        const tenant = yield* aTenant()
        const experienceId = yield* anExperience(tenant)
        const show = Effect.fnUntraced(function* (accessCode: string) {
          return yield* access.show(tenant, { experienceId, consumerId: yield* aConsumer(tenant), accessCode })
        })
        const { id } = yield* sequences.create(tenant, "x", experienceId, bare, "été-24 ")
        for (const typed of [
          "été-24",
          " été-24",
          "e\u0301te\u0301-24",
          "été-24\u00a0",
          "\u3000été-24",
          "été-24\u200b",
          "été-٢٤",
          "été-２４"
        ])
          assert.isTrue(yield* show(typed), typed)
        for (const wrong of ["ete-24", "Été-24", "été24", "été-25"]) assert.isFalse(yield* show(wrong), wrong)

        const { secret } = (yield* sql<{ readonly secret: Uint8Array }>`
          select secret from server_secrets where name = 'access_codes'`)[0]!
        const former = createHmac("sha256", secret)
          .update(JSON.stringify([experienceId, "open house"]))
          .digest()
        yield* sql`update sequences set access_code_hash = ${former} where id = ${id}`
        assert.isTrue(yield* show("open house"))
        assert.isFalse(yield* show("openhouse"))
      })
    )

    it.effect("with both admits members who have sent the code", () =>
      Effect.gen(function* () {
        const access = yield* SequenceAccess
        const sequences = yield* Sequences
        const tenant = yield* aTenant()
        const [member, outsider] = [yield* aConsumer(tenant), yield* aConsumer(tenant)]
        const audienceId = yield* anAudience(tenant, [member])
        const experienceId = yield* anExperience(tenant)
        const { id } = yield* sequences.create(tenant, "x", experienceId, { ...bare, audienceId }, "open")
        const mayEnter = () => Effect.forEach([member, outsider], (consumerId) => admits(tenant, id, consumerId))
        assert.deepStrictEqual(yield* mayEnter(), [false, false])
        for (const consumerId of [member, outsider]) {
          assert.isTrue(yield* access.show(tenant, { experienceId, consumerId, accessCode: "open" }))
        }
        assert.deepStrictEqual(yield* mayEnter(), [true, false])
      })
    )

    it.effect("is opened by its code together with sequences of its experience that have the same code", () =>
      Effect.gen(function* () {
        const access = yield* SequenceAccess
        const sequences = yield* Sequences
        const tenant = yield* aTenant()
        const [experienceId, elsewhere] = [yield* anExperience(tenant), yield* anExperience(tenant)]
        const ids: Array<string> = []
        for (const [below, code] of [
          [experienceId, "open"],
          [experienceId, "open"],
          [experienceId, "shut"],
          [elsewhere, "open"]
        ] as const) {
          ids.push((yield* sequences.create(tenant, "x", below, bare, code)).id)
        }
        yield* sequences.archive(tenant, ids[1]!, "x")
        const consumerId = yield* aConsumer(tenant)
        yield* access.show(tenant, { experienceId, consumerId, accessCode: "open" })
        const open = yield* Effect.forEach(ids, (id) => admits(tenant, id, consumerId))
        assert.deepStrictEqual(open, [true, false, false, false])
      })
    )

    it.effect("stores its access code in a form that does not reveal it", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const sequences = yield* Sequences
        const tenant = yield* aTenant()
        const experiences = [yield* anExperience(tenant), yield* anExperience(tenant)]
        for (const experienceId of experiences) yield* sequences.create(tenant, "x", experienceId, bare, "open sesame")
        const rows = yield* sql<{ readonly row: string; readonly hash: Uint8Array }>`
          select s::text as row, access_code_hash as hash from sequences s where organization_id = ${tenant.organizationId}`
        assert.lengthOf(rows, 2)
        for (const { row, hash } of rows) {
          assert.notInclude(row, "sesame")
          assert.notInclude(row, Buffer.from("sesame").toString("hex"))
          assert.strictEqual(hash.length, 32)
        }
        assert.notDeepEqual(rows[0]!.hash, rows[1]!.hash)
      })
    )

    it.effect("is known as protected exactly while it is", () =>
      Effect.gen(function* () {
        const access = yield* SequenceAccess
        const sequences = yield* Sequences
        const experiences = yield* Experiences
        const tenant = yield* aTenant()
        const experienceId = yield* anExperience(tenant)
        const audienceId = yield* anAudience(tenant, [yield* aConsumer(tenant)])
        const open = yield* sequences.create(tenant, "x", experienceId, bare)
        const coded = yield* sequences.create(tenant, "x", experienceId, bare, "open")
        const kept = yield* sequences.create(tenant, "x", experienceId, { ...bare, audienceId })
        const known = Effect.map(access.protectedIds(10_000), (ids) =>
          [open, coded, kept].map(({ id }) => ids.includes(id))
        )
        assert.deepStrictEqual(yield* known, [false, true, true])
        assert.lengthOf(yield* access.protectedIds(1), 1)
        yield* sequences.change(tenant, open.id, "x", Result.succeed, "now")
        yield* sequences.change(tenant, coded.id, "x", Result.succeed, null)
        assert.deepStrictEqual(yield* known, [true, false, true])
        yield* experiences.archive(tenant, experienceId, "x")
        assert.deepStrictEqual(yield* known, [false, false, false])
      })
    )

    it.effect("does not accept an audience that is another tenant's, archived or unknown", () =>
      Effect.gen(function* () {
        const audiences = yield* Audiences
        const sequences = yield* Sequences
        const tenant = yield* aTenant()
        const experienceId = yield* anExperience(tenant)
        const { id } = yield* sequences.create(tenant, "x", experienceId, bare)
        const foreign = yield* audiences.create(inTestMode(tenant), "x", { name: "Theirs" })
        const archived = yield* audiences.create(tenant, "x", { name: "Former" })
        yield* audiences.archive(tenant, archived.id, "x")
        for (const audienceId of [foreign.id, archived.id, randomUUID()]) {
          const settings = { ...bare, audienceId }
          for (const attempt of [
            sequences.create(tenant, "x", experienceId, settings),
            sequences.change(tenant, id, "x", () => Result.succeed(settings), "code")
          ]) {
            assert.deepInclude(yield* Effect.flip(attempt), { _tag: "RecordNotFound", record: "Audience" })
          }
        }
        assert.deepInclude(yield* sequences.find(tenant, id), { audienceId: null, hasAccessCode: false })
        assert.lengthOf((yield* sequences.list(tenant, {}, { experienceId })).data, 1)
      })
    )

    it.effect("with an order limit admits consumers with fewer orders in it, without cancelled ones", () =>
      Effect.gen(function* () {
        const access = yield* SequenceAccess
        const sequences = yield* Sequences
        const orders = yield* Orders
        const tenant = yield* aTenant()
        const experienceId = yield* anExperience(tenant)
        const settings = { ...bare, orderLimitPerConsumer: 2 }
        const { id: sequenceId } = yield* sequences.create(tenant, "x", experienceId, settings)
        const { id: elsewhere } = yield* sequences.create(tenant, "x", experienceId, settings)
        const [buyer, other] = [yield* aConsumer(tenant), yield* aConsumer(tenant)]
        const admissions = Effect.forEach([buyer, other], (id) => access.admission(tenant, sequenceId, id))
        const order = (consumerId: string, named: string) =>
          Effect.gen(function* () {
            const { origin } = yield* orders.originOf(tenant, { consumerId, sequenceId: named })
            return yield* orders.create(tenant, "x", origin, {
              status: "CREATED",
              currencyCode: "USD",
              items: [],
              placedAt: 1_000
            })
          })
        yield* order(buyer, sequenceId)
        for (let n = 0; n < 3; n++) yield* order(buyer, elsewhere)
        assert.deepStrictEqual(yield* admissions, ["admitted for now", "admitted for now"])
        const last = yield* order(buyer, sequenceId)
        assert.deepStrictEqual(yield* admissions, ["order limit reached", "admitted for now"])
        yield* orders.change(tenant, last.id, "x", (before) => Result.succeed({ ...before, status: "CANCELLED" }))
        assert.deepStrictEqual(yield* admissions, ["admitted for now", "admitted for now"])
        yield* sequences.change(tenant, sequenceId, "x", () => Result.succeed({ ...bare, orderLimitPerConsumer: 1 }))
        assert.deepStrictEqual(yield* admissions, ["order limit reached", "admitted for now"])
        yield* sequences.change(tenant, sequenceId, "x", () => Result.succeed(bare))
        assert.deepStrictEqual(yield* admissions, ["admitted", "admitted"])
      })
    )

    it.effect("with an order limit is among the protected ones, and one without is not", () =>
      Effect.gen(function* () {
        const access = yield* SequenceAccess
        const sequences = yield* Sequences
        const tenant = yield* aTenant()
        const experienceId = yield* anExperience(tenant)
        const { id } = yield* sequences.create(tenant, "x", experienceId, { ...bare, orderLimitPerConsumer: 1 })
        const isKnown = Effect.map(access.protectedIds(10_000), (ids) => ids.includes(id))
        assert.isTrue(yield* isKnown)
        yield* sequences.change(tenant, id, "x", () => Result.succeed(bare))
        assert.isFalse(yield* isKnown)
      })
    )
  })
})
