/**
 * S2: sends every operation of both APIs requests derived from its declaration, over real HTTP. A new operation takes
 * part through its row in the matrix.
 */
import { Effect } from "effect"
import { IpNetwork } from "effect/net"
import { Agent } from "node:http"
import { inputs } from "../matrix/inputs.ts"
import { sharedWorld } from "../matrix/world.ts"
import * as Fixture from "../support/usherFixture.ts"
import { declarations } from "./description.ts"
import { Figures } from "./Figures.ts"
import { proveOperation } from "./OperationProof.ts"

/** Both listeners. They count requests by the address in the forwarding header. */
export const services = Fixture.layerWith({ trustedProxies: [IpNetwork.fromStringUnsafe("127.0.0.0/8")] })

/** Returns the proof of each operation: its name, and the effect that runs it. */
export function proofs(options: { readonly requests: number; readonly seed: number }) {
  const figures = new Figures(options.seed)
  const agent = new Agent({ keepAlive: true })
  const shared = sharedWorld()
  const all = declarations().filter(({ operation: { name } }) => inputs[name] !== undefined)
  return {
    figures,
    operations: all.map((declared) => ({
      name: declared.operation.name,
      prove: Effect.suspend(() => proveOperation(declared, { ...options, agent, figures, shared, all }))
    }))
  }
}
