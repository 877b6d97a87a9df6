/**
 * The rules for every record of the Admin API, of every kind: `PUT` and `DELETE` return the same record as `GET`.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Admin, layer as adminLayer } from "../adminFixture.ts"
import { allPaths, archivable, answerOf, type AtPath } from "./declaredRecords.ts"
import { records, shown } from "./recordTable.ts"

/** Values of options have no `GET`: their option contains them. */
const value = "/api/variant-options/{optionId}/values/{valueId}"

/** A `GET` that returns a list covers many records. A change of one of them has another answer. */
const isRecord = ([path]: AtPath) => /\}$|\/me$/.test(path)

/** Returns the shape of a value: its keys, and the shapes of what they hold. Null and scalars have the same shape. */
const shapeOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(shapeOf)
  if (typeof value !== "object" || value === null) return "value"
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, inner]) => [name, shapeOf(inner)])
  )
}

describe("A record's operations", () => {
  it("declare the same answer as GET, where they change or archive the record", () => {
    const compared: Array<string> = []
    for (const [path, operations] of allPaths.filter(isRecord)) {
      const expected = answerOf(operations["get"])
      for (const method of ["put", "delete"]) {
        if (operations[method] === undefined || expected === undefined) continue
        assert.deepStrictEqual(answerOf(operations[method]), expected, `${method} ${path}`)
        compared.push(`${method} ${path}`)
      }
    }
    assert.isAtLeast(compared.length, 2 * Object.keys(records).length - 3)
    const ofValue = new Map(allPaths).get(value)!
    assert.deepStrictEqual(answerOf(ofValue["delete"]), answerOf(ofValue["put"]))
  })

  it("are in the table of records, where they archive a record", () => {
    const tabled = Object.entries(records).flatMap(([kind, { archives }]) => (archives === undefined ? [] : [kind]))
    assert.lengthOf(tabled, archivable.length, archivable.join())
  })
})

describe("Every record of the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    for (const [kind, { make, change, archives }] of Object.entries(records)) {
      it.effect(`of the kind ${kind} is returned completely after a change, as GET returns it then`, () =>
        Effect.gen(function* () {
          const { call, brand } = yield* Admin
          const made = yield* make(brand)
          const before = (yield* shown(made, brand)).body
          const changed = yield* call("PUT", made.path, change)
          assert.strictEqual(changed.status, 200, changed.text)
          assert.deepStrictEqual(changed.body, (yield* shown(made, brand)).body)
          assert.notDeepEqual(changed.body, before)
          assert.deepStrictEqual(Object.keys(changed.body).toSorted(), Object.keys(before).toSorted())
        })
      )

      if (archives === undefined) continue
      it.effect(`of the kind ${kind} is returned completely when it is archived, with its archived parts`, () =>
        Effect.gen(function* () {
          const { call, brand } = yield* Admin
          const made = yield* make(brand)
          const before = (yield* shown(made, brand)).body
          const archived = yield* call("DELETE", made.path)
          assert.strictEqual(archived.status, 200, archived.text)
          assert.deepStrictEqual(shapeOf(archived.body), shapeOf(before))
          assert.deepInclude(archived.body, { id: before.id, archived: true })
          assert.strictEqual((yield* shown(made, brand)).status, 404)
        })
      )
    }
  })
})
