/**
 * The rules for every record that can be archived: a list shows it when the caller requests archived records, and
 * restoring returns it to the default list.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { declarations, kinds } from "../../../../src/domain/mechanism/Mechanism.ts"
import { Admin, issuesOf, layer as adminLayer, type Organization } from "../adminFixture.ts"
import { adminPaths, archivable } from "./declaredRecords.ts"
import type { Key, List } from "./listRows.ts"
import { lists } from "./listTable.ts"
import { type Made, records, shown } from "./recordTable.ts"

const unknownId = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"

const declared = new Map(adminPaths.map(([path, operations]) => [path.replaceAll(/\{\w+\}/g, "{id}"), operations]))

const mechanisms = new Set<string>(kinds.map((kind) => declarations[kind].path))
const isOfMechanism = (path: string) => mechanisms.has(path.split("/")[2]!)

/** Returns the id of the record. */
const idOf = ({ path }: Made) => path.split("/").at(-1)!

const ids = Effect.fnUntraced(function* (list: string, as: Organization) {
  const { call } = yield* Admin
  const answer = yield* call("GET", list, undefined, as)
  assert.strictEqual(answer.status, 200, `${list}: ${answer.text}`)
  return answer.body.data.map(({ id }: { readonly id: string }) => id) as ReadonlyArray<string>
})

/** Returns the path of a record's list with a further filter. */
const narrowed = (list: string, query: string) => `${list}${list.includes("?") ? "&" : "?"}first=100&${query}`

describe("Records that can be archived", () => {
  it("are in a list with the parameter `archived`, and no other list has that parameter", () => {
    const expected = new Set([...archivable.map((path) => path.slice(0, path.lastIndexOf("/"))), "/api/distributions"])
    const taking = adminPaths.flatMap(([path, { get }]) => {
      const archived = get?.parameters.find(({ name }) => name === "archived")
      if (archived !== undefined) assert.propertyVal(archived.schema, "type", "boolean", path)
      return archived === undefined ? [] : [path]
    })
    assert.sameMembers(taking, [...expected])
  })

  it("can be restored, except mechanisms and stocks, which have ended permanently", () => {
    const restorable = adminPaths.flatMap(([path]) =>
      path.endsWith("/restore") ? [path.slice(0, -"/restore".length)] : []
    )
    assert.sameMembers(
      restorable,
      archivable.filter((path) => !isOfMechanism(path) && !path.startsWith("/api/stocks"))
    )
    for (const path of restorable)
      assert.isDefined(declared.get(`${path.replaceAll(/\{\w+\}/g, "{id}")}/restore`)!["post"], path)
  })
})

