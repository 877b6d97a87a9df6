import { assert, describe, it } from "@effect/vitest"
import * as Jose from "jose"
import { generateKeyPairSync } from "node:crypto"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Tokens } from "../../../bench/setup/Tokens.ts"

describe("the bench's access tokens", () => {
  it("verify as EdDSA tokens of the issuer, each for another consumer, and are made only once", async () => {
    const directory = mkdtempSync(join(tmpdir(), "bench-test-"))
    const { privateKey, publicKey } = generateKeyPairSync("ed25519")
    const tokens = new Tokens(
      {
        privateKey: privateKey.export({ format: "jwk" }),
        keyId: "key",
        issuer: "usher",
        audience: "somewhere",
        organizationId: "organization",
        sessionId: "session",
        claims: { type: "access" }
      },
      join(directory, "tokens")
    )
    const first = readFileSync(tokens.range(20).file, "utf8")
    const range = tokens.range(10, 20)
    const all = readFileSync(range.file, "utf8")
    rmSync(directory, { recursive: true })
    assert.isTrue(all.startsWith(first))
    const lines = all.trimEnd().split("\n")
    assert.strictEqual(lines.length, 30)
    const consumers = new Set<unknown>()
    for (const line of lines) {
      const options = { algorithms: ["EdDSA"], issuer: "usher", audience: "somewhere" }
      const { payload, protectedHeader } = await Jose.jwtVerify(line, publicKey, options)
      assert.strictEqual(protectedHeader.kid, "key")
      assert.strictEqual(payload["organizationId"], "organization")
      assert.match(
        String(payload["consumerId"]),
        /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/
      )
      consumers.add(payload["consumerId"])
    }
    assert.strictEqual(consumers.size, 30)
  })
})
