import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import {
  cursorLifetimeMillis,
  type Filter,
  type ListShape,
  page,
  type PageQuery,
  type PageRefused,
  type Plan,
  plan
} from "../../src/store/Pagination.ts"

const shape: ListShape<"createdAt" | "name"> = {
  name: "things",
  sorts: {
    createdAt: { expression: "t.created_at", type: "timestamptz" },
    name: { expression: "t.name", type: "text" }
  },
  id: { expression: "t.id", type: "uuid" }
}
const tenant = { organizationId: "0199b2a1-0000-7000-8000-000000000001", mode: "live" } as const
const now = 1_800_000_000_000
const row = { sortKey: "2027-01-15 08:00:00+00", sortId: "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a" }

interface Asked {
  readonly query?: PageQuery<"createdAt" | "name">
  readonly filter?: Filter
  readonly now?: number
  readonly tenant?: { readonly organizationId: string; readonly mode: "live" | "test" }
  readonly shape?: ListShape<"createdAt" | "name">
}

const ask = (asked: Asked): Result.Result<Plan, PageRefused> =>
  plan(
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

/** A cursor as the list gives it out. */
const cursor = (asked: Asked = {}): string => planned(asked).cursorAt(row)

const contentOf = (text: string): { [name: string]: unknown } =>
  JSON.parse(Buffer.from(text, "base64").toString("utf8"))
const textOf = (content: object): string => Buffer.from(JSON.stringify(content)).toString("base64")

describe("Pages of a list", () => {
  it("hold 20 items from the start, by the first sort field, ascending, unless asked otherwise", () => {
    const { limit, position, sort, walk, backward } = planned({})
    assert.deepStrictEqual(
      { limit, position, sort, walk, backward },
      { limit: 20, position: undefined, sort: shape.sorts.createdAt, walk: "asc", backward: false }
    )
  })

  it("are walked against the sort direction when they end at a cursor", () => {
    assert.strictEqual(planned({ query: { last: 5 } }).walk, "desc")
    assert.strictEqual(planned({ query: { last: 5, sortDir: "desc" } }).walk, "asc")
    assert.strictEqual(planned({ query: { first: 5, sortDir: "desc" } }).walk, "desc")
  })

  it("come in list order also when they were walked backward", () => {
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

  it("start at the row the cursor names", () => {
    const { position } = planned({ query: { first: 2, after: cursor() } })
    assert.deepInclude(position, { key: row.sortKey, id: row.sortId })
  })

  it("may not be asked for from both ends", () => {
    assert.strictEqual(refused({ query: { first: 1, last: 1 } }).parameter, "last")
    assert.strictEqual(refused({ query: { first: 1, before: "x" } }).parameter, "before")
    assert.strictEqual(refused({ query: { after: "x", last: 1 } }).parameter, "last")
    assert.strictEqual(refused({ query: { after: "x", before: "y" } }).parameter, "before")
  })
})

describe("A cursor", () => {
  it("is Base64 of a JSON object that needs no escaping in a URL, whatever the key holds", () => {
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

  it("is refused when it is not one at all", () => {
    for (const after of ["", "x", "!!!", "bnVsbA==", textOf({}), textOf([1]), `${cursor()}x`.slice(8)]) {
      assert.deepStrictEqual(refused({ query: { after } }), { parameter: "after", received: "a malformed cursor" })
    }
  })

  it("is refused when any part of it was changed", () => {
    const content = contentOf(cursor())
    for (const name of Object.keys(content)) {
      const changed = { ...content, [name]: name === "issuedAt" ? now + 1 : `${content[name]}x` }
      const { received } = refused({ query: { after: textOf(changed) } })
      assert.strictEqual(received, "a damaged cursor", name)
    }
    const { check, ...incomplete } = content
    assert.isString(check)
    assert.strictEqual(refused({ query: { after: textOf(incomplete) } }).received, "a malformed cursor")
  })

  it("serves for 24 hours after it was given out, and not a millisecond longer", () => {
    const after = cursor()
    assert.isDefined(planned({ query: { after }, now: now + cursorLifetimeMillis }).position)
    assert.strictEqual(refused({ query: { after }, now: now + cursorLifetimeMillis + 1 }).received, "an expired cursor")
  })

  it("is given out afresh with each page, so that a walk never expires while it goes on", () => {
    const day = cursorLifetimeMillis
    const first = cursor()
    const second = planned({ query: { after: first }, now: now + day }).cursorAt(row)
    assert.isDefined(planned({ query: { after: second }, now: now + 2 * day }).position)
  })

  it("serves its own list, sort and filter alone", () => {
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

  it("does not mind filters that are absent, nor their order, nor the page's size", () => {
    const after = cursor({ filter: { a: "1", b: "2" } })
    const query = { after, first: 100 }
    assert.isDefined(planned({ query, filter: { b: "2", c: undefined, a: "1" } }).position)
  })

  it("serves in both directions", () => {
    assert.isDefined(planned({ query: { before: cursor(), last: 3 } }).position)
    assert.isDefined(planned({ query: { after: cursor({ query: { last: 3 } }) } }).position)
  })
})
