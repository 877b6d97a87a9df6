import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { firstToReach, proxiesProof, Ushers } from "../../proofs/gates/ProxiesProof.ts"
import { proxyNames, versionOf } from "../../support/gates/Proxies.ts"

describe("a shop behind a proxy and usher gate", () => {
  let ushers: Ushers
  beforeAll(async () => void (ushers = await Ushers.make()))
  afterAll(() => ushers[Symbol.asyncDispose]())

  for (const name of proxyNames) {
    const isInstalled = versionOf(name) !== undefined
    const shown = isInstalled ? name : `${name} [skipped: no proxy on the path]`
    it.skipIf(!isInstalled)(
      `is closed to attackers, and open to those inside while Usher is away: ${shown}`,
      async () => {
        const figures = await proxiesProof(name, ushers, { each: 5 })
        assert.deepStrictEqual(figures.violations.slice(0, 10), [])
        assert.isAtLeast(figures.attacks, 15)
        assert.isAbove(figures.asked, 0)
        assert.strictEqual(figures.refused, 0)
      }
    )

    it.skipIf(!isInstalled)(`is reached by the attacks where its configuration has a mistake: ${shown}`, async () => {
      assert.include(
        await firstToReach(name, ushers, "believing"),
        name === "nginx" ? "X-Original-URI" : "X-Forwarded-Uri"
      )
      assert.isDefined(await firstToReach(name, ushers, "matching"))
    })
  }
})
