/** Copies of experiences. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { Engine } from "../../../../src/engine/Engine.ts"
import { aProduct, aVariant } from "../../../store/catalogue/catalogueFixture.ts"
import { Admin, anExperience, aSequence, issuesOf, layer as adminLayer } from "../adminFixture.ts"

const day = 86_400
const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString()
const later = (time: string, seconds: number): string => new Date(Date.parse(time) + seconds * 1000).toISOString()

/** The fields that must differ between an original and its copy. */
const isOwn = (name: string) =>
  /^(id|experienceId|sequenceId|createdAt|createdBy|updatedAt|updatedBy|seedCommitment)$/.test(name)
const isTime = (name: string) => /(At|From|Until)$/.test(name)

/** Returns a record without its own identifiers, with its times moved later. */
const expected = (value: any, seconds: number, field = ""): any => {
  if (Array.isArray(value)) return value.map((item) => expected(item, seconds, field))
  if (value !== null && typeof value === "object" && field !== "product" && field !== "productVariant") {
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => !isOwn(name))
        .map(([name, inner]) => [name, expected(inner, seconds, name)])
    )
  }
  return isTime(field) && typeof value === "string" ? later(value, seconds) : value
}

const original = Effect.gen(function* () {
  const { call, brand } = yield* Admin
  const product = yield* aProduct(brand.tenant)
  const variant = yield* aVariant(brand.tenant, product)
  const archived = yield* aProduct(brand.tenant)
  const { id: audienceId } = (yield* call("POST", "/audiences", { name: "Friends" })).body
  const { body, status, text } = yield* call("POST", "/experiences", {
    name: "Spring",
    timeZone: "Europe/Rome",
    currencyCode: "EUR",
    theme: { primary: "red" },
    i18n: { de: { title: "Los" } },
    openAt: inSeconds(day),
    closeAt: inSeconds(30 * day),
    products: [{ productId: product, productVariantId: variant, position: 7 }, { productId: archived }],
    sequences: [
      {
        name: "First",
        priority: 3,
        productSelectionMode: "USER_SELECTED",
        audienceId,
        queues: [
          { name: "Q", admitRate: 60, openAt: inSeconds(2 * day), lobbyOpenAt: inSeconds(day), maxAdmissions: 4 }
        ],
        draws: [{ name: "D", drawAt: inSeconds(3 * day), winnerCount: 2, admissionExpirationSeconds: 600 }],
        auctions: [{ name: "A", settleAt: inSeconds(4 * day), startPrice: "10.5", reservePrice: "20" }],
        appointments: [
          { name: "V", slotDurationMinutes: 30, slotsFrom: inSeconds(5 * day), slotsUntil: inSeconds(6 * day) }
        ],
        timedReleases: [{ name: "R", capacity: 3, variantIds: [variant], closeAt: inSeconds(9 * day) }],
        waitlist: { name: "W", capacity: 10, closeAt: inSeconds(9 * day) }
      },
      { name: "Second", queues: [{ name: "Open", admitRate: 0 }] }
    ]
  })
  assert.strictEqual(status, 201, text)
  const sql = yield* SqlClient.SqlClient
  yield* sql`update products set archived = true where id = ${archived}`
  return (yield* call("GET", `/experiences/${body.id}`)).body
})

/** Enters consumers into a waitlist, which opens before its experience. */
const enter = Effect.fnUntraced(function* (id: string, count: number) {
  const engine = yield* Engine
  const { brand } = yield* Admin
  const waitlist = { kind: "waitlist", id, tenant: brand.tenant } as const
  for (let n = 0; n < count; n++) yield* engine.send(waitlist, { _tag: "Enter", consumerId: randomUUID() })
})