describe("Archived records", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    const compare = (a: Key, b: Key) => (a < b ? -1 : a > b ? 1 : 0)

    /** Reads every page of the list from its beginning, a few rows at a time. */
    const walked = Effect.fnUntraced(function* ({ path }: List, as: Organization, query: string) {
      const { call } = yield* Admin
      const items: Array<any> = []
      for (let after = ""; ;) {
        const { status, body, text } = yield* call("GET", `${path}?first=2&${query}${after}`, undefined, as)
        assert.strictEqual(status, 200, text)
        items.push(...body.data)
        if (body.pageInfo.endCursor === null) return items
        after = `&after=${body.pageInfo.endCursor}`
      }
    })

    for (const [rows, makeList] of Object.entries(lists)) {
      it.effect(`are exactly those of the ${rows} that the list shows as archived, in every order`, () =>
        Effect.gen(function* () {
          const { call, organization } = yield* Admin
          const as = yield* organization()
          const list = yield* makeList(as)
          const isAsked = declared.get(`/api${list.path.replace(/[\da-f-]{36}/, "{id}")}`)?.["get"]?.parameters
          if (isAsked?.every(({ name }) => name !== "archived") ?? true) {
            return assert.isFalse(
              archivable.some((path) => path.startsWith(`/api${list.path}/`)),
              rows
            )
          }
          for (let n = 0; n < 7; n++) yield* list.make(n)
          const all = yield* walked(list, as, "")
          const gone = all.filter((_, index) => index % 3 !== 1)
          for (const item of gone) yield* list.archive!(list.idOf(item))
          const goneIds = new Set(gone.map(list.idOf))
          for (const query of ["", "archived=false&"]) {
            const left = (yield* walked(list, as, query)).map(list.idOf)
            assert.deepStrictEqual(
              left,
              all.map(list.idOf).filter((id) => !goneIds.has(id)),
              query
            )
          }
          for (const [sortBy, keyOf] of Object.entries(list.sorts)) {
            for (const sortDir of ["asc", "desc"]) {
              const found = yield* walked(list, as, `archived=true&sortBy=${sortBy}&sortDir=${sortDir}`)
              const order = (a: unknown, b: unknown) =>
                (compare(keyOf(a), keyOf(b)) || compare(list.idOf(a), list.idOf(b))) * (sortDir === "asc" ? 1 : -1)
              assert.deepStrictEqual(found.map(list.idOf), found.toSorted(order).map(list.idOf), sortBy)
              assert.sameMembers(found.map(list.idOf), [...goneIds])
              for (const item of found) assert.isTrue(item.archived)
            }
          }
          const filter = list.filter?.startsWith("archived") === false ? list.filter : ""
          const searched = yield* walked(list, as, `archived=true&${filter}`)
          assert.isNotEmpty(searched)
          assert.includeMembers([...goneIds], searched.map(list.idOf))
          const cursor = (query: string) =>
            Effect.map(
              call("GET", `${list.path}?first=1&${query}`, undefined, as),
              ({ body }) => body.pageInfo.endCursor
            )
          for (const [from, to] of [
            ["archived=true", "archived=false"],
            ["", "archived=true"]
          ]) {
            const answer = yield* call("GET", `${list.path}?${to}&after=${yield* cursor(from!)}`, undefined, as)
            assert.deepStrictEqual(issuesOf(answer), ["after: string"])
          }
          for (const value of ["", "yes", "1", "TRUE", "null"]) {
            const answer = yield* call("GET", `${list.path}?archived=${value}`, undefined, as)
            assert.deepStrictEqual(issuesOf(answer), ["archived: picklist"], value)
          }
        })
      )
    }

    for (const [kind, { make, archives }] of Object.entries(records)) {
      if (archives === undefined) continue
      it.effect(`of the kind ${kind} leave the default list, and appear in the list of archived records`, () =>
        Effect.gen(function* () {
          const { call, brand, stranger, rehearsal } = yield* Admin
          const made = yield* make(brand)
          const live = (archived: string) => narrowed(made.list, `archived=${archived}&sortDir=desc`)
          assert.include(yield* ids(live("false"), brand), idOf(made))
          assert.notInclude(yield* ids(live("true"), brand), idOf(made))
          yield* call("DELETE", made.path)
          assert.notInclude(yield* ids(live("false"), brand), idOf(made))
          assert.include(yield* ids(live("true"), brand), idOf(made))
          if (kind === "variant option value") return
          for (const other of [stranger, rehearsal]) assert.notInclude(yield* ids(live("true"), other), idOf(made))
        })
      )

      if (archives === "for good") {
        it.effect(`of the kind ${kind} stay archived: no operation restores one`, () =>
          Effect.gen(function* () {
            const { call, brand } = yield* Admin
            const made = yield* make(brand)
            yield* call("DELETE", made.path)
            assert.strictEqual((yield* call("POST", `${made.path}/restore`)).status, 404)
          })
        )
        continue
      }

      it.effect(`of the kind ${kind} are restored unchanged, once, and by their own tenant alone`, () =>
        Effect.gen(function* () {
          const { call, brand, stranger, rehearsal } = yield* Admin
          const made = yield* make(brand)
          const before = (yield* shown(made, brand)).body
          const restore = (as: Organization, path = made.path) => call("POST", `${path}/restore`, undefined, as)
          const untouched = yield* restore(brand)
          assert.deepStrictEqual([untouched.status, untouched.body], [200, before], "not archived")
          yield* call("DELETE", made.path)
          const others = [
            yield* restore(stranger),
            yield* restore(rehearsal),
            yield* restore(brand, made.path.replace(idOf(made), unknownId))
          ]
          assert.deepStrictEqual(
            others.map(({ status }) => status),
            [404, 404, 404]
          )
          assert.strictEqual((yield* shown(made, brand)).status, 404)
          const restored = yield* restore(brand)
          assert.strictEqual(restored.status, 200, restored.text)
          assert.deepStrictEqual(restored.body, (yield* shown(made, brand)).body)
          assert.deepStrictEqual(Object.keys(restored.body).toSorted(), Object.keys(before).toSorted())
          assert.deepInclude(restored.body, { id: before.id, createdAt: before.createdAt, archived: false })
          assert.deepStrictEqual((yield* restore(brand)).body, restored.body, "restored again")
          assert.include(yield* ids(narrowed(made.list, "sortDir=desc"), brand), idOf(made))
          assert.notInclude(yield* ids(narrowed(made.list, "archived=true&sortDir=desc"), brand), idOf(made))
          assert.strictEqual((yield* call("DELETE", made.path)).status, 200, "it can be archived again")
        })
      )

      it.effect(`of the kind ${kind} are not restored below an archived record`, () =>
        Effect.gen(function* () {
          const { call, brand } = yield* Admin
          const made = yield* make(brand)
          const { parent } = made
          if (parent === undefined) return
          yield* call("DELETE", made.path)
          assert.strictEqual((yield* call("DELETE", parent)).status, 200)
          const refused = yield* call("POST", `${made.path}/restore`)
          assert.deepStrictEqual([refused.status, refused.body.code], [409, "PARENT_ARCHIVED"])
          assert.match(refused.body.error, / is archived\. Restore it first$/)
          assert.strictEqual((yield* call("POST", `${parent}/restore`)).status, 200)
          assert.strictEqual((yield* call("POST", `${made.path}/restore`)).status, 200)
          assert.strictEqual((yield* shown(made, brand)).status, 200)
        })
      )
    }
  })
})
