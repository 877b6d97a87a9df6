/** The marks of staff's acts in the charts of mechanisms of every kind. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { declarations, fieldOf, isSingle, kinds } from "../../../src/domain/mechanism/Mechanism.ts"
import { mechanismsOfEachKind } from "../../http/admin/experience/aggregateFixture.ts"
import { type Answer, Usher } from "../../http/support/usherFixture.ts"
import { operator } from "../support/operatorFixture.ts"
import { brand, layer as usher, room, unescaped } from "../support/roomFixture.ts"

/** The marks in the chart of a mechanism. */
const marksOf = ({ text }: Answer, id: string): ReadonlyArray<string> => {
  const json = new RegExp(`data-part="acts-${id}"\\s+data-acts="([^"]*)"`).exec(text)?.[1]
  return JSON.parse(unescaped(json ?? "[]")).map((act: { readonly text: string }) => act.text)
}

layer(usher, { excludeTestServices: true })("The marks in a chart", (it) => {
  it.effect("name what staff did to a mechanism of every kind, and the person", () =>
    Effect.gen(function* () {
      const { get, signIn } = yield* operator
      yield* signIn((yield* Usher).brand.secretKey)
      for (const kind of kinds) {
        const field = fieldOf[kind]
        const all = [mechanismsOfEachKind()[field as "queues"]].flat()
        const { sequence, experienceId } = yield* room({ [field]: isSingle(kind) ? all[0] : all.slice(-1) })
        const { id } = [sequence[field]].flat()[0]
        const path = `/${declarations[kind].path}/${id}`
        yield* brand("PUT", path, { name: "Renamed" })
        const page = yield* get(`/dashboard/experiences/${experienceId}`)
        assert.includeMembers([...marksOf(page, id)], ["settings changed by The shop"], kind)
        yield* brand("POST", `${path}/end`)
        const lately = yield* get(`/dashboard/experiences/${experienceId}/happened`)
        assert.strictEqual(marksOf(lately, id).at(-1), "ended by The shop", kind)
      }
    })
  )

  it.effect("have the acts on a queue once, with their reasons, and moved dates apart", () =>
    Effect.gen(function* () {
      const { get, signIn } = yield* operator
      yield* signIn((yield* Usher).brand.secretKey)
      const { sequence, experienceId } = yield* room({ queues: [{ name: "Line", admitRate: 5 }] })
      const path = `/queues/${sequence.queues[0].id}`
      yield* brand("POST", `${path}/pause`, { reason: "HIGH_LOAD" })
      yield* brand("POST", `${path}/resume`)
      yield* brand("PUT", path, { admitRate: 9 })
      yield* brand("PUT", path, { closeAt: new Date(Date.now() + 3_600_000).toISOString() })
      const page = yield* get(`/dashboard/experiences/${experienceId}`)
      assert.deepStrictEqual(marksOf(page, sequence.queues[0].id), [
        "paused: high load",
        "resumed",
        "rate 9/min",
        "dates moved by The shop"
      ])
    })
  )
})
