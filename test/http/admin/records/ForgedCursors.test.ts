/**
 * The treatment of cursors that no list has returned. Each is a 400 that names the parameter, regardless of its origin
 * and content, and no part of it reaches the log.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { OpenApi } from "effect/http-api"
import { SqlClient } from "effect/sql"
import { createHash, createHmac } from "node:crypto"
import { ConsumerApi } from "../../../../src/api/consumer/ConsumerApi.ts"
import { Admin, issuesOf, layer as adminLayer } from "../adminFixture.ts"
import type { List } from "./listRows.ts"
import { lists, unchanging } from "./listTable.ts"

interface Content {
  readonly [name: string]: unknown
}

/** Computes the digest of a content. */
type Digest = (parts: string) => string

const contentOf = (cursor: string): Content => JSON.parse(atob(cursor))

const encoded = (text: string): string => Buffer.from(text).toString("base64")

/** Returns a cursor of the content, with the digest of its own values. */
const signed = (content: Content, digest: Digest): string => {
  const parts = ["list", "sortBy", "sortDir", "filter", "key", "id", "issuedAt"].map((name) => content[name])
  return encoded(JSON.stringify({ ...content, check: digest(JSON.stringify(parts)) }))
}

/** Digests that an attacker can compute who knows the algorithm, but not the secret. */
const guesses: { readonly [name: string]: Digest } = {
  none: () => "",
  plain: (parts) => createHash("sha256").update(parts).digest("base64url"),
  short: (parts) => createHash("sha256").update(parts).digest("base64url").slice(0, 22),
  "without a key": (parts) => createHmac("sha256", "").update(parts).digest("base64url"),
  "with a key of zeros": (parts) => createHmac("sha256", Buffer.alloc(32)).update(parts).digest("base64url")
}

const newlines = "x\n[12:00:00.000] ERROR (#1): forged entry\r\n"

/** Values that are unusable where a cursor has text, or that have the wrong type. */
const misfits: ReadonlyArray<unknown> = [
  newlines,
  "",
  "\u0000",
  "\u001b[31m",
  "9999-99-99 99:99:99+99",
  "99999999999999999999",
  "'; drop table experiences; --",
  '["x"]',
  0,
  -1,
  1e300,
  null,
  true,
  [],
  ["x"],
  {},
  { $ne: null }
]

/** Texts that are not cursors. */
const strays: ReadonlyArray<string> = [
  "null",
  "0",
  "true",
  '"text"',
  "[]",
  "{}",
  newlines,
  "[".repeat(3_000),
  '{"a":'.repeat(1_000),
  '{"__proto__":{"list":"experiences"}}',
  "\u0000",
  "\ufeff{}"
]

/** The lists of the table, and those that have rows from the beginning. */
const all: { readonly [rows: string]: (typeof lists)[string] } = {
  ...lists,
  ...Object.fromEntries(
    unchanging.map((path) => {
      const sorts = { createdAt: ({ createdAt }: { readonly createdAt: string }) => createdAt }
      const list: List = { path, sorts, idOf: sorts.createdAt, filter: "", make: () => Effect.void }
      return [`rows of ${path}`, () => Effect.succeed(list)]
    })
  )
}

const entries: Array<string> = []
const logger = Logger.map(Logger.formatStructured, (entry) => void entries.push(JSON.stringify(entry)))

describe("A forged cursor", () => {
  layer(adminLayer.pipe(Layer.provide(Logger.layer([logger]))), { excludeTestServices: true })((it) => {
    /** Returns a list with a row, and one of its cursors. */
    const listed = Effect.fnUntraced(function* (rows: string) {
      const { call, organization } = yield* Admin
      const as = yield* organization()
      const list = yield* all[rows]!(as)
      yield* list.make(0)
      const ask = (cursor: string, more = "") => {
        const path = `${list.path}?${more}after=${encodeURIComponent(cursor)}`
        return call("GET", path, undefined, as)
      }
      const first = yield* call("GET", `${list.path}?first=1`, undefined, as)
      return { list, ask, cursor: first.body.pageInfo.endCursor as string }
    })

    for (const rows of Object.keys(all)) {
      it.effect(`of the ${rows} is refused, regardless of its content and its digest`, () =>
        Effect.gen(function* () {
          entries.length = 0
          const { ask, cursor } = yield* listed(rows)
          const content = contentOf(cursor)
          const forged = [
            ...strays.map(encoded),
            ...Object.keys(content).flatMap((name) =>
              misfits.map((value) => encoded(JSON.stringify({ ...content, [name]: value })))
            ),
            ...Object.values(guesses).flatMap((digest) =>
              [{}, { key: newlines }, { id: newlines }, { key: 1 }].map((change) =>
                signed({ ...content, ...change }, digest)
              )
            )
          ]
          for (const text of forged) {
            const answer = yield* ask(text)
            assert.deepStrictEqual(issuesOf(answer), ["after: string"], Buffer.from(text, "base64").toString())
          }
          assert.deepStrictEqual(entries, [])
        })
      )

      it.effect(`of the ${rows} with a valid signature is refused if its values do not fit the list`, () =>
        Effect.gen(function* () {
          entries.length = 0
          const { list, ask, cursor } = yield* listed(rows)
          const sql = yield* SqlClient.SqlClient
          const [{ secret } = { secret: new Uint8Array() }] = yield* sql<{ readonly secret: Uint8Array }>`
                select secret from server_secrets where name = 'cursors'`
          const digest: Digest = (parts) => createHmac("sha256", secret).update(parts).digest("base64url")
          const content = contentOf(cursor)
          assert.strictEqual((yield* ask(signed(content, digest))).status, 200, "its own values, signed again")
          for (const value of misfits.filter((value) => typeof value === "string")) {
            const answer = yield* ask(signed({ ...content, id: value }, digest))
            assert.deepStrictEqual(issuesOf(answer), ["after: string"], `id ${JSON.stringify(value)}`)
          }
          for (const sortBy of Object.keys(list.sorts)) {
            for (const value of misfits.filter((value) => typeof value === "string")) {
              const answer = yield* ask(signed({ ...content, sortBy, key: value }, digest), `sortBy=${sortBy}&`)
              // Every text is a valid position in the order of names.
              if (answer.status === 200) continue
              assert.deepStrictEqual(issuesOf(answer), ["after: string"], `${sortBy} ${JSON.stringify(value)}`)
            }
          }
          assert.deepStrictEqual(entries, [])
        })
      )
    }

    it.effect("cannot be sent to the Consumer API: only ended grants have positions there, which are not cursors", () =>
      Effect.sync(() => {
        const taking = Object.entries(OpenApi.fromApi(ConsumerApi).paths).flatMap(([path, { get }]) =>
          get?.parameters.some(({ name }) => name === "after" || name === "before") ? [path] : []
        )
        assert.deepStrictEqual(taking, ["/api/grants/revoked", "/api/gates/{gateId}/ended"])
      })
    )
  })
})
