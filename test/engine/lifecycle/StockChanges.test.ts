import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import type { AdminCommand } from "../../../src/domain/mechanism/Mechanism.ts"
import { ConfigurationChanged } from "../../../src/domain/mechanism/Refusals.ts"
import type { Configuration } from "../../../src/domain/stock/Configuration.ts"
import { Engine } from "../../../src/engine/Engine.ts"
import { changeStock } from "../../../src/engine/lifecycle/StockChanges.ts"
import { queueId, tenant } from "../engineFixture.ts"

const stock = { kind: "stock", id: queueId(50), tenant } as const

/** An engine whose stock is changed by another process before each of the first `others` changes. */
const engineOf = (others: number) => {
  let present: Configuration = { name: "0", variantIds: [queueId(60)], takers: [], returnsCancelled: true }
  let left = others
  const engine = {
    definition: () => Effect.succeed({ configuration: present }),
    sendAdmin: (_: unknown, command: AdminCommand<"stock">) =>
      Effect.suspend(() => {
        assert(command._tag === "Configure")
        if (left-- > 0) present = { ...present, name: `${Number(present.name) + 1}` }
        if (command.from !== present) return Effect.fail(new ConfigurationChanged())
        present = command.configuration
        return Effect.succeed({})
      })
  } as unknown as Engine["Service"]
  return { engine, present: () => present }
}

const lowAt = (units: number) => (from: Configuration) => Effect.succeed({ ...from, lowAt: units })

describe("a change of a stock's settings", () => {
  it.effect("is derived again from those that others have set meanwhile, and undoes none of them", () =>
    Effect.gen(function* () {
      const { engine, present } = engineOf(3)
      yield* changeStock(engine, stock, "admin", lowAt(5))
      assert.deepInclude(present(), { name: "3", lowAt: 5 })
    })
  )

  it.effect("is not made if nothing has to change, and fails if others always come first", () =>
    Effect.gen(function* () {
      const quiet = engineOf(0)
      const before = quiet.present()
      yield* changeStock(quiet.engine, stock, "admin", () => Effect.undefined)
      assert.strictEqual(quiet.present(), before)
      const busy = engineOf(Infinity)
      const refused = yield* Effect.flip(changeStock(busy.engine, stock, "admin", lowAt(5)))
      assert.strictEqual(refused._tag, "Unavailable")
      const failed = yield* Effect.flip(changeStock(busy.engine, stock, "admin", () => Effect.fail("invalid")))
      assert.strictEqual(failed, "invalid")
    })
  )
})
