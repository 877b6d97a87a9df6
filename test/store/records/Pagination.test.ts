import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { randomBytes } from "node:crypto"
import { cursorLifetimeMillis, type SortType } from "../../../src/store/records/Cursors.ts"
import {
  type Filter,
  type ListShape,
  page,
  type PageQuery,
  type PageRefused,
  type Plan,
  planWith
} from "../../../src/store/records/Pagination.ts"

const shape: ListShape<"createdAt" | "name"> = {
  name: "things",
  sorts: {
    createdAt: { expression: "t.created_at", type: "timestamptz" },
    name: { expression: "t.name", type: "text" }
  },
  id: { expression: "t.id", type: "uuid" }
}
const secret = randomBytes(32)
const tenant = { organizationId: "0199b2a1-0000-7000-8000-000000000001", mode: "live" } as const
const now = 1_800_000_000_000
const row = { sortKey: "2027-01-15 08:00:00+00", sortId: "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a" }

interface Asked {
  readonly query?: PageQuery<"createdAt" | "name">
  readonly filter?: Filter
  readonly now?: number
  readonly tenant?: { readonly organizationId: string; readonly mode: "live" | "test" }
  readonly shape?: ListShape<"createdAt" | "name">
  readonly secret?: Uint8Array
}

const ask = (asked: Asked): Result.Result<Plan, PageRefused> =>
  planWith(
    asked.secret ?? secret,
    asked.shape ?? shape,
    asked.query ?? {},
    { tenant: asked.tenant ?? tenant, filter: asked.filter ?? {} },
    asked.now ?? now
  )

const planned = (asked: Asked): Plan => Result.getOrThrow(ask(asked))

const refused = (asked: Asked): { readonly parameter: string; readonly received: string } => {
  const outcome = ask(asked)
  if (Result.isSuccess(outcome)) throw new Error("the page was not refused")
  return { parameter: outcome.failure.parameter, received: outcome.failure.received }
}

/** Returns a cursor as the list returns it. */
const cursor = (asked: Asked = {}): string => planned(asked).cursorAt(row)

const contentOf = (text: string): { [name: string]: unknown } =>
  JSON.parse(Buffer.from(text, "base64").toString("utf8"))
const textOf = (content: object): string => Buffer.from(JSON.stringify(content)).toString("base64")

describe("Pages of a list", () => {
  it("hold 20 items from the start, by the first sort field, ascending, by default", () => {
    const { limit, position, sort, walk, backward } = planned({})
    assert.deepStrictEqual(
      { limit, position, sort, walk, backward },
      { limit: 20, position: undefined, sort: shape.sorts.createdAt, walk: "asc", backward: false }
    )
  })

  it("are read against the sort direction when they end at a cursor", () => {
    assert.strictEqual(planned({ query: { last: 5 } }).walk, "desc")
    assert.strictEqual(planned({ query: { last: 5, sortDir: "desc" } }).walk, "asc")
    assert.strictEqual(planned({ query: { first: 5, sortDir: "desc" } }).walk, "desc")
  })

  it("are returned in list order when they were read backward", () => {
    const rows = ["c", "b", "a"].map((sortKey) => ({ sortKey, sortId: row.sortId }))
    const { data } = page(planned({ query: { last: 3 } }), rows, ({ sortKey }) => sortKey)
    assert.deepStrictEqual(data, ["a", "b", "c"])
  })

  it("have cursors at their first and last item, and none when they are empty", () => {
    const rows = [row, { ...row, sortKey: "2027-01-16 08:00:00+00" }]
    const full = page(planned({}), rows, () => 0).pageInfo
    assert.strictEqual(contentOf(full.startCursor!)["key"], rows[0]!.sortKey)
    assert.strictEqual(contentOf(full.endCursor!)["key"], rows[1]!.sortKey)
    assert.deepStrictEqual(page(planned({}), [], () => 0).pageInfo, { startCursor: null, endCursor: null })
  })

  it("start at the row that the cursor names", () => {
    const { position } = planned({ query: { first: 2, after: cursor() } })
    assert.deepInclude(position, { key: row.sortKey, id: row.sortId })
  })

  it("cannot be requested from both ends", () => {
    assert.strictEqual(refused({ query: { first: 1, last: 1 } }).parameter, "last")
    assert.strictEqual(refused({ query: { first: 1, before: "x" } }).parameter, "before")
    assert.strictEqual(refused({ query: { after: "x", last: 1 } }).parameter, "last")
    assert.strictEqual(refused({ query: { after: "x", before: "y" } }).parameter, "before")
  })
})

