/** What staff see of the gates that run. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { createGate } from "../../../../src/client/fetchGate.ts"
import { GateReports, instancesMax } from "../../../../src/store/gate/GateReports.ts"
import { reportIn } from "../../../../src/domain/gate/Report.ts"
import { aGate } from "../../support/gateFixture.ts"
import { layer as usherLayer, Usher } from "../../support/usherFixture.ts"

layer(usherLayer, { excludeTestServices: true })("The instances of a gate", (it) => {
  it.effect("are those that have asked with its key, each with what it last said of itself", () =>
    Effect.gen(function* () {
      const { brand } = yield* Usher
      const { id, byGate, byBrand } = yield* aGate()
      const instances = Effect.map(byBrand("GET", `/gates/${id}/instances`), ({ body }) => body)
      const { version, data: none } = yield* instances
      assert.deepStrictEqual(none, [])
      const ask = (report?: string, as?: string) =>
        byGate(`/gates/${id}/ended`, report === undefined ? {} : { headers: { "usher-gate": report } }, as)
      yield* ask(undefined, brand.secretKey)
      assert.deepStrictEqual((yield* instances).data, [])
      yield* ask(`node/one ${version} pass=1`)
      yield* ask(`node/one ${version} pass=7 room=2`)
      yield* ask("usher-gate/two former closed=4")
      yield* ask()
      yield* ask("not a report")
      const { data } = yield* instances
      const known = data.map(({ seenAt: _, ...rest }: { readonly seenAt: string }) => rest)
      const counts = { pass: 0, return: 0, room: 0, wait: 0, closed: 0 }
      assert.sameDeepMembers(known, [
        { runtime: "node", version, isCurrent: true, decisions: { ...counts, pass: 7, room: 2 } },
        { runtime: "usher-gate", version: "former", isCurrent: false, decisions: { ...counts, closed: 4 } },
        { runtime: null, version: null, isCurrent: null, decisions: null }
      ])
      yield* byBrand("PUT", `/gates/${id}`, { failMode: "open" })
      const later = yield* instances
      assert.notStrictEqual(later.version, version)
      assert.isFalse(later.data.some(({ isCurrent }: { readonly isCurrent: boolean | null }) => isCurrent === true))
    })
  )

  it.effect("count what the gate of a site really does", () =>
    Effect.gen(function* () {
      const { consumerUrl } = yield* Usher
      const { id, key, byBrand } = yield* aGate()
      const gate = createGate({ url: consumerUrl, gateId: id, key, patienceMillis: 10_000 })
      const visit = (path: string) =>
        Effect.promise(() => gate(new Request(`https://shop.example${path}`), () => new Response("the shop")))
      for (const path of ["/", "/", "/checkout"]) assert.strictEqual((yield* visit(path)).status, 200)
      yield* Effect.sleep("1100 millis")
      yield* visit("/")
      const read = Effect.map(byBrand("GET", `/gates/${id}/instances`), ({ body }) => body.data)
      const [first, ...others] = yield* Effect.repeat(read, { until: ([one]) => one?.decisions?.pass >= 3 })
      assert.deepStrictEqual(others, [])
      assert.deepInclude(first, { runtime: "fetch", isCurrent: true })
    })
  )

  it.effect("are at most 200, of which silent ones leave", () =>
    Effect.gen(function* () {
      const reports = yield* GateReports
      const gateId = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"
      for (let n = 0; n <= instancesMax; n++) yield* reports.note(gateId, reportIn(`fetch/${n} version`))
      assert.strictEqual((yield* reports.seen(gateId)).length, instancesMax)
    })
  )
})
