/**
 * The rules for every list, with any contents. A walk shows each row that stays exactly once, in sort order, while
 * other rows are added and removed. A cursor serves the list, sort and filters that it came from, for a day.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { OpenApi } from "effect/http-api"
import { AdminApi } from "../../../../src/api/admin/AdminApi.ts"
import { movableClock } from "../../../support/movableClock.ts"
import { Admin, issuesOf, layer as adminLayer, type Organization } from "../adminFixture.ts"
import type { Key, List } from "./listRows.ts"
import { lists, unchanging } from "./listTable.ts"

const clock = movableClock()

const minuteMillis = 60_000
const dayMillis = 24 * 60 * minuteMillis

interface Page {
  readonly data: ReadonlyArray<unknown>
  readonly pageInfo: { readonly startCursor: string | null; readonly endCursor: string | null }
}

const pageAt = Effect.fnUntraced(function* (list: List, as: Organization, query: string) {
  const { call } = yield* Admin
  const { status, body } = yield* call("GET", `${list.path}?${query}`, undefined, as)
  assert.strictEqual(status, 200, `${list.path}?${query}: ${JSON.stringify(body)}`)
  return body as Page
})

/** A walk through a list: its direction and sort. */
interface Way {
  readonly sortBy: string
  readonly sortDir: "asc" | "desc"
  readonly backward: boolean
  readonly size: number
}

/** Returns every item of the walk, in list order. */
const walk = Effect.fnUntraced(function* (list: List, as: Organization, { sortBy, sortDir, backward, size }: Way) {
  const [limit, from] = backward ? ["last", "before"] : ["first", "after"]
  const query = `sortBy=${sortBy}&sortDir=${sortDir}&${limit}=${size}`
  const items: Array<unknown> = []
  let position = ""
  for (let pages = 0; pages < 1_000; pages++) {
    const { data, pageInfo } = yield* pageAt(list, as, query + position)
    assert.isAtMost(data.length, size)
    if (backward) items.unshift(...data)
    else items.push(...data)
    const cursor = backward ? pageInfo.startCursor : pageInfo.endCursor
    if (cursor === null) return items
    position = `&${from}=${cursor}`
  }
  throw new Error("the walk does not end")
})

const compare = (a: Key, b: Key) => (a < b ? -1 : a > b ? 1 : 0)

/** Compares two items of the list in the order of the walk. */
const orderOf =
  ({ sorts, idOf }: List, { sortBy, sortDir }: Way) =>
  (a: unknown, b: unknown) => {
    const ascending = compare(sorts[sortBy]!(a), sorts[sortBy]!(b)) || compare(idOf(a), idOf(b))
    return sortDir === "asc" ? ascending : -ascending
  }

const sizes = [2, 3, 1, 5, 7, 100]

const waysThrough = ({ sorts }: List): ReadonlyArray<Way> =>
  Object.keys(sorts)
    .flatMap((sortBy) =>
      (["asc", "desc"] as const).flatMap((sortDir) => [false, true].map((backward) => ({ sortBy, sortDir, backward })))
    )
    .map((way, index) => ({ ...way, size: sizes[index % sizes.length]! }))

/** Creates rows that stay, and rows that may be removed, before the first walk. */
const staying = 6
const leaving = 2

/** Creates the list that a row of the table describes, for a new organization. */
const listOf = Effect.fnUntraced(function* (rows: string) {
  const { organization } = yield* Admin
  const as = yield* organization()
  return { as, list: yield* lists[rows]!(as) }
})

