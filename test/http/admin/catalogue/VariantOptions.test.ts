import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { OpenApi } from "effect/http-api"
import { AdminApi } from "../../../../src/api/admin/AdminApi.ts"
import { aVariantWith } from "../../../store/catalogue/variantFixture.ts"
import { Admin, issuesOf, layer as adminLayer, type Organization } from "../adminFixture.ts"

const unknown = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"

interface Value {
  readonly id: string
  readonly optionId: string
  readonly value: string
  readonly sortOrder: number
}

interface Option {
  readonly id: string
  readonly values: ReadonlyArray<Value>
}

/** Creates an option with values of these texts. Values in lower case are not centrally managed. */
const anOption = Effect.fnUntraced(function* (texts: ReadonlyArray<string> = [], as?: Organization) {
  const { call } = yield* Admin
  const values = texts.map((value) => ({ value, isCentrallyManaged: value !== value.toLowerCase() }))
  const { status, body } = yield* call("POST", "/variant-options", { name: "Size", values }, as)
  assert.strictEqual(status, 201, JSON.stringify(body))
  return body as Option
})

const texts = (values: ReadonlyArray<Value>) => values.map(({ value }) => value)
const ids = (values: ReadonlyArray<Value>) => values.map(({ id }) => id)

describe("Variant options on the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("are created with a name alone, return every field, and change the fields that are sent", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const { status, body } = yield* call("POST", "/variant-options", { name: "Size" })
        assert.strictEqual(status, 201)
        const { id, createdAt, createdBy, updatedAt, updatedBy, ...rest } = body
        const { organizationId } = brand.tenant
        assert.deepStrictEqual(rest, { organizationId, name: "Size", archived: false, values: [] })
        assert.deepStrictEqual([updatedAt, updatedBy], [createdAt, createdBy])
        assert.deepStrictEqual((yield* call("GET", `/variant-options/${id}`)).body, body)
        assert.deepInclude((yield* call("PUT", `/variant-options/${id}`, { name: "Sizes" })).body, {
          id,
          name: "Sizes"
        })
        assert.strictEqual((yield* call("PUT", `/variant-options/${id}`, {})).body.name, "Sizes")
      })
    )

    it.effect("can be created with values, which return every field, null where nothing is set", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const values = [
          { value: "red", displayValue: "Red", colorHex: "#FF0000", isCentrallyManaged: false },
          { value: "green", displayValue: null, colorHex: null, isCentrallyManaged: null }
        ]
        const { body } = yield* call("POST", "/variant-options", { name: "Colour", values })
        const [red, green] = body.values.map(({ createdAt, createdBy, updatedAt, updatedBy, ...rest }: any) => {
          assert.deepStrictEqual([createdAt, createdBy], [body.createdAt, body.createdBy])
          assert.deepStrictEqual([updatedAt, updatedBy], [body.createdAt, body.createdBy])
          return rest
        })
        const common = { optionId: body.id, organizationId: brand.tenant.organizationId, archived: false }
        assert.deepStrictEqual(red, { ...common, id: red.id, ...values[0], sortOrder: 0 })
        assert.deepStrictEqual(green, { ...common, id: green.id, ...values[1], isCentrallyManaged: true, sortOrder: 1 })
        assert.deepStrictEqual((yield* call("GET", `/variant-options/${body.id}`)).body, body)
      })
    )

    it.effect("accept colours of 3, 4, 6 and 8 digits, and return them as they were sent", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const colours = ["#abc", "#ABCD", "#aabbcc", "#aaBBccdd"]
        const values = colours.map((colorHex) => ({ value: colorHex, colorHex }))
        const { body } = yield* call("POST", "/variant-options", { name: "Colour", values })
        const shown = body.values.map(({ colorHex }: { readonly colorHex: string }) => colorHex)
        assert.deepStrictEqual(shown, colours)
      })
    )

    it.effect("refuse malformed fields, and create nothing", () =>
      Effect.gen(function* () {
        const { call, organization } = yield* Admin
        const as = yield* organization()
        const option = yield* anOption(["S"], as)
        const path = `/variant-options/${option.id}`
        const before = (yield* call("GET", path, undefined, as)).body
        const ofOptions: ReadonlyArray<readonly [object, ReadonlyArray<string>]> = [
          [{ name: "" }, ["name: min_length"]],
          [{ name: 1 }, ["name: string"]],
          [{ name: "x\u0000" }, ["name: string"]]
        ]
        for (const [mistake, expected] of ofOptions) {
          assert.deepStrictEqual(issuesOf(yield* call("POST", "/variant-options", mistake, as)), expected)
          assert.deepStrictEqual(issuesOf(yield* call("PUT", path, mistake, as)), expected)
        }
        const ofValues: ReadonlyArray<readonly [object, ReadonlyArray<string>]> = [
          [{ value: "" }, ["value: min_length"]],
          [{ value: "x".repeat(201) }, ["value: max_length"]],
          [{ value: "M", displayValue: "" }, ["displayValue: min_length"]],
          [{ value: "M", displayValue: "x".repeat(201) }, ["displayValue: max_length"]],
          [{ value: "M", colorHex: "#fffff" }, ["colorHex: string"]],
          [{ value: 5, isCentrallyManaged: "yes" }, ["isCentrallyManaged: boolean", "value: string"]]
        ]
        for (const [mistake, expected] of ofValues) {
          assert.deepStrictEqual(issuesOf(yield* call("POST", `${path}/values`, mistake, as)), expected)
          const change = yield* call("PUT", `${path}/values/${option.values[0]!.id}`, mistake, as)
          assert.deepStrictEqual(issuesOf(change), expected)
          const nested = yield* call("POST", "/variant-options", { name: "x", values: [{ value: "S" }, mistake] }, as)
          const below = expected.map((issue) => `values.1.${issue}`)
          assert.deepStrictEqual(issuesOf(nested), below)
        }
        const creating = (values: unknown) => call("POST", "/variant-options", { name: "x", values }, as)
        const same = ["S", "M", "S", "s", "M"].map((value) => ({ value }))
        assert.deepStrictEqual(issuesOf(yield* creating(same)), [
          "values.2.value: picklist",
          "values.4.value: picklist"
        ])
        const many = Array.from({ length: 1_001 }, (_, n) => ({ value: `${n}` }))
        assert.deepStrictEqual(issuesOf(yield* creating(many)), ["values: max_length"])
        assert.deepStrictEqual(issuesOf(yield* call("POST", `${path}/values`, {}, as)), ["value: string"])
        assert.deepStrictEqual((yield* call("GET", path, undefined, as)).body, before)
        assert.lengthOf((yield* call("GET", "/variant-options", undefined, as)).body.data, 1)
      })
    )

    it.effect("are listed without their values, sorted by time and name, and found by name", () =>
      Effect.gen(function* () {
        const { call, organization } = yield* Admin
        const as = yield* organization()
        for (const name of ["Colour", "Band", "Size"]) {
          yield* call("POST", "/variant-options", { name, values: [{ value: "x" }] }, as)
        }
        const list = (query: string) => call("GET", `/variant-options?${query}`, undefined, as)
        const names = (query: string) =>
          Effect.map(list(query), ({ body }) => body.data.map(({ name }: { readonly name: string }) => name))
        assert.deepStrictEqual(yield* names("sortBy=createdAt"), ["Colour", "Band", "Size"])
        assert.deepStrictEqual(yield* names("sortBy=name&sortDir=desc"), ["Size", "Colour", "Band"])
        assert.deepStrictEqual(yield* names("search=OL"), ["Colour"])
        assert.deepStrictEqual(yield* names("search=lo"), ["Colour"])
        assert.deepStrictEqual(yield* names("search=x%25"), [])
        assert.deepStrictEqual(issuesOf(yield* list("sortBy=values")), ["sortBy: picklist"])
        assert.notProperty((yield* list("first=1")).body.data[0], "values")
      })
    )

    it.effect("take single values, each text once, and change and archive them", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const { id, values } = yield* anOption(["S", "M"])
        const path = `/variant-options/${id}/values`
        const current = Effect.map(call("GET", `/variant-options/${id}`), ({ body }) => body.values)
        const exists = [409, { error: "Variant option has a value with this text", code: "VALUE_EXISTS" }]
        const refused = (method: string, path: string, value: string) =>
          Effect.map(call(method, path, { value }), ({ status, body }) =>
            assert.deepStrictEqual([status, body], exists)
          )

        yield* refused("POST", path, "S")
        const added = yield* call("POST", path, { value: "L", displayValue: "Large", colorHex: "#00ff00" })
        assert.strictEqual(added.status, 201)
        const set = { value: "L", displayValue: "Large", colorHex: "#00ff00", isCentrallyManaged: true, sortOrder: 2 }
        assert.deepInclude(added.body, { optionId: id, ...set })
        assert.deepStrictEqual((yield* current)[2], added.body)

        const one = `${path}/${added.body.id}`
        yield* refused("PUT", one, "M")
        const changes = { value: "XL", displayValue: null, isCentrallyManaged: false }
        const changed = yield* call("PUT", one, changes)
        assert.deepInclude(changed.body, { id: added.body.id, ...changes, colorHex: "#00ff00", sortOrder: 2 })
        assert.strictEqual((yield* call("PUT", one, { value: "XL" })).status, 200)
        assert.strictEqual((yield* call("PUT", one, { isCentrallyManaged: null })).body.isCentrallyManaged, true)

        const archived = yield* call("DELETE", `${path}/${values[0]!.id}`)
        assert.deepInclude(archived.body, { id: values[0]!.id, value: "S", archived: true })
        assert.deepStrictEqual(texts(yield* current), ["M", "XL"])
        assert.strictEqual((yield* call("POST", path, { value: "S" })).status, 201)
        assert.deepStrictEqual(texts(yield* current), ["M", "XL", "S"])
      })
    )

    it.effect("are not archived, nor are their values, while a variant uses them; full ones take no value", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const { id, values } = yield* anOption(["S"])
        yield* aVariantWith(brand.tenant, values)
        const value = yield* call("DELETE", `/variant-options/${id}/values/${values[0]!.id}`)
        assert.deepStrictEqual([value.status, value.body.code], [409, "VALUE_IN_USE"])
        const option = yield* call("DELETE", `/variant-options/${id}`)
        assert.deepStrictEqual([option.status, option.body.code], [409, "OPTION_IN_USE"])
        assert.strictEqual((yield* call("GET", `/variant-options/${id}`)).body.values.length, 1)
        const full = yield* anOption(Array.from({ length: 1_000 }, (_, n) => `N${n}`))
        const refused = yield* call("POST", `/variant-options/${full.id}/values`, { value: "one more" })
        assert.deepStrictEqual([refused.status, refused.body.code], [409, "OPTION_FULL"])
      })
    )

    it.effect("are not found when they are archived, nor are values of another option", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const option = yield* anOption(["S", "M"])
        const other = yield* anOption(["S"])
        const requests = (id: string, valueId: string) =>
          [
            ["PUT", `/variant-options/${id}/values/${valueId}`, { value: "x" }],
            ["DELETE", `/variant-options/${id}/values/${valueId}`],
            ["POST", `/variant-options/${id}/values`, { value: "x" }],
            ["PUT", `/variant-options/${id}/values/reorder`, { valueOrder: [valueId] }],
            ["GET", `/variant-options/${id}`],
            ["PUT", `/variant-options/${id}`, { name: "x" }],
            ["DELETE", `/variant-options/${id}`]
          ] as const
        const [first, second] = ids(option.values)
        yield* call("DELETE", `/variant-options/${option.id}/values/${second}`)
        for (const valueId of [unknown, second!, other.values[0]!.id]) {
          for (const [method, path, body] of requests(option.id, valueId).slice(0, 2)) {
            const answer = yield* call(method, path, body)
            assert.deepStrictEqual([answer.status, answer.body], [404, { error: "Variant option value not found" }])
          }
        }
        const archived = yield* call("DELETE", `/variant-options/${option.id}`)
        assert.deepInclude(archived.body, { id: option.id, archived: true })
        assert.deepStrictEqual(ids(archived.body.values), [first])
        for (const id of [option.id, unknown]) {
          for (const [method, path, body] of requests(id, first!)) {
            const answer = yield* call(method, path, body)
            const expected = [404, { error: "Variant option not found" }]
            assert.deepStrictEqual([answer.status, answer.body], expected, `${method} ${path}`)
          }
        }
      })
    )

    it.effect("declare the answers of reordering: an array of values, a 400, and 401, 403 and 404 with {error}", () =>
      Effect.sync(() => {
        const { paths } = OpenApi.fromApi(AdminApi)
        const { responses } = paths["/api/variant-options/{optionId}/values/reorder"]!.put!
        assert.includeMembers(Object.keys(responses), ["200", "400", "401", "403", "404"])
        assert.notProperty(responses, "409")
      })
    )
  })
})
