import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { mkdtempSync, writeFileSync } from "node:fs"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Proof } from "../../src/domain/draw/proof/Proof.ts"
import { vector } from "../domain/draw/proof/vectors.ts"
import * as UsherInProcess from "./usherInProcess.ts"
import * as Usher from "./usherProcess.ts"

const folder = mkdtempSync(join(tmpdir(), "usher-verify-"))

const fileOf = (name: string, content: Proof | string): string => {
  const path = join(folder, name)
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content))
  return path
}

const verified = (...args: ReadonlyArray<string>) => UsherInProcess.run(["verify-draw", ...args])

describe("usher verify-draw", () => {
  it.live("prints its checks, and the facts that a proof cannot show", () =>
    Effect.gen(function* () {
      const { code, stdout, stderr } = yield* Usher.run(["verify-draw", fileOf("equal.json", vector("equal").proof)])
      assert.deepStrictEqual([code, stderr], [0, ""])
      assert.include(stdout, "holds  entriesDigest is the digest of the list of entries")
      assert.notInclude(stdout, "FAILS")
      assert.include(stdout, "Not proven:")
      assert.include(stdout, "public randomness beacon")
      assert.match(stdout, /The proof holds: 3 winners of 12 entries\.\n$/)
    })
  )

  it.live("checks the beacon's signature with the public key of its network", () =>
    Effect.gen(function* () {
      const { proof } = vector("beacon")
      const genuine = yield* verified(fileOf("beacon.json", proof))
      assert.deepStrictEqual([genuine.code, genuine.stderr], [0, ""])
      assert.include(genuine.stdout, "holds  the network signed this round")
    })
  )

  it.live("refuses an invalid proof, and prints the failed check", () =>
    Effect.gen(function* () {
      const { proof } = vector("equal")
      const lie = fileOf("lie.json", { ...proof, winners: proof.winners.toReversed() })
      const { code, stdout, stderr } = yield* verified(lie)
      assert.strictEqual(code, 1)
      assert.include(stdout, "FAILS  the winners are the first 3 of the drawn order")
      assert.strictEqual(stderr, "usher: the proof is refused: 1 of 7 checks failed.\n")
    })
  )

  it.live("compares the proof with earlier publications, and finds an entry", () =>
    Effect.gen(function* () {
      const { proof } = vector("equal")
      const file = fileOf("published.json", proof)
      const { entriesDigest, seedCommitment } = proof
      const [winner] = proof.winners as [string]
      const good = yield* verified(file, "--commitment", seedCommitment, "--digest", entriesDigest, "--entry", winner)
      assert.strictEqual(good.code, 0)
      assert.include(good.stdout, `The entry ${winner} is number 2 of the drawn order, and won.`)
      for (const args of [
        ["--commitment", entriesDigest],
        ["--digest", seedCommitment],
        ["--entry", "0".repeat(26)]
      ]) {
        const { code, stdout } = yield* verified(file, ...args)
        assert.strictEqual(code, 1)
        assert.include(stdout, "FAILS")
      }
    })
  )

  it.live("fetches a proof, with a key where one is required", () =>
    Effect.gen(function* () {
      const url = yield* Effect.acquireRelease(
        Effect.callback<string, never>((resume) => {
          const server = createServer((request, response) => {
            const isKnown = request.headers["x-publishable-key"] === "pk_live_key"
            response.writeHead(isKnown ? 200 : 401, { "content-type": "application/json" })
            response.end(JSON.stringify(isKnown ? vector("weighted").proof : { error: "Authentication required" }))
          })
          server.listen(0, "127.0.0.1", () => {
            server.unref()
            resume(Effect.succeed(`http://127.0.0.1:${(server.address() as AddressInfo).port}/proof`))
          })
        }),
        () => Effect.void
      )
      const fetched = yield* verified(url, "--key", "pk_live_key")
      assert.deepStrictEqual([fetched.code, fetched.stderr], [0, ""])
      const refused = yield* verified(url)
      assert.deepStrictEqual([refused.code, refused.stdout], [1, ""])
      assert.include(refused.stderr, "cannot be fetched")
    })
  )

  it.live("reports an unusable proof in one line", () =>
    Effect.gen(function* () {
      for (const [source, expected] of [
        [join(folder, "none.json"), "cannot be read"],
        [fileOf("text.json", "hello"), "is not JSON"],
        [fileOf("other.json", "{}"), "is not the proof of a draw"],
        ["http://127.0.0.1:1/proof", "cannot be fetched"]
      ] as const) {
        const { code, stdout, stderr } = yield* verified(source)
        assert.deepStrictEqual([code, stdout], [1, ""])
        assert.include(stderr, expected)
        assert.strictEqual(stderr.trim().split("\n").length, 1)
      }
    })
  )
})
