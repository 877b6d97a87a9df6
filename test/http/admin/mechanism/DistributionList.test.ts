import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Engine } from "../../../../src/engine/Engine.ts"
import { Admin, anExperience, aQueue, enter, eventually, issuesOf, layer as adminLayer } from "../adminFixture.ts"

interface Item {
  readonly id: string
  readonly lifecycle: string
  readonly live: object | null
}

const soon = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString()

describe("The list of distributions", () => {
  layer(adminLayer, { excludeTestServices: true })((it) => {
    it.effect("shows each mechanism as its own record shows it", () =>
      Effect.gen(function* () {
        const { call, organization } = yield* Admin
        const as = yield* organization()
        const { id } = yield* aQueue({}, as)
        yield* enter(id, 3, as)
        const { status, body } = yield* call("GET", "/distributions", undefined, as)
        assert.strictEqual(status, 200)
        assert.deepStrictEqual(body.data, [(yield* call("GET", `/distributions/${id}`, undefined, as)).body])
        assert.deepInclude(body.data[0], { type: "queue", lifecycle: "open" })
        assert.deepStrictEqual(body.data[0].live.counts.QUEUED, 3)
      })
    )

    it.effect("can be filtered by lifecycle, and each item has that lifecycle", () =>
      Effect.gen(function* () {
        const { call, organization } = yield* Admin
        const engine = yield* Engine
        const as = yield* organization()
        const openAt = soon(3600)
        const made = {
          scheduled: [yield* aQueue({ openAt }, as), yield* aQueue({ openAt, closeAt: soon(7200) }, as)],
          open: [yield* aQueue({}, as), yield* aQueue({ openAt: soon(-60), closeAt: soon(3600) }, as)],
          settling: [yield* aQueue({ admissionExpirationSeconds: 600 }, as)],
          closed: [yield* aQueue({}, as), yield* aQueue({ openAt }, as)]
        }
        const settling = made.settling[0]!
        const [consumerId] = yield* enter(settling.id, 1, as)
        yield* engine.send(
          { kind: "queue", id: settling.id, tenant: as.tenant },
          { _tag: "Admit", consumerId: consumerId!, by: "admin" }
        )
        for (const { id } of [...made.settling, ...made.closed]) yield* call("POST", `/queues/${id}/end`, undefined, as)
        const listed = (query: string) =>
          Effect.map(
            call("GET", `/distributions?${query}`, undefined, as),
            ({ body }) => body.data as ReadonlyArray<Item>
          )
        yield* eventually(listed("lifecycle=closed"), ({ length }) => length === 2)
        for (const [lifecycle, queues] of Object.entries(made)) {
          const items = yield* listed(`lifecycle=${lifecycle}`)
          assert.sameMembers(
            items.map(({ id }) => id),
            queues.map(({ id }) => id),
            lifecycle
          )
          for (const item of items) {
            assert.strictEqual(item.lifecycle, lifecycle)
            const { body } = yield* call("GET", `/distributions/${item.id}`, undefined, as)
            assert.strictEqual(body.lifecycle, lifecycle)
            assert.deepStrictEqual(item.live, body.live)
          }
        }
        assert.lengthOf(yield* listed(""), 7)
      })
    )

    it.effect("can be filtered by type and experience, sorted, searched and paged", () =>
      Effect.gen(function* () {
        const { call, organization } = yield* Admin
        const as = yield* organization()
        const { id: experienceId } = yield* anExperience({}, as)
        const sequence = (yield* call("POST", "/sequences", { experienceId, name: "Sale" }, as)).body
        const names = ["Cats", "Ants", "Bees", "Dogs"]
        for (const name of names) yield* aQueue({ name, sequenceId: sequence.id }, as)
        yield* aQueue({ name: "Elsewhere" }, as)
        const found = (query: string) =>
          Effect.map(call("GET", `/distributions?${query}`, undefined, as), ({ body }) => ({
            names: body.data.map(({ name }: { readonly name: string }) => name) as ReadonlyArray<string>,
            endCursor: body.pageInfo.endCursor as string
          }))
        const below = `experienceId=${experienceId}`
        assert.sameMembers([...(yield* found(below)).names], names)
        assert.lengthOf((yield* found("type=queue")).names, 5)
        assert.deepStrictEqual((yield* found("type=queue&search=EE")).names, ["Bees"])
        const first = yield* found(`${below}&sortBy=name&first=3`)
        const rest = yield* found(`${below}&sortBy=name&first=3&after=${first.endCursor}`)
        assert.deepStrictEqual([...first.names, ...rest.names], ["Ants", "Bees", "Cats", "Dogs"])
        const other = yield* call("GET", `/distributions?sortBy=name&after=${first.endCursor}`, undefined, as)
        assert.deepStrictEqual(issuesOf(other), ["after: string"])
        const { body } = yield* call("GET", `/queues?${below}&sortBy=name&first=1`, undefined, as)
        const foreign = yield* call(
          "GET",
          `/distributions?${below}&sortBy=name&after=${body.pageInfo.endCursor}`,
          undefined,
          as
        )
        assert.deepStrictEqual(issuesOf(foreign), ["after: string"])
      })
    )

    it.effect("refuses invalid filters", () =>
      Effect.gen(function* () {
        const { call } = yield* Admin
        for (const [query, expected] of [
          ["type=raffle", "type: picklist"],
          ["lifecycle=over", "lifecycle: picklist"],
          ["experienceId=x", "experienceId: uuid"],
          ["first=101", "first: max_value"],
          ["sortBy=live", "sortBy: picklist"]
        ] as const) {
          assert.deepStrictEqual(issuesOf(yield* call("GET", `/distributions?${query}`)), [expected])
        }
      })
    )

    it.effect("contains only the tenant's own mechanisms, and none that is archived", () =>
      Effect.gen(function* () {
        const { call, organization, stranger } = yield* Admin
        const as = yield* organization()
        const kept = yield* aQueue({}, as)
        const gone = yield* aQueue({}, as)
        yield* call("DELETE", `/queues/${gone.id}`, undefined, as)
        const ids = (who: typeof as, query = "") =>
          Effect.map(call("GET", `/distributions?first=100${query}`, undefined, who), ({ body }) =>
            (body.data as ReadonlyArray<Item>).map(({ id }) => id)
          )
        assert.deepStrictEqual(yield* ids(as), [kept.id])
        assert.notInclude(yield* ids(stranger), kept.id)
        assert.deepStrictEqual(yield* ids(stranger, `&experienceId=${kept.experienceId}`), [])
      })
    )
  })
})
