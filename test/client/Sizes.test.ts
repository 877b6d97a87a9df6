/** The modules that shops load: small, cached, and there for every origin. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { build } from "esbuild"
import { fileURLToPath } from "node:url"
import { gzipSync } from "node:zlib"
import { Usher } from "../http/support/usherFixture.ts"
import * as Fixture from "../http/support/usherFixture.ts"

const bundled = async (name: string, external: Array<string> = []) => {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL(`../../src/client/${name}`, import.meta.url))],
    bundle: true,
    minify: true,
    write: false,
    format: "esm",
    target: "es2022",
    external
  })
  return gzipSync(outputFiles[0]!.contents, { level: 9 }).length
}

describe("a bundle", () => {
  it("of the hook, the guard or the gate is within its budget", async () => {
    assert.isAtMost(await bundled("react.ts", ["react"]), 512)
    assert.isAtMost(await bundled("grant.ts"), 2_112)
    assert.isAtMost(await bundled("fetchGate.ts"), 6_528)
  })
})

layer(Fixture.layer)("a module of this server", (it) => {
  it.effect("is within its budget, for every origin, and caches keep it for five minutes", () =>
    Effect.gen(function* () {
      const { consumer } = yield* Usher
      const budgets = {
        "/client/v1.js": 5_184,
        "/embed/v1.js": 7_296,
        "/embed/enhancements.js": 1_536,
        "/client/challenge.js": 1_024,
        "/embed/challenge.js": 1_024
      }
      for (const [path, budget] of Object.entries(budgets)) {
        const { status, headers, text } = yield* consumer({ path, headers: { origin: "https://shop.example.com" } })
        assert.strictEqual(status, 200)
        assert.isAtMost(gzipSync(text, { level: 9 }).length, budget, path)
        assert.deepInclude(headers, {
          "content-type": "text/javascript; charset=utf-8",
          "access-control-allow-origin": "*",
          "cross-origin-resource-policy": "cross-origin",
          "cache-control": "public, max-age=300, stale-while-revalidate=600, stale-if-error=86400"
        })
        const again = yield* consumer({ path, headers: { "if-none-match": headers["etag"]! } })
        assert.deepStrictEqual([again.status, again.text], [304, ""])
        const zipped = yield* consumer({ path, headers: { "accept-encoding": "gzip" } })
        assert.strictEqual(zipped.headers["content-encoding"], "gzip")
      }
    })
  )

  it.effect("runs: the client reads an experience", () =>
    Effect.gen(function* () {
      const { consumer, consumerUrl, brand } = yield* Usher
      const { text } = yield* consumer({ path: "/client/v1.js" })
      const module = yield* Effect.promise(
        () => import(`data:text/javascript;base64,${Buffer.from(text).toString("base64")}`)
      )
      const usher = new module.Usher({ url: consumerUrl, publishableKey: brand.publishableKey })
      const store = usher.experience("0192f0c1-7e57-7000-8000-000000000000")
      yield* Effect.promise(() => store.load())
      assert.strictEqual(store.getSnapshot().state, "ended")
    })
  )
})
