/** The products to which sequences assign weights, in creation, change and display of sequences. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { aProduct } from "../../../store/catalogue/catalogueFixture.ts"
import { Admin, anExperience, aSequence, issuesOf, layer as adminLayer } from "../adminFixture.ts"

const weighing = (productIds: ReadonlyArray<string>, weight = 1) =>
  productIds.map((productId) => ({ productId, weight }))

describe("Products of a sequence on the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("keep their order, appear in every answer, are replaced as a whole, and can be removed", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const [one, other] = [yield* aProduct(brand.tenant), yield* aProduct(brand.tenant)]
        const { id: experienceId } = yield* anExperience()
        const set = {
          productSelectionMode: "SYSTEM_ASSIGNED",
          sequenceProducts: [
            { productId: other, weight: 0 },
            { productId: one, weight: 1_000_000 }
          ]
        }
        const sent = {
          ...set,
          sequenceProducts: [{ productId: other.toUpperCase(), weight: 0 }, set.sequenceProducts[1]]
        }
        const created = yield* call("POST", "/sequences", { experienceId, name: "Sale", ...sent })
        assert.strictEqual(created.status, 201, created.text)
        assert.deepInclude(created.body, set)
        const path = `/sequences/${created.body.id}`
        assert.deepInclude((yield* call("GET", path)).body, set)
        assert.deepInclude((yield* call("GET", `/sequences?experienceId=${experienceId}`)).body.data[0], set)
        assert.deepInclude((yield* call("GET", `/experiences/${experienceId}`)).body.sequences[0], set)
        assert.deepInclude((yield* call("PUT", path, { name: "Renamed" })).body, set)
        const fewer = yield* call("PUT", path, { sequenceProducts: weighing([other], 7) })
        assert.deepStrictEqual(fewer.body.sequenceProducts, weighing([other], 7))
        for (const nothing of [[], null]) {
          yield* call("PUT", path, { sequenceProducts: weighing([one]) })
          assert.deepStrictEqual((yield* call("PUT", path, { sequenceProducts: nothing })).body.sequenceProducts, [])
        }
        assert.deepStrictEqual((yield* call("GET", path)).body.sequenceProducts, [])
        assert.strictEqual((yield* call("DELETE", path)).body.productSelectionMode, "SYSTEM_ASSIGNED")
      })
    )

    it.effect("name every problem by its path, alone, in a change or with an experience, and change nothing", () =>
      Effect.gen(function* () {
        const { call, brand, stranger, rehearsal } = yield* Admin
        const sql = yield* SqlClient.SqlClient
        const [one, other, gone] = [
          yield* aProduct(brand.tenant),
          yield* aProduct(brand.tenant),
          yield* aProduct(brand.tenant)
        ]
        yield* sql`update products set archived = true where id = ${gone}`
        const { id, experienceId } = yield* aSequence()
        const many = yield* Effect.forEach(Array.from({ length: 101 }), () => aProduct(brand.tenant))
        const before = (yield* call("GET", `/sequences/${id}`)).text
        const mistakes: ReadonlyArray<readonly [unknown, ReadonlyArray<string>]> = [
          ["red", [": array"]],
          [{ productId: one, weight: 1 }, [": array"]],
          [[one], [".0: object"]],
          [[{}], [".0.productId: string", ".0.weight: number"]],
          [[{ productId: "red", weight: 1 }], [".0.productId: uuid"]],
          [[{ productId: one, weight: "1" }], [".0.weight: number"]],
          [[{ productId: one, weight: null }], [".0.weight: number"]],
          [[{ productId: one, weight: 1.5 }], [".0.weight: integer"]],
          [[{ productId: one, weight: -1 }], [".0.weight: min_value"]],
          [[{ productId: one, weight: 1_000_001 }], [".0.weight: max_value"]],
          [weighing(many), [": max_length"]],
          [weighing([one, randomUUID()]), [".1.productId: picklist"]],
          [weighing([gone]), [".0.productId: picklist"]],
          [weighing([yield* aProduct(stranger.tenant)]), [".0.productId: picklist"]],
          [weighing([yield* aProduct(rehearsal.tenant)]), [".0.productId: picklist"]],
          [weighing([one, other, one.toUpperCase()]), [".2.productId: picklist"]],
          [weighing([one, other], 0), [": min_value"]],
          [weighing([one, one, gone], 0), [".1.productId: picklist", ".2.productId: picklist", ": min_value"]]
        ]
        for (const [sequenceProducts, paths] of mistakes) {
          const expected = (at: string) => paths.map((path) => `${at}sequenceProducts${path}`).toSorted()
          const body = { name: "Sale", sequenceProducts }
          const shown = JSON.stringify(sequenceProducts)?.slice(0, 200)
          assert.deepStrictEqual(
            issuesOf(yield* call("POST", "/sequences", { experienceId, ...body })),
            expected(""),
            shown
          )
          assert.deepStrictEqual(issuesOf(yield* call("PUT", `/sequences/${id}`, body)), expected(""), shown)
          const whole = yield* call("POST", "/experiences", { name: "Drop", sequences: [{ name: "S" }, body] })
          assert.deepStrictEqual(issuesOf(whole), expected("sequences.1."), shown)
        }
        assert.strictEqual((yield* call("GET", `/sequences/${id}`)).text, before)
        assert.lengthOf((yield* call("GET", `/sequences?experienceId=${experienceId}`)).body.data, 1)
        const full = yield* call("PUT", `/sequences/${id}`, { sequenceProducts: weighing(many.slice(1)) })
        assert.lengthOf(full.body.sequenceProducts, 100)
      })
    )

    it.effect("stay listed when they are archived, so that a record can be sent back unchanged", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const products = [yield* aProduct(brand.tenant), yield* aProduct(brand.tenant)]
        const [one, other] = products as [string, string]
        const { id } = yield* aSequence()
        const path = `/sequences/${id}`
        yield* call("PUT", path, { productSelectionMode: "SYSTEM_ASSIGNED", sequenceProducts: weighing(products) })
        assert.strictEqual((yield* call("DELETE", `/products/${one}`)).status, 200)
        const record = (yield* call("GET", path)).body
        assert.deepStrictEqual(record.sequenceProducts, weighing(products))
        const echoed = yield* call("PUT", path, record)
        assert.strictEqual(echoed.status, 200, echoed.text)
        assert.deepStrictEqual(echoed.body.sequenceProducts, weighing(products))
        yield* call("PUT", path, { sequenceProducts: weighing([other]) })
        const late = yield* call("PUT", path, { sequenceProducts: weighing(products) })
        assert.deepStrictEqual(issuesOf(late), ["sequenceProducts.0.productId: picklist"])
      })
    )

    it.effect("are copied with the sequence, without the archived ones", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const [one, other] = [yield* aProduct(brand.tenant), yield* aProduct(brand.tenant)]
        const sequenceProducts = [
          { productId: one, weight: 3 },
          { productId: other, weight: 4 }
        ]
        const productSelectionMode = "SYSTEM_ASSIGNED"
        const { id } = yield* anExperience({
          sequences: [{ name: "S", productSelectionMode, sequenceProducts }, { name: "T" }]
        })
        const copy = yield* call("POST", `/experiences/${id}/duplicate`)
        assert.strictEqual(copy.status, 201, copy.text)
        assert.deepInclude(copy.body.sequences[0], { productSelectionMode, sequenceProducts })
        assert.deepStrictEqual(copy.body.sequences[1].sequenceProducts, [])
        yield* call("DELETE", `/products/${one}`)
        const later = yield* call("POST", `/experiences/${id}/duplicate`)
        assert.deepStrictEqual(later.body.sequences[0].sequenceProducts, [{ productId: other, weight: 4 }])
      })
    )
  })
})
