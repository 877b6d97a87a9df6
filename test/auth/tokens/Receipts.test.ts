import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { decodeJwt, decodeProtectedHeader } from "jose"
import { GrantNames } from "../../../src/auth/tokens/GrantNames.ts"
import { Grants } from "../../../src/auth/tokens/Grants.ts"
import { type Draw, Receipts } from "../../../src/auth/tokens/Receipts.ts"
import { Revocations } from "../../../src/auth/sessions/Revocations.ts"
import { SigningKeys } from "../../../src/auth/keys/SigningKeys.ts"
import { Tokens } from "../../../src/auth/tokens/Tokens.ts"
import { Settings } from "../../../src/settings/Settings.ts"

const layer = Layer.mergeAll(Tokens.layer, Grants.layer, Receipts.layer).pipe(
  Layer.provideMerge(Revocations.layerMemory),
  Layer.provideMerge(Layer.merge(SigningKeys.layerMemory, GrantNames.layerMemory)),
  Layer.provide(Settings.layerTest())
)

const id = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"
const draw: Draw = {
  identity: { id, kind: "draw", organizationId: id, mode: "live", experienceId: id, sequenceId: id },
  seedCommitment: "5e".repeat(32)
}
const entry = { entryId: "0f".repeat(13), enteredAt: 1_700_000_000_900 }

describe("A receipt", () => {
  it.effect("states which entry of which draw was accepted, and when, but not whose it is", () =>
    Effect.gen(function* () {
      const keys = yield* SigningKeys
      const receipt = yield* (yield* Receipts).receipt(entry, Effect.succeed(draw))
      assert.deepStrictEqual(decodeProtectedHeader(receipt), { alg: "EdDSA", typ: "JWT", kid: keys.current.kid })
      assert.deepStrictEqual(decodeJwt(receipt), {
        type: "entry_receipt",
        iss: "usher",
        aud: "usher:entry-receipt",
        jti: `${id}.${entry.entryId}`,
        organizationId: id,
        drawId: id,
        seedCommitment: draw.seedCommitment,
        entryId: entry.entryId,
        enteredAt: "2023-11-14T22:13:20.900Z",
        iat: 1_700_000_000
      })
    }).pipe(Effect.provide(layer))
  )

  it.effect("is signed once, and always has the same text", () =>
    Effect.gen(function* () {
      const receipts = yield* Receipts
      let runs = 0
      const counted = Effect.sync(() => {
        runs++
        return draw
      })
      const first = yield* receipts.receipt(entry, counted)
      assert.strictEqual(yield* receipts.receipt(entry, counted), first)
      assert.strictEqual(runs, 1)
      const other = yield* receipts.receipt({ ...entry, entryId: "f0".repeat(13) }, counted)
      assert.notStrictEqual(other, first)
      assert.strictEqual(runs, 2)
    }).pipe(Effect.provide(layer))
  )

  it.effect("is neither a grant nor an access token", () =>
    Effect.gen(function* () {
      const receipt = yield* (yield* Receipts).receipt(entry, Effect.succeed(draw))
      assert.strictEqual((yield* (yield* Grants).verify(receipt))._tag, "Failure")
      assert.isUndefined(yield* (yield* Tokens).verifyAccess(receipt))
      assert.isUndefined(yield* (yield* Tokens).verifyRefresh(receipt))
    }).pipe(Effect.provide(layer))
  )

  it.effect("is signed with the current key", () =>
    Effect.gen(function* () {
      const keys = yield* SigningKeys
      const receipts = yield* Receipts
      const before = yield* receipts.receipt(entry, Effect.succeed(draw))
      const { current } = keys
      Object.defineProperty(keys, "current", { value: { ...current, kid: "another" }, configurable: true })
      const after = yield* receipts.receipt(entry, Effect.succeed(draw))
      assert.strictEqual(decodeProtectedHeader(after).kid, "another")
      assert.deepStrictEqual(decodeJwt(after), decodeJwt(before))
    }).pipe(Effect.provide(layer))
  )
})