describe("A copy of an experience", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("has every setting, at later times, and no entries or history", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const spring = yield* original
        const open = spring.sequences[0].waitlist.id
        yield* enter(open, 3)
        const copied = yield* call("POST", `/experiences/${spring.id}/duplicate`, { shiftSeconds: 7 * day })
        assert.strictEqual(copied.status, 201, copied.text)
        assert.lengthOf(copied.body.products, 1)
        assert.deepStrictEqual(expected(copied.body, 0), { ...expected(spring, 7 * day), name: "Spring (copy)" })
        assert.deepStrictEqual((yield* call("GET", `/experiences/${copied.body.id}`)).body, copied.body)
        const [first] = copied.body.sequences
        assert.notStrictEqual(first.draws[0].seedCommitment, spring.sequences[0].draws[0].seedCommitment)
        const { live } = (yield* call("GET", `/distributions/${first.waitlist.id}`)).body
        assert.deepStrictEqual(
          Object.values(live.counts).filter((count) => count !== 0),
          []
        )
        // The original is unchanged, with its consumers.
        assert.deepStrictEqual((yield* call("GET", `/experiences/${spring.id}`)).body, spring)
        assert.strictEqual((yield* call("GET", `/distributions/${open}`)).body.live.counts.ENTERED, 3)
      })
    )

    it.effect("keeps its times unless they are moved, and accepts a name", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const spring = yield* original
        for (const body of [undefined, {}, { name: null, shiftSeconds: null }]) {
          const { body: copy, status } = yield* call("POST", `/experiences/${spring.id}/duplicate`, body)
          assert.deepStrictEqual([status, copy.openAt, copy.name], [201, spring.openAt, "Spring (copy)"])
        }
        const named = yield* call("POST", `/experiences/${spring.id}/duplicate`, { name: "Summer" })
        assert.strictEqual(named.body.name, "Summer")
        const long = yield* anExperience({ name: "x".repeat(200) })
        const copy = yield* call("POST", `/experiences/${long.id}/duplicate`)
        assert.deepStrictEqual([copy.status, copy.body.name.length], [201, 200])
      })
    )

    it.effect("is refused if one of its times would be in the past, and the answer names the necessary seconds", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id } = yield* anExperience({ openAt: inSeconds(-100 * day) })
        yield* aSequence({ experienceId: id })
        const duplicate = (shiftSeconds: unknown) =>
          call("POST", `/experiences/${id}/duplicate`, shiftSeconds === undefined ? undefined : { shiftSeconds })
        for (const [shift, type] of [
          [undefined, "min_value"],
          [99 * day, "min_value"],
          [-5, "min_value"],
          [0.5, "integer"],
          ["7", "number"],
          [315_360_001, "max_value"]
        ] as const) {
          assert.deepStrictEqual(issuesOf(yield* duplicate(shift)), [`shiftSeconds: ${type}`])
        }
        const [issue] = (yield* duplicate(0)).body.issues
        const least = Number(/>=(\d+)/.exec(issue.expected)![1])
        assert.isAtMost(Math.abs(least - 100 * day), 60)
        assert.strictEqual((yield* duplicate(least + 60)).status, 201)
        const far = yield* anExperience({ closeAt: "9999-12-31T00:00:00Z" })
        const refused = yield* call("POST", `/experiences/${far.id}/duplicate`, { shiftSeconds: 2 * day })
        assert.deepStrictEqual(issuesOf(refused), ["shiftSeconds: max_value"])
        const { body } = yield* call("POST", `/experiences/${far.id}/duplicate`, { name: "" })
        assert.deepStrictEqual(body.issues[0].path[0].key, "name")
      })
    )

    it.effect("is closed where the original has an access code, until the caller sets a new one", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const sql = yield* SqlClient.SqlClient
        const { id } = yield* anExperience({
          accessCode: "outermost",
          sequences: [{ name: "Coded", accessCode: "innermost" }, { name: "Open" }]
        })
        const { body } = yield* call("POST", `/experiences/${id}/duplicate`)
        assert.isTrue(body.hasAccessCode)
        const flags = body.sequences.map(({ hasAccessCode }: { hasAccessCode: boolean }) => hasAccessCode)
        assert.deepStrictEqual(flags, [true, false])
        const hashes = yield* sql<{ readonly hash: Uint8Array }>`
          select access_code_hash as hash from experiences where id in (${id}, ${body.id})
          union select access_code_hash from sequences
          where experience_id in (${id}, ${body.id}) and access_code_hash is not null
            and organization_id = ${brand.tenant.organizationId}`
        assert.lengthOf(hashes, 4)
        const opened = yield* call("PUT", `/experiences/${body.id}`, { accessCode: null })
        assert.isFalse(opened.body.hasAccessCode)
      })
    )

    it.effect("is refused if the experience does not exist, or exceeds the limits of a creation", () =>
      Effect.gen(function* () {
        const { call, stranger, rehearsal } = yield* Admin
        const { id } = yield* anExperience()
        const gone = yield* anExperience()
        yield* call("DELETE", `/experiences/${gone.id}`)
        for (const answer of [
          yield* call("POST", `/experiences/${id}/duplicate`, {}, stranger),
          yield* call("POST", `/experiences/${id}/duplicate`, {}, rehearsal),
          yield* call("POST", `/experiences/${gone.id}/duplicate`, {})
        ]) {
          assert.deepStrictEqual([answer.status, answer.body], [404, { error: "Experience not found" }])
        }
        const sequences = Array.from({ length: 50 }, () => ({ name: "S" }))
        const large = yield* anExperience({ sequences })
        assert.strictEqual((yield* call("POST", `/experiences/${large.id}/duplicate`)).status, 201)
        yield* aSequence({ experienceId: large.id })
        const refused = yield* call("POST", `/experiences/${large.id}/duplicate`)
        assert.deepStrictEqual([refused.status, refused.body.code], [409, "TOO_LARGE"])
      })
    )
  })
})
