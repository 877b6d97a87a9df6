/** The test vectors: proofs made by another program, with their expected order. */
import { Result } from "effect"
import { readFileSync } from "node:fs"
import { decodeProof, type Proof } from "../../../../src/domain/draw/proof/Proof.ts"

export interface Vector {
  readonly name: string
  readonly order: ReadonlyArray<string>
  readonly proof: Proof
}

const read = (name: string): any => JSON.parse(readFileSync(new URL(`./vectors/${name}.json`, import.meta.url), "utf8"))

export const vectors: ReadonlyArray<Vector> = ["equal", "weighted", "beacon", "all-win", "nobody"].map((name) => {
  const { order, proof } = read(name)
  return { name, order, proof: Result.getOrThrow(decodeProof(proof)) }
})

export const vector = (name: string): Vector => vectors.find((candidate) => candidate.name === name)!

/** u, weight, score. */
export const scores: ReadonlyArray<readonly [number, number, number]> = read("scores").scores