describe("Every list of the Admin API", () => {
  layer(adminLayer.pipe(Layer.provide(clock.layer)), { excludeTestServices: true })((it) => {
    for (const rows of Object.keys(lists)) {
      it.effect(`shows each of the ${rows} that stay once, in every order, during concurrent changes`, () =>
        Effect.gen(function* () {
          const { as, list } = yield* listOf(rows)
          let made = 0
          const make = Effect.suspend(() => list.make(made++))
          for (let n = 0; n < staying + leaving; n++) yield* make
          const first = (yield* pageAt(list, as, "first=100")).data
          const stay = first.slice(0, -leaving)
          const gone: Array<Key> = []
          assert.isAtLeast(stay.length, staying)

          /** Adds two rows, and removes one of those that may be removed. */
          const change = Effect.gen(function* () {
            yield* make
            const stays = new Set(stay.map(list.idOf))
            const ids = (yield* pageAt(list, as, "first=100")).data.map(list.idOf)
            const going = ids.find((id) => !stays.has(id))
            if (list.archive !== undefined && going !== undefined) {
              yield* list.archive(going)
              gone.push(going)
            }
            yield* make
          })

          for (const way of waysThrough(list)) {
            const [met] = yield* Effect.all([walk(list, as, way), change], { concurrency: "unbounded" })
            const said = `${rows}, ${JSON.stringify(way)}`
            const ids = met.map(list.idOf)
            assert.lengthOf(new Set(ids), ids.length, said)
            const order = orderOf(list, way)
            assert.deepStrictEqual(ids, met.toSorted(order).map(list.idOf), said)
            const stays = stay.toSorted(order).map(list.idOf)
            assert.deepStrictEqual(
              ids.filter((id) => stays.includes(id)),
              stays,
              said
            )
          }
          const left = (yield* pageAt(list, as, "first=100")).data.map(list.idOf)
          assert.deepStrictEqual(
            left.filter((id) => gone.includes(id)),
            []
          )
          assert.strictEqual(gone.length, list.archive === undefined ? 0 : waysThrough(list).length)
        })
      )
    }

    it.effect("is in the table of lists, with every field that sorts it", () =>
      Effect.gen(function* () {
        const listed = new Map<string, ReadonlyArray<string>>()
        for (const rows of Object.keys(lists)) {
          const { list } = yield* listOf(rows)
          listed.set(list.path.replace(/[\da-f-]{36}/, "{id}"), Object.keys(list.sorts).toSorted())
        }
        const declared = new Map<string, ReadonlyArray<string>>()
        for (const [path, { get }] of Object.entries(OpenApi.fromApi(AdminApi).paths)) {
          const sortBy = get?.parameters.find(({ name }) => name === "sortBy")
          if (sortBy === undefined) continue
          declared.set(path.slice("/api".length).replace(/\{\w+\}/, "{id}"), choicesIn(sortBy.schema).toSorted())
        }
        for (const path of unchanging) declared.delete(path)
        assert.deepStrictEqual(
          [...listed].toSorted(([a], [b]) => compare(a, b)),
          [...declared].toSorted(([a], [b]) => compare(a, b))
        )
      })
    )

    it.effect("refuses the cursors of every other list, also of the same organization", () =>
      Effect.gen(function* () {
        const { call, organization } = yield* Admin
        const as = yield* organization()
        const all = yield* Effect.forEach(Object.entries(lists), ([rows, makeList]) =>
          Effect.gen(function* () {
            const list = yield* makeList(as)
            yield* list.make(0)
            return { rows, list, cursor: (yield* pageAt(list, as, "first=1")).pageInfo.endCursor! }
          })
        )
        for (const { rows, list } of all) {
          // The rate limit per minute applies here too.
          yield* clock.putForward(60_000)
          for (const other of all) {
            if (other.rows === rows) continue
            for (const [limit, from] of [
              ["first", "after"],
              ["last", "before"]
            ]) {
              const answer = yield* call("GET", `${list.path}?${limit}=1&${from}=${other.cursor}`, undefined, as)
              assert.deepStrictEqual(issuesOf(answer), [`${from}: string`], `${other.rows} for ${rows}`)
            }
          }
        }
      })
    )

    it.effect("refuses a cursor of another sort or filter, and a modified cursor", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        for (const rows of Object.keys(lists)) {
          const { as, list } = yield* listOf(rows)
          yield* list.make(0)
          const [sortBy, another = sortBy] = Object.keys(list.sorts)
          const cursor = (yield* pageAt(list, as, "first=1")).pageInfo.endCursor!
          const mistakes: ReadonlyArray<readonly [query: string, after: string, because: string]> = [
            [`sortBy=${sortBy}&sortDir=desc`, cursor, "another sort order"],
            ...(another === sortBy ? [] : [[`sortBy=${another}`, cursor, "another sort order"] as const]),
            ...(list.filter === undefined ? [] : [[list.filter, cursor, "other filters"] as const]),
            ...tampered(cursor).map((changed) => ["", changed, ""] as const)
          ]
          for (const [query, after, because] of mistakes) {
            const path = `${list.path}?${query}&first=1&after=${encodeURIComponent(after)}`
            const answer = yield* call("GET", path, undefined, as)
            assert.strictEqual(answer.status, 400, `${rows}: ${path}: ${Buffer.from(after, "base64").toString()}`)
            assert.deepStrictEqual(issuesOf(answer), ["after: string"], `${rows}: ${path}`)
            assert.include(answer.body.issues[0].message, because, `${rows}: ${path}`)
          }
          yield* pageAt(list, as, `sortBy=${sortBy}&sortDir=asc&first=1&after=${cursor}`)
        }
      })
    )

    it.effect("accepts a cursor for a day, and no longer", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const all = yield* Effect.forEach(Object.keys(lists), (rows) =>
          Effect.gen(function* () {
            const { as, list } = yield* listOf(rows)
            yield* list.make(0)
            const { startCursor, endCursor } = (yield* pageAt(list, as, "first=1")).pageInfo
            return { rows, as, list, startCursor, endCursor }
          })
        )
        yield* clock.putForward(dayMillis - 10 * minuteMillis)
        const fresh = yield* Effect.forEach(all, ({ as, list, startCursor, endCursor }) =>
          Effect.gen(function* () {
            yield* pageAt(list, as, `first=1&after=${endCursor}`)
            yield* pageAt(list, as, `last=1&before=${startCursor}`)
            return (yield* pageAt(list, as, "first=1")).pageInfo.endCursor!
          })
        )
        yield* clock.putForward(10 * minuteMillis)
        for (const [index, { rows, as, list, startCursor, endCursor }] of all.entries()) {
          for (const [query, parameter] of [
            [`first=1&after=${endCursor}`, "after"],
            [`last=1&before=${startCursor}`, "before"]
          ]) {
            const answer = yield* call("GET", `${list.path}?${query}`, undefined, as)
            assert.deepStrictEqual(issuesOf(answer), [`${parameter}: string`], rows)
            assert.include(answer.body.issues[0].message, "expired", rows)
          }
          yield* pageAt(list, as, `first=1&after=${fresh[index]}`)
        }
      })
    )
  })
})

