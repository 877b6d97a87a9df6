/**
 * S2: every operation of both APIs under requests made from its declaration, over real HTTP. An operation that is new
 * joins by its row in the matrix.
 */
import { Effect } from "effect"
import { IpNetwork } from "effect/net"
import { Agent } from "node:http"
import { inputs } from "../matrix/inputs.ts"
import * as Fixture from "../support/usherFixture.ts"
import { declarations } from "./description.ts"
import { Figures } from "./Figures.ts"
import { proveOperation } from "./OperationProof.ts"

/** Both listeners; requests are counted by the address they say they come from. */
export const services = Fixture.layerWith({ trustedProxies: [IpNetwork.fromStringUnsafe("127.0.0.0/8")] })

/** What is proven of each operation: its name, and the effect that proves it. */
export function proofs(options: { readonly requests: number; readonly seed: number }) {
  const figures = new Figures(options.seed)
  const agent = new Agent({ keepAlive: true })
  const all = declarations().filter(({ operation: { name } }) => inputs[name] !== undefined)
  return {
    figures,
    operations: all.map((declared) => ({
      name: declared.operation.name,
      prove: Effect.suspend(() => proveOperation(declared, { ...options, agent, figures, all }))
    }))
  }
}