describe("A cursor", () => {
  it("is Base64 of a JSON object that needs no escaping in a URL, with any key", () => {
    for (const sortKey of [
      "~?>é€😀",
      "\u0001\u007f",
      '"\\',
      "plain",
      ...Array.from({ length: 50 }, (_, n) => "?".repeat(n))
    ]) {
      const text = planned({ query: { sortBy: "name" } }).cursorAt({ sortKey, sortId: row.sortId })
      assert.match(text, /^[A-Za-z0-9]+$/)
      assert.strictEqual(contentOf(text)["key"], sortKey)
      assert.strictEqual(JSON.parse(atob(text)).id, row.sortId)
      const { position } = planned({ query: { sortBy: "name", after: text } })
      assert.strictEqual(position?.key, sortKey)
    }
  })

  it("is refused when it is not a cursor at all", () => {
    for (const after of ["", "x", "!!!", "bnVsbA==", textOf({}), textOf([1]), `${cursor()}x`.slice(8)]) {
      assert.deepStrictEqual(refused({ query: { after } }), { parameter: "after", received: "a malformed cursor" })
    }
  })

  it("is refused when any part of it was modified", () => {
    const content = contentOf(cursor())
    for (const name of Object.keys(content)) {
      const changed = { ...content, [name]: name === "issuedAt" ? now + 1 : `${content[name]}x` }
      const { received } = refused({ query: { after: textOf(changed) } })
      assert.strictEqual(received, "a damaged or forged cursor", name)
    }
    const { check, ...incomplete } = content
    assert.isString(check)
    assert.strictEqual(refused({ query: { after: textOf(incomplete) } }).received, "a malformed cursor")
  })

  it("is refused when it was made under another secret", () => {
    const { received } = refused({ query: { after: cursor({ secret: randomBytes(32) }) } })
    assert.strictEqual(received, "a damaged or forged cursor")
  })

  it("is refused with any invalid digest", () => {
    const { check, ...content } = contentOf(cursor())
    for (const other of ["", "x", "A".repeat(43), `${check}A`, `${check}`.slice(0, -1), `${check}`.repeat(20)]) {
      const { received } = refused({ query: { after: textOf({ ...content, check: other }) } })
      assert.strictEqual(received, "a damaged or forged cursor", other)
    }
    for (const other of [null, 0, true, [check], { check }]) {
      const { received } = refused({ query: { after: textOf({ ...content, check: other }) } })
      assert.strictEqual(received, "a malformed cursor", JSON.stringify(other))
    }
  })

  it("is refused when its values do not have the list's types, also with a valid digest", () => {
    const bad: { readonly [T in SortType]: ReadonlyArray<string> } = {
      text: ["\u0000", "\ud800"],
      uuid: ["", "x", "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5", "{0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a}"],
      numeric: ["", "x", "1e5", "NaN", ".5", "1,5", "9".repeat(101), "1\n"],
      bigint: ["", "x", "1.5", "9223372036854775808", "-9223372036854775809", " 1"],
      timestamptz: [
        "",
        "now",
        "2027-01-15",
        "2027-13-01 00:00:00+00",
        "2027-02-29 00:00:00+00",
        "2027-01-15 24:00:00+00",
        "0000-01-01 00:00:00+00",
        "294276-12-31 00:00:00+00",
        "2027-01-15 08:00:00+00\nx"
      ]
    }
    for (const [type, values] of Object.entries(bad) as ReadonlyArray<[SortType, ReadonlyArray<string>]>) {
      const ofType = { ...shape, sorts: { ...shape.sorts, createdAt: { expression: "t.x", type } } }
      const after = (sortKey: string) => planned({ shape: ofType }).cursorAt({ ...row, sortKey })
      for (const value of values) {
        const { received } = refused({ shape: ofType, query: { after: after(value) } })
        assert.strictEqual(received, "a cursor of another version", `${type} ${JSON.stringify(value)}`)
      }
    }
    const after = planned({}).cursorAt({ ...row, sortId: "x" })
    assert.strictEqual(refused({ query: { after } }).received, "a cursor of another version")
  })

  it("is valid with every value that Postgres writes", () => {
    const good: { readonly [T in SortType]: ReadonlyArray<string> } = {
      text: ["", "\n", "漢字"],
      uuid: [row.sortId],
      numeric: ["0.00000000", "-12.5", "7"],
      bigint: ["0", "9223372036854775807", "-9223372036854775808"],
      timestamptz: [
        "infinity",
        "-infinity",
        "2024-02-29 23:59:59.123456+00",
        "2027-01-15 08:00:00-03:30",
        "12027-01-15 08:00:00+00"
      ]
    }
    for (const [type, values] of Object.entries(good) as ReadonlyArray<[SortType, ReadonlyArray<string>]>) {
      const ofType = { ...shape, sorts: { ...shape.sorts, createdAt: { expression: "t.x", type } } }
      for (const sortKey of values) {
        const after = planned({ shape: ofType }).cursorAt({ ...row, sortKey })
        assert.strictEqual(planned({ shape: ofType, query: { after } }).position?.key, sortKey)
      }
    }
  })

  it("of a list with two order fields contains both, and is refused with any other content", () => {
    const ofTwo = { ...shape, second: shape.sorts.createdAt }
    const query = { sortBy: "name" } as const
    const after = (sortKey: string) => planned({ shape: ofTwo, query }).cursorAt({ ...row, sortKey })
    const key = JSON.stringify(["Ann", row.sortKey])
    assert.strictEqual(planned({ shape: ofTwo, query: { ...query, after: after(key) } }).position?.key, key)
    for (const other of ["Ann", "[]", '["Ann"]', '["Ann","x"]', '["Ann",1]', '{"0":"Ann"}']) {
      const { received } = refused({ shape: ofTwo, query: { ...query, after: after(other) } })
      assert.strictEqual(received, "a cursor of another version", other)
    }
  })

  it("is valid for 24 hours after it was issued, and not a millisecond longer", () => {
    const after = cursor()
    assert.isDefined(planned({ query: { after }, now: now + cursorLifetimeMillis }).position)
    assert.strictEqual(refused({ query: { after }, now: now + cursorLifetimeMillis + 1 }).received, "an expired cursor")
  })

  it("is issued again with each page, so a walk never expires while it continues", () => {
    const day = cursorLifetimeMillis
    const first = cursor()
    const second = planned({ query: { after: first }, now: now + day }).cursorAt(row)
    assert.isDefined(planned({ query: { after: second }, now: now + 2 * day }).position)
  })

  it("is valid for its own list, sort and filter alone", () => {
    const other = { ...shape, name: "others" }
    assert.strictEqual(refused({ query: { after: cursor() }, shape: other }).received, "a cursor of another list")
    for (const query of [{ sortBy: "name" }, { sortDir: "desc" }] as const) {
      const { received } = refused({ query: { ...query, after: cursor() } })
      assert.strictEqual(received, "a cursor of another sort order")
    }
    for (const asked of [
      { query: { search: "ab" } },
      { filter: { status: "QUEUED" } },
      { filter: { status: "" } },
      { tenant: { ...tenant, mode: "test" } },
      { tenant: { ...tenant, organizationId: "0199b2a1-0000-7000-8000-000000000002" } }
    ] as ReadonlyArray<Asked>) {
      const { received } = refused({ ...asked, query: { ...asked.query, after: cursor() } })
      assert.strictEqual(received, "a cursor of other filters")
    }
  })

  it("ignores absent filters, their order, and the page size", () => {
    const after = cursor({ filter: { a: "1", b: "2" } })
    const query = { after, first: 100 }
    assert.isDefined(planned({ query, filter: { b: "2", c: undefined, a: "1" } }).position)
  })

  it("is valid in both directions", () => {
    assert.isDefined(planned({ query: { before: cursor(), last: 3 } }).position)
    assert.isDefined(planned({ query: { after: cursor({ query: { last: 3 } }) } }).position)
  })
})