/** The schema of an enumeration in the description. A single word is wrapped. */
interface Choice {
  readonly enum?: ReadonlyArray<string>
  readonly anyOf?: ReadonlyArray<Choice>
}

const choicesIn = (choice: Choice): ReadonlyArray<string> => choice.enum ?? choice.anyOf?.flatMap(choicesIn) ?? []

/** Returns modified versions of a cursor, as a caller could make them to reach other rows. */
const tampered = (cursor: string): ReadonlyArray<string> => {
  const content = JSON.parse(atob(cursor))
  const rewritten = (changes: object) => btoa(JSON.stringify({ ...content, ...changes }))
  const middle = Math.floor(cursor.length / 2)
  return [
    rewritten({ key: `${content.key}0` }),
    rewritten({ key: "'; drop table experiences; --" }),
    rewritten({ id: "00000000-0000-0000-0000-000000000000" }),
    rewritten({ issuedAt: content.issuedAt + 1 }),
    rewritten({ filter: "" }),
    rewritten({ check: "" }),
    rewritten({ check: undefined }),
    btoa("[]"),
    cursor.slice(0, middle),
    cursor.slice(0, middle) + (cursor[middle] === "A" ? "B" : "A") + cursor.slice(middle + 1),
    "",
    "x"
  ]
}
