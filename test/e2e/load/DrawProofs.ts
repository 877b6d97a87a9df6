/** Verifies the proof of each drawn draw, and that the proof never changes afterwards. */
import { Result } from "effect"
import { createHash } from "node:crypto"
import { decodeProof } from "../../../src/domain/draw/proof/Proof.ts"
import { verify } from "../../../src/domain/draw/proof/Verification.ts"
import { type Apis, Unexpected } from "../support/Apis.ts"
import type { Recorded } from "../invariants/Reader.ts"

export class DrawProofs {
  private readonly apis: Apis
  /** The digest of each draw's proof, by draw. */
  private readonly digests = new Map<string, string>()

  constructor(apis: Apis) {
    this.apis = apis
  }

  /** The number of draws whose proofs were verified. */
  get drawn(): number {
    return this.digests.size
  }

  /** Returns the defects of the proof of a draw with this history, in words. */
  async check(drawId: string, history: ReadonlyArray<Recorded>): Promise<ReadonlyArray<string>> {
    if (!history.some(({ type }) => type === "Drawn")) return []
    const path = `/api/draws/${drawId}/proof`
    const answer = await this.apis.consumer.send({ method: "GET", path, headers: this.apis.asShop })
    if (answer.status !== 200) throw new Unexpected(`GET ${path}`, answer)
    const digest = createHash("sha256").update(JSON.stringify(answer.body)).digest("hex")
    const before = this.digests.get(drawId)
    this.digests.set(drawId, digest)
    if (before !== undefined) return before === digest ? [] : ["its proof is not what it was"]
    const { checks } = verify(Result.getOrThrow(decodeProof(answer.body)))
    return checks.filter(({ holds }) => !holds).map(({ what }) => `its proof does not hold: ${what}`)
  }
}
