import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Admin, anExperience, aQueue, aSequence, issuesOf, layer as adminLayer } from "../adminFixture.ts"

const unknown = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"

describe("Sequences on the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("are created below an experience with a name alone, and return every field", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const experience = yield* anExperience()
        const { status, body } = yield* call("POST", "/sequences", {
          experienceId: experience.id,
          name: "General sale"
        })
        assert.strictEqual(status, 201)
        const { id, createdAt, createdBy, updatedAt, updatedBy, ...rest } = body
        assert.deepStrictEqual(rest, {
          organizationId: brand.tenant.organizationId,
          experienceId: experience.id,
          name: "General sale",
          priority: 0,
          productSelectionMode: null,
          sequenceProducts: [],
          audienceId: null,
          orderLimitPerConsumer: null,
          hasAccessCode: false,
          archived: false,
          queues: [],
          draws: [],
          auctions: [],
          appointments: [],
          timedReleases: [],
          waitlist: null
        })
        assert.deepStrictEqual([updatedAt, updatedBy], [createdAt, createdBy])
        assert.deepStrictEqual((yield* call("GET", `/sequences/${id}`)).body, body)
        assert.deepStrictEqual((yield* call("GET", `/sequences/${id.toUpperCase()}`)).body, body)
      })
    )

    it.effect("change the fields that are sent, and stay below their experience", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id, experienceId } = yield* aSequence()
        const body = { priority: 7, productSelectionMode: "SYSTEM_ASSIGNED", experienceId: unknown }
        const changed = yield* call("PUT", `/sequences/${id}`, body)
        assert.strictEqual(changed.status, 200)
        const set = { name: "General sale", priority: 7, productSelectionMode: "SYSTEM_ASSIGNED", experienceId }
        assert.deepInclude(changed.body, set)
        const cleared = yield* call("PUT", `/sequences/${id}`, { priority: null, productSelectionMode: null })
        assert.deepInclude(cleared.body, { priority: 0, productSelectionMode: null })
      })
    )

    it.effect("refuse malformed fields, and change nothing", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id, experienceId } = yield* aSequence()
        const before = (yield* call("GET", `/sequences/${id}`)).text
        const mistakes: ReadonlyArray<readonly [object, ReadonlyArray<string>]> = [
          [{ name: "" }, ["name: min_length"]],
          [{ name: ["x"] }, ["name: string"]],
          [{ priority: 1.5 }, ["priority: integer"]],
          [{ priority: "1" }, ["priority: number"]],
          [{ priority: 1e9 }, ["priority: max_value"]],
          [{ priority: -1e9 }, ["priority: min_value"]],
          [{ productSelectionMode: "RANDOM" }, ["productSelectionMode: picklist"]],
          [{ audienceId: "friends" }, ["audienceId: uuid"]],
          [{ accessCode: "" }, ["accessCode: min_length"]],
          [{ accessCode: "x".repeat(201) }, ["accessCode: max_length"]],
          [{ accessCode: 1234 }, ["accessCode: string"]],
          [{ orderLimitPerConsumer: 0 }, ["orderLimitPerConsumer: min_value"]],
          [{ orderLimitPerConsumer: 1_000_001 }, ["orderLimitPerConsumer: max_value"]],
          [{ orderLimitPerConsumer: 1.5 }, ["orderLimitPerConsumer: integer"]],
          [{ orderLimitPerConsumer: "1" }, ["orderLimitPerConsumer: number"]],
          [{ sequenceProducts: [{ productId: unknown }] }, ["sequenceProducts.0.weight: number"]]
        ]
        for (const [mistake, expected] of mistakes) {
          const shown = JSON.stringify(mistake)
          const creation = yield* call("POST", "/sequences", { name: "Sale", experienceId, ...mistake })
          assert.deepStrictEqual(issuesOf(creation), expected, `POST ${shown}`)
          assert.deepStrictEqual(issuesOf(yield* call("PUT", `/sequences/${id}`, mistake)), expected, `PUT ${shown}`)
        }
        assert.deepStrictEqual(issuesOf(yield* call("POST", "/sequences", { experienceId: "x" })), [
          "experienceId: uuid",
          "name: string"
        ])
        assert.strictEqual((yield* call("GET", `/sequences/${id}`)).text, before)
        assert.lengthOf((yield* call("GET", `/sequences?experienceId=${experienceId}`)).body.data, 1)
      })
    )

    it.effect("take an audience and an access code, never return the code, and can remove both", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id: audienceId } = (yield* call("POST", "/audiences", { name: "Friends" })).body
        const { id: experienceId } = yield* anExperience()
        const accessCode = "open sesame"
        const created = yield* call("POST", "/sequences", { experienceId, name: "VIP", audienceId, accessCode })
        assert.deepInclude(created.body, { audienceId, hasAccessCode: true })
        const path = `/sequences/${created.body.id}`
        const renamed = yield* call("PUT", path, { name: "Friends first" })
        assert.deepInclude(renamed.body, { name: "Friends first", audienceId, hasAccessCode: true })
        const list = yield* call("GET", `/sequences?experienceId=${experienceId}`)
        for (const { text } of [created, renamed, list, yield* call("GET", path)]) assert.notInclude(text, "sesame")
        const bad = yield* call("PUT", path, { accessCode: `${accessCode}${"!".repeat(200)}` })
        assert.strictEqual(bad.status, 400)
        assert.notInclude(bad.text, "sesame")
        const cleared = yield* call("PUT", path, { audienceId: null, accessCode: null })
        assert.deepInclude(cleared.body, { name: "Friends first", audienceId: null, hasAccessCode: false })
      })
    )

    it.effect("take an order limit, keep it through other changes, and can remove it", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id: experienceId } = yield* anExperience()
        const created = yield* call("POST", "/sequences", { experienceId, name: "VIP", orderLimitPerConsumer: 2 })
        assert.strictEqual(created.body.orderLimitPerConsumer, 2)
        const path = `/sequences/${created.body.id}`
        assert.strictEqual((yield* call("PUT", path, { name: "Few" })).body.orderLimitPerConsumer, 2)
        assert.strictEqual((yield* call("PUT", path, { orderLimitPerConsumer: 1 })).body.orderLimitPerConsumer, 1)
        assert.isNull((yield* call("PUT", path, { orderLimitPerConsumer: null })).body.orderLimitPerConsumer)
        assert.isNull((yield* call("GET", path)).body.orderLimitPerConsumer)
      })
    )

    it.effect("refuse an audience that does not exist", () =>
      Effect.gen(function* () {
        const { call, stranger } = yield* Admin
        const { id, experienceId } = yield* aSequence()
        const { id: foreign } = (yield* call("POST", "/audiences", { name: "Theirs" }, stranger)).body
        const before = (yield* call("GET", `/sequences/${id}`)).text
        for (const audienceId of [unknown, foreign]) {
          for (const answer of [
            yield* call("POST", "/sequences", { experienceId, name: "VIP", audienceId }),
            yield* call("PUT", `/sequences/${id}`, { audienceId })
          ]) {
            assert.deepStrictEqual([answer.status, answer.body], [404, { error: "Audience not found" }])
          }
        }
        assert.strictEqual((yield* call("GET", `/sequences/${id}`)).text, before)
      })
    )

    it.effect("are not created below an experience that does not exist", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { status, body } = yield* call("POST", "/sequences", { experienceId: unknown, name: "Sale" })
        assert.deepStrictEqual([status, body], [404, { error: "Experience not found" }])
      })
    )

    it.effect("are archived with their mechanisms, and do not change their experience", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const sequence = yield* aSequence()
        const sibling = yield* aSequence({ experienceId: sequence.experienceId })
        const queue = yield* aQueue({ sequenceId: sequence.id })
        const other = yield* aQueue({ sequenceId: sibling.id })
        const archived = yield* call("DELETE", `/sequences/${sequence.id}`)
        assert.deepInclude(archived.body, { id: sequence.id, archived: true })
        for (const path of [`/sequences/${sequence.id}`, `/queues/${queue.id}`]) {
          assert.strictEqual((yield* call("GET", path)).status, 404)
        }
        for (const path of [
          `/sequences/${sibling.id}`,
          `/queues/${other.id}`,
          `/experiences/${sequence.experienceId}`
        ]) {
          assert.strictEqual((yield* call("GET", path)).status, 200)
        }
      })
    )
  })
})
