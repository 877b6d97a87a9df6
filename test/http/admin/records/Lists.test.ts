import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import {
  Admin,
  anExperience,
  aQueue,
  aSequence,
  issuesOf,
  layer as adminLayer,
  type Organization
} from "../adminFixture.ts"

interface Item {
  readonly id: string
  readonly name: string
}

/** Creates an organization with `count` experiences. */
const experiences = Effect.fnUntraced(function* (count: number) {
  const { organization } = yield* Admin
  const as = yield* organization()
  for (let n = 0; n < count; n++) yield* anExperience({ name: `Drop ${n % 3}` }, as)
  return as
})

const list = Effect.fnUntraced(function* (path: string, as: Organization) {
  const { call } = yield* Admin
  const { status, body } = yield* call("GET", path, undefined, as)
  assert.strictEqual(status, 200, JSON.stringify(body))
  return body as {
    readonly data: ReadonlyArray<Item>
    readonly pageInfo: { readonly startCursor: string | null; readonly endCursor: string | null }
  }
})

const ids = ({ data }: { readonly data: ReadonlyArray<Item> }) => data.map(({ id }) => id)

describe("Lists on the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("return the envelope, 20 items by default, and no cursors when they are empty", () =>
      Effect.gen(function* () {
        const { call, organization } = yield* Admin
        const empty = yield* organization()
        for (const path of ["/experiences", "/sequences", "/queues"]) {
          const { body } = yield* call("GET", path, undefined, empty)
          assert.deepStrictEqual(body, { data: [], pageInfo: { startCursor: null, endCursor: null } })
        }
        const as = yield* experiences(23)
        assert.lengthOf(ids(yield* list("/experiences", as)), 20)
        assert.lengthOf(ids(yield* list("/experiences?first=100", as)), 23)
        assert.lengthOf(ids(yield* list("/experiences?first=1", as)), 1)
      })
    )

    it.effect("can be read forward to the end and backward to the beginning, with inserts in between", () =>
      Effect.gen(function* () {
        const as = yield* experiences(11)
        for (const sort of ["sortBy=createdAt", "sortBy=name&sortDir=desc", "sortBy=openAt"]) {
          const all = ids(yield* list(`/experiences?${sort}&first=100`, as))
          const forward: Array<string> = []
          let cursor = ""
          let before = ""
          for (;;) {
            const page = yield* list(`/experiences?${sort}&first=4${cursor}`, as)
            forward.push(...ids(page))
            if (page.pageInfo.endCursor === null) break
            cursor = `&after=${page.pageInfo.endCursor}`
            before = page.pageInfo.startCursor!
            if (forward.length === 4) yield* anExperience({ name: "Drop 9" }, as)
          }
          assert.deepStrictEqual(
            forward.filter((id) => all.includes(id)),
            all,
            sort
          )
          assert.lengthOf(new Set(forward), forward.length)

          const backward: Array<string> = []
          let startCursor: string | null = before
          while (startCursor !== null) {
            const page: {
              readonly data: ReadonlyArray<Item>
              readonly pageInfo: { readonly startCursor: string | null }
            } = yield* list(`/experiences?${sort}&last=3&before=${startCursor}`, as)
            backward.unshift(...ids(page))
            startCursor = page.pageInfo.startCursor
          }
          const end = forward.length - (forward.length % 4 || 4)
          assert.deepStrictEqual(
            backward.filter((id) => all.includes(id)),
            forward.slice(0, end).filter((id) => all.includes(id))
          )
        }
      })
    )

    it.effect("return the newest first in descending order, and the last items when `last` is set alone", () =>
      Effect.gen(function* () {
        const as = yield* experiences(5)
        const all = ids(yield* list("/experiences", as))
        assert.deepStrictEqual(ids(yield* list("/experiences?sortDir=desc", as)), all.toReversed())
        assert.deepStrictEqual(ids(yield* list("/experiences?last=2", as)), all.slice(3))
      })
    )

    it.effect("find records by a part of the name", () =>
      Effect.gen(function* () {
        const as = yield* experiences(6)
        yield* anExperience({ name: "100% Wool_Day" }, as)
        assert.lengthOf(ids(yield* list("/experiences?search=drop%201", as)), 2)
        assert.lengthOf(ids(yield* list("/experiences?search=0%25", as)), 1)
        assert.lengthOf(ids(yield* list("/experiences?search=l_d", as)), 1)
        assert.lengthOf(ids(yield* list("/experiences?search=ld", as)), 0)
      })
    )

    it.effect("can be filtered by experience or sequence", () =>
      Effect.gen(function* () {
        const { organization } = yield* Admin
        const as = yield* organization()
        const one = yield* aSequence({}, as)
        const two = yield* aSequence({ experienceId: one.experienceId }, as)
        const other = yield* aSequence({}, as)
        const queues = [
          yield* aQueue({ sequenceId: one.id, name: "B" }, as),
          yield* aQueue({ sequenceId: two.id, name: "A" }, as)
        ]
        yield* aQueue({ sequenceId: other.id, name: "C" }, as)
        assert.sameMembers(ids(yield* list(`/sequences?experienceId=${one.experienceId}`, as)), [one.id, two.id])
        assert.deepStrictEqual(ids(yield* list(`/queues?sequenceId=${one.id}`, as)), [queues[0]!.id])
        const sorted = yield* list(`/queues?experienceId=${one.experienceId}&sortBy=name`, as)
        assert.deepStrictEqual(ids(sorted), [queues[1]!.id, queues[0]!.id])
        assert.deepStrictEqual(ids(yield* list("/queues?search=xx", as)), [])
      })
    )

    it.effect("refuse invalid page parameters, and name them", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const mistakes: ReadonlyArray<readonly [string, string]> = [
          ["first=0", "first"],
          ["first=-1", "first"],
          ["first=101", "first"],
          ["first=1.5", "first"],
          ["first=abc", "first"],
          ["first=", "first"],
          ["first=1&first=2", "first"],
          ["last=0", "last"],
          ["last=101", "last"],
          ["first=1&last=1", "last"],
          ["first=1&before=x", "before"],
          ["after=x&last=1", "last"],
          ["after=x&before=x", "before"],
          ["sortBy=archived", "sortBy"],
          ["sortDir=up", "sortDir"],
          ["search=a", "search"],
          ["search=", "search"],
          ["search=ab%00", "search"],
          ["after=", "after"],
          ["after=garbage", "after"],
          ["before=garbage", "before"],
          ["after=%00", "after"]
        ]
        for (const path of ["/experiences", "/sequences", "/queues"]) {
          for (const [query, parameter] of mistakes) {
            const issues = issuesOf(yield* call("GET", `${path}?${query}`))
            assert.deepStrictEqual(
              issues.map((issue) => issue.split(":")[0]),
              [parameter],
              `${path}?${query}`
            )
          }
        }
        for (const query of ["first=abc", "first=", "last=ten"]) {
          assert.match(issuesOf(yield* call("GET", `/experiences?${query}`))[0]!, /: number$/, query)
        }
        assert.deepStrictEqual(issuesOf(yield* call("GET", "/experiences?first=1.5")), ["first: integer"])
        const { body } = yield* call("GET", "/experiences?sortBy=color")
        for (const sortable of ["createdAt", "name", "openAt"]) assert.include(body.issues[0].expected, sortable)
        assert.deepStrictEqual(issuesOf(yield* call("GET", "/queues?sequenceId=x&experienceId=y")), [
          "experienceId: uuid",
          "sequenceId: uuid"
        ])
      })
    )

    it.effect("refuse a cursor that was modified, or comes from another list, sort, filter or tenant", () =>
      Effect.gen(function* () {
        const { call, brand } = yield* Admin
        const as = yield* experiences(3)
        const sequence = yield* aSequence({}, as)
        const cursor = (yield* list("/experiences?first=1", as)).pageInfo.endCursor!
        const content = JSON.parse(atob(cursor))
        const changed = btoa(JSON.stringify({ ...content, key: "2020-01-01 00:00:00+00" }))
        const aged = btoa(JSON.stringify({ ...content, issuedAt: 0 }))
        const refused = (path: string, who = as) =>
          Effect.map(call("GET", path, undefined, who), (answer) => {
            assert.deepStrictEqual(issuesOf(answer), ["after: string"], path)
            return answer.body.issues[0].message as string
          })
        assert.include(yield* refused(`/experiences?after=${encodeURIComponent(changed)}`), "damaged")
        assert.include(yield* refused(`/experiences?after=${encodeURIComponent(aged)}`), "damaged")
        assert.include(yield* refused(`/experiences?after=${cursor.slice(0, -9)}`), "malformed")
        assert.include(yield* refused(`/sequences?after=${cursor}`), "another list")
        assert.include(yield* refused(`/experiences?sortBy=name&after=${cursor}`), "another sort")
        assert.include(yield* refused(`/experiences?sortDir=desc&after=${cursor}`), "another sort")
        assert.include(yield* refused(`/experiences?search=drop&after=${cursor}`), "other filters")
        assert.include(yield* refused(`/experiences?after=${cursor}`, brand), "other filters")
        const ofSequence = (yield* list(`/sequences?experienceId=${sequence.experienceId}`, as)).pageInfo.endCursor!
        assert.include(yield* refused(`/sequences?after=${ofSequence}`), "other filters")
        assert.lengthOf(ids(yield* list(`/experiences?after=${cursor}&first=50`, as)), 3)
      })
    )

    it.effect("refuse a cursor of one mechanism for the consumers or history of another", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        const [one, two] = [yield* aQueue(), yield* aQueue()]
        const { endCursor } = (yield* call("GET", `/distributions/${one.id}/history`)).body.pageInfo
        for (const path of [`/distributions/${two.id}/history`, `/distributions/${one.id}/consumers`]) {
          assert.deepStrictEqual(issuesOf(yield* call("GET", `${path}?after=${endCursor}`)), ["after: string"])
        }
      })
    )
  })
})
