import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { randomUUID } from "node:crypto"
import { creationOf } from "../../../src/engine/lifecycle/Creation.ts"
import { verify } from "../../../src/engine/verification/Verification.ts"
import { Journal } from "../../../src/store/journal/Journal.ts"
import { Projections } from "../../../src/store/journal/Projections.ts"
import { Mechanisms } from "../../../src/store/mechanism/Mechanisms.ts"
import { aTenant, layer as records } from "../support/recordsFixture.ts"

const services = Layer.provideMerge(Layer.mergeAll(Projections.layer, Mechanisms.layer), records)

describe("A stock in Postgres", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("has a journal and a head, belongs to no experience, and is verified like a mechanism", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const tenant = yield* aTenant()
        const identity = {
          ...tenant,
          id: randomUUID(),
          kind: "stock",
          experienceId: undefined,
          sequenceId: undefined
        } as const
        const configuration = { name: "Stock", variantIds: [randomUUID()], takers: [], returnsCancelled: true }
        yield* journal.create([creationOf(identity, configuration, "test", Date.now())])
        const { id } = identity
        const { sequence = 0 } = (yield* journal.head(id)) ?? {}
        assert.isAbove(sequence, 0)
        assert.deepInclude(yield* journal.head(id), { identity })
        const verdict = yield* verify(id, () => Effect.void)
        assert.deepInclude(verdict, { kind: "stock", events: sequence, count: 0 })
      })
    )

    it.effect("is no mechanism of the API", () =>
      Effect.gen(function* () {
        const journal = yield* Journal
        const mechanisms = yield* Mechanisms
        const tenant = yield* aTenant()
        const identity = { ...tenant, kind: "stock", experienceId: undefined, sequenceId: undefined } as const
        const id = randomUUID()
        const configuration = { name: "Stock", variantIds: [randomUUID()], takers: [], returnsCancelled: true }
        yield* journal.create([creationOf({ ...identity, id }, configuration, "test", Date.now())])
        assert.isUndefined(yield* mechanisms.find(tenant, id))
        assert.isEmpty((yield* mechanisms.listDistributions(tenant, {}, {})).data)
      })
    )
  })
})
