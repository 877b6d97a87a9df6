/** Proof of work against ALTCHA's own library. */
import { assert, describe, it } from "@effect/vitest"
import { solveChallenge } from "altcha-lib"
import { deriveKey } from "altcha-lib/algorithms/pbkdf2"
import { Effect } from "effect"
import * as ProofOfWork from "../../../src/auth/challenge/ProofOfWork.ts"

const secret = new Uint8Array(32).fill(7)
const proofs = ProofOfWork.make(secret)
const now = 1_800_000_000_000

const solved = Effect.fnUntraced(function* (issued = proofs.issue("guest a live", 40, now)) {
  const solution = yield* Effect.promise(() => solveChallenge({ challenge: issued, deriveKey }))
  return { issued, solution: solution! }
})

const encoded = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64")

describe("A challenge", () => {
  it.effect("is solved by ALTCHA's library with at most the work it names", () =>
    Effect.gen(function* () {
      for (let count = 0; count < 20; count++) {
        const { issued, solution } = yield* solved()
        assert.isAtMost(solution.counter, 40)
        assert.isAtLeast(solution.counter, 1)
        assert.deepStrictEqual(proofs.verify(encoded({ challenge: issued, solution }), now), {
          id: issued.parameters.nonce,
          scope: "guest a live",
          work: 40,
          issuedAt: now,
          expiresAt: now + 121_000
        })
      }
    })
  )

  it.effect("is verified whatever the order of its fields, and by every process with the secret", () =>
    Effect.gen(function* () {
      const { issued, solution } = yield* solved()
      const parameters = Object.fromEntries(Object.entries(issued.parameters).toReversed())
      const text = encoded({ solution, challenge: { signature: issued.signature, parameters } })
      assert.strictEqual(ProofOfWork.make(secret).verify(text, now)?.work, 40)
      assert.isUndefined(ProofOfWork.make(new Uint8Array(32)).verify(text, now))
    })
  )

  it.effect("expires", () =>
    Effect.gen(function* () {
      const { issued, solution } = yield* solved()
      const text = encoded({ challenge: issued, solution })
      assert.isDefined(proofs.verify(text, now + 120_999))
      assert.isUndefined(proofs.verify(text, now + 121_000))
    })
  )

  it.effect("is refused with any field changed, and with the solution of another", () =>
    Effect.gen(function* () {
      const { issued, solution } = yield* solved()
      const other = yield* solved()
      const { parameters, signature } = issued
      const changes = { cost: 1, expiresAt: 9e9, keyPrefix: "00", keySignature: "00", nonce: "00", salt: "00" }
      const wrong = [
        ...Object.entries(changes).map(([name, value]) => ({ ...parameters, [name]: value })),
        { ...parameters, data: { ...parameters.data, work: 1 } },
        { ...parameters, data: { ...parameters.data, scope: "guest b live" } }
      ]
      for (const changed of wrong) {
        const text = encoded({ challenge: { parameters: changed, signature }, solution })
        assert.isUndefined(proofs.verify(text, now))
      }
      assert.isUndefined(proofs.verify(encoded({ challenge: issued, solution: other.solution }), now))
    })
  )
})
