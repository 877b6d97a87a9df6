import { assert, describe, layer } from "@effect/vitest"
import { Deferred, Effect, Layer, Result } from "effect"
import { SqlClient } from "effect/sql"
import { VariantOptions } from "../../../src/store/catalogue/VariantOptions.ts"
import { VariantOptionValues } from "../../../src/store/catalogue/VariantOptionValues.ts"
import { aTenant, inTestMode, layer as records } from "../support/recordsFixture.ts"
import { archiveVariant, aVariantWith } from "./variantFixture.ts"

const repositories = Layer.provideMerge(Layer.merge(VariantOptions.layer, VariantOptionValues.layer), records)

const managed = (value: string) => ({ value, isCentrallyManaged: true })

const texts = (values: ReadonlyArray<{ readonly value: string }>) => values.map(({ value }) => value)

describe("Variant options in Postgres", () => {
  layer(repositories, { excludeTestServices: true })((it) => {
    it.effect("record the author of their creation and their changes, and so do their values", () =>
      Effect.gen(function* () {
        const options = yield* VariantOptions
        const values = yield* VariantOptionValues
        const tenant = yield* aTenant()
        const option = yield* options.create(tenant, "maker", { name: "Size" }, [managed("S")])
        assert.deepInclude(option, { createdBy: "maker", updatedBy: "maker", archived: false })
        assert.deepInclude(option.values[0], { createdBy: "maker", updatedBy: "maker", archived: false })
        const renamed = yield* options.change(tenant, option.id, "changer", { name: "Sizes" })
        assert.deepInclude(renamed, { name: "Sizes", createdBy: "maker", updatedBy: "changer" })
        const added = yield* values.add(tenant, option.id, "adder", managed("M"))
        const changed = yield* values.change(tenant, option.id, added.id, "changer", (settings) =>
          Result.succeed({ ...settings, displayValue: "Medium" })
        )
        assert.deepInclude(changed, { displayValue: "Medium", createdBy: "adder", updatedBy: "changer" })
        const removed = yield* values.archive(tenant, option.id, added.id, "keeper")
        assert.deepInclude(removed._tag === "Archived" && removed.record, { archived: true, updatedBy: "keeper" })
        const archived = yield* options.archive(tenant, option.id, "keeper")
        assert.deepInclude(archived._tag === "Archived" && archived.record, { archived: true, updatedBy: "keeper" })
      })
    )

    it.effect("belong to one organization in one mode, and are not found by any other", () =>
      Effect.gen(function* () {
        const options = yield* VariantOptions
        const values = yield* VariantOptionValues
        const tenant = yield* aTenant()
        const before = yield* options.create(tenant, "x", { name: "Size" }, [managed("S"), managed("M")])
        const [s, m] = before.values.map(({ id }) => id)
        for (const stranger of [inTestMode(tenant), yield* aTenant()]) {
          const attempts: ReadonlyArray<Effect.Effect<unknown, unknown>> = [
            options.find(stranger, before.id),
            options.change(stranger, before.id, "x", { name: "Mine" }),
            options.archive(stranger, before.id, "x"),
            values.add(stranger, before.id, "x", managed("L")),
            values.change(stranger, before.id, s!, "x", Result.succeed),
            values.archive(stranger, before.id, s!, "x"),
            values.reorder(stranger, before.id, "x", [m!, s!])
          ]
          for (const attempt of attempts) {
            assert.deepInclude(yield* Effect.flip(attempt), { _tag: "RecordNotFound", record: "Variant option" })
          }
          assert.deepStrictEqual((yield* options.list(stranger, {})).data, [])
        }
        assert.deepStrictEqual(yield* options.find(tenant, before.id), before)
      })
    )

    it.effect("update the change time of values that a new order moves, and of no others", () =>
      Effect.gen(function* () {
        const options = yield* VariantOptions
        const values = yield* VariantOptionValues
        const tenant = yield* aTenant()
        const option = yield* options.create(tenant, "maker", { name: "Size" }, ["S", "M", "L"].map(managed))
        const [s, m, l] = option.values.map(({ id }) => id) as [string, string, string]
        const ordered = yield* values.reorder(tenant, option.id, "orderer", [m, s, l])
        assert.deepStrictEqual(texts(ordered), ["M", "S", "L"])
        assert.deepStrictEqual(
          ordered.map(({ updatedBy }) => updatedBy),
          ["orderer", "orderer", "maker"]
        )
        assert.deepStrictEqual(yield* values.reorder(tenant, option.id, "nobody", [m, s, l]), ordered)
      })
    )

    it.effect("hold at most 1,000 values, without the archived ones", () =>
      Effect.gen(function* () {
        const options = yield* VariantOptions
        const values = yield* VariantOptionValues
        const tenant = yield* aTenant()
        const all = Array.from({ length: 1_000 }, (_, n) => managed(`${n}`))
        const option = yield* options.create(tenant, "x", { name: "Number" }, all)
        assert.deepStrictEqual(texts(option.values), texts(all))
        const refused = yield* Effect.flip(values.add(tenant, option.id, "x", managed("one more")))
        assert.strictEqual(refused._tag, "OptionFull")
        yield* values.archive(tenant, option.id, option.values[7]!.id, "x")
        yield* values.add(tenant, option.id, "x", managed("7"))
        const reordered = (yield* options.find(tenant, option.id)).values.map(({ id }) => id).toReversed()
        const ordered = yield* values.reorder(tenant, option.id, "x", reordered)
        assert.deepStrictEqual(
          ordered.map(({ id, sortOrder }) => [id, sortOrder]),
          reordered.map((id, index) => [id, index])
        )
      })
    )

    it.effect("store a text once under concurrent additions, and never exceed their limit", () =>
      Effect.gen(function* () {
        const options = yield* VariantOptions
        const values = yield* VariantOptionValues
        const tenant = yield* aTenant()
        const all = Array.from({ length: 998 }, (_, n) => managed(`${n}`))
        const option = yield* options.create(tenant, "x", { name: "Number" }, all)
        const add = (text: string) => Effect.result(values.add(tenant, option.id, "x", managed(text)))
        const same = yield* Effect.forEach(Array(10).fill("same"), add, { concurrency: "unbounded" })
        assert.lengthOf(same.filter(Result.isSuccess), 1)
        const various = yield* Effect.forEach(["a", "b", "c", "d"], add, { concurrency: "unbounded" })
        assert.lengthOf(various.filter(Result.isSuccess), 1)
        assert.lengthOf((yield* options.find(tenant, option.id)).values, 1_000)
      })
    )

    it.effect("are not archived, nor are their values, while a variant that is not archived uses one", () =>
      Effect.gen(function* () {
        const options = yield* VariantOptions
        const values = yield* VariantOptionValues
        const tenant = yield* aTenant()
        const option = yield* options.create(tenant, "x", { name: "Size" }, [managed("S"), managed("M")])
        const [s, m] = option.values
        const variants = [yield* aVariantWith(tenant, [s!]), yield* aVariantWith(tenant, [s!])]
        const inUse = (count: number) => ({ _tag: "InUse", users: count }) as const
        assert.deepStrictEqual(yield* values.archive(tenant, option.id, s!.id, "x"), inUse(2))
        assert.deepStrictEqual(yield* options.archive(tenant, option.id, "x"), inUse(2))
        assert.deepStrictEqual(yield* options.find(tenant, option.id), option)
        assert.strictEqual((yield* values.archive(tenant, option.id, m!.id, "x"))._tag, "Archived")
        yield* archiveVariant(variants[0]!)
        assert.deepStrictEqual(yield* options.archive(tenant, option.id, "x"), inUse(1))
        yield* archiveVariant(variants[1]!)
        assert.strictEqual((yield* values.archive(tenant, option.id, s!.id, "x"))._tag, "Archived")
        assert.strictEqual((yield* options.archive(tenant, option.id, "x"))._tag, "Archived")
      })
    )

    it.effect("wait with their archiving for a variant that is being given one of their values", () =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        const options = yield* VariantOptions
        const values = yield* VariantOptionValues
        const tenant = yield* aTenant()
        const { id, values: all } = yield* options.create(tenant, "x", { name: "Size" }, [managed("S")])
        const attached = yield* Deferred.make<void>()
        const archiving = Effect.all([values.archive(tenant, id, all[0]!.id, "x"), options.archive(tenant, id, "x")], {
          concurrency: "unbounded"
        })
        const variant = aVariantWith(tenant, all).pipe(
          Effect.andThen(Deferred.succeed(attached, undefined)),
          Effect.andThen(Effect.sleep("200 millis"))
        )
        const [, outcomes] = yield* Effect.all(
          [sql.withTransaction(variant), Effect.andThen(Deferred.await(attached), archiving)],
          { concurrency: "unbounded" }
        )
        assert.deepStrictEqual(
          outcomes.map(({ _tag }) => _tag),
          ["InUse", "InUse"]
        )
      })
    )
  })
})
