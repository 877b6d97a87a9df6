import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Admin, anExperience, aQueue, enter, layer as adminLayer } from "../adminFixture.ts"

const unknown = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"

describe("Tenants on the Admin API", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("get the same answer for records of another tenant or mode, archived records and unknown ones", () =>
      Effect.gen(function* () {
        const { call, brand, stranger, rehearsal } = yield* Admin
        const queue = yield* aQueue()
        yield* enter(queue.id, 2)
        const archived = yield* aQueue()
        yield* call("DELETE", `/experiences/${archived.experienceId}`)
        const kinds = ["experienceId", "sequenceId", "id"] as const
        const requests = (of: { readonly [K in (typeof kinds)[number]]: string }) =>
          [
            ["GET", `/experiences/${of.experienceId}`],
            ["PUT", `/experiences/${of.experienceId}`, { name: "Mine" }],
            ["DELETE", `/experiences/${of.experienceId}`],
            ["POST", "/sequences", { experienceId: of.experienceId, name: "Mine" }],
            ["GET", `/sequences/${of.sequenceId}`],
            ["PUT", `/sequences/${of.sequenceId}`, { name: "Mine" }],
            ["DELETE", `/sequences/${of.sequenceId}`],
            ["POST", "/queues", { sequenceId: of.sequenceId, name: "Mine", admitRate: 1 }],
            ["GET", `/queues/${of.id}`],
            ["PUT", `/queues/${of.id}`, { name: "Mine" }],
            ["DELETE", `/queues/${of.id}`],
            ["POST", `/queues/${of.id}/end`],
            ["GET", `/distributions/${of.id}`],
            ["GET", `/distributions/${of.id}/consumers`],
            ["GET", `/distributions/${of.id}/history`],
            ["GET", `/sequences?experienceId=${of.experienceId}`],
            ["GET", `/queues?sequenceId=${of.sequenceId}&experienceId=${of.experienceId}`]
          ] as const
        const reads = requests(queue).filter(([method]) => method === "GET")
        const allOfIt = Effect.forEach(reads, ([method, path]) =>
          Effect.map(call(method, path), ({ status, body }) => [path, status, body.data ?? body])
        )
        const before = yield* allOfIt
        const expected = yield* Effect.forEach(
          requests({ experienceId: unknown, sequenceId: unknown, id: unknown }),
          ([method, path, body]) => call(method, path, body)
        )
        assert.isTrue(expected.slice(0, -2).every(({ status }) => status === 404))
        for (const [who, target] of [
          [stranger, queue],
          [rehearsal, queue],
          [brand, archived]
        ] as const) {
          for (const [index, [method, path, body]] of requests(target).entries()) {
            const answer = yield* call(method, path, body, who)
            const { status, text } = expected[index]!
            assert.deepStrictEqual([answer.status, answer.text], [status, text], `${method} ${path}`)
            const sent = [...answer.headers.keys()].filter((name) => name !== "date" && name !== "x-request-id")
            const usual = [...expected[index]!.headers.keys()].filter(
              (name) => name !== "date" && name !== "x-request-id"
            )
            assert.deepStrictEqual(sent, usual)
          }
        }
        assert.deepStrictEqual(yield* allOfIt, before)
      })
    )

    it.effect("see only their own records in lists", () =>
      Effect.gen(function* () {
        const { call, brand, rehearsal, organization } = yield* Admin
        const other = yield* organization()
        const mine = yield* aQueue({}, rehearsal)
        yield* aQueue({}, other)
        const seen = (path: string) =>
          Effect.map(call("GET", path, undefined, rehearsal), ({ body }) =>
            body.data.map(({ id }: { id: string }) => id)
          )
        assert.deepStrictEqual(yield* seen("/experiences"), [mine.experienceId])
        assert.deepStrictEqual(yield* seen("/sequences"), [mine.sequenceId])
        assert.deepStrictEqual(yield* seen("/queues"), [mine.id])
        const live = (yield* call("GET", "/queues?first=100", undefined, brand)).body.data
        assert.notInclude(
          live.map(({ id }: { id: string }) => id),
          mine.id
        )
      })
    )

    it.effect("are refused without the secret key, with any other contents of the request", () =>
      Effect.gen(function* () {
        const { url } = yield* Admin
        const { id } = yield* anExperience()
        const send = (init: RequestInit & { readonly path?: string }) =>
          Effect.promise(async () => {
            const response = await fetch(`${url}/api${init.path ?? `/experiences/${id}`}`, init)
            return [response.status, await response.json()] as const
          })
        const refused = [401, { error: "Authentication required" }] as const
        const json = { "content-type": "application/json" }
        assert.deepStrictEqual(yield* send({}), refused)
        assert.deepStrictEqual(yield* send({ headers: { authorization: "Bearer sk_live_nonsense" } }), refused)
        assert.deepStrictEqual(yield* send({ method: "DELETE" }), refused)
        assert.deepStrictEqual(yield* send({ path: "/experiences/malformed" }), refused)
        assert.deepStrictEqual(yield* send({ path: "/experiences", method: "POST", headers: json, body: "{" }), refused)
      })
    )
  })
})
