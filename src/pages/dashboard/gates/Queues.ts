/** The queues that the rules of gates name, called by their drops. */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import type { AdminApiClient } from "../../ApiClients.ts"
import type { Mechanism } from "../drop/Drop.ts"
import * as NamedMechanisms from "../NamedMechanisms.ts"

type Api = AdminApiClient["Service"]

export interface NamedQueue extends NamedMechanisms.NamedMechanism {
  readonly mechanism: Extract<Mechanism, { readonly type: "queue" }>
}

/** By the ids of the queues. */
export type NamedQueues = ReadonlyMap<string, NamedQueue>

/** Makes the function that returns the queues with these ids. Those that are archived are left out. */
export const makeQueues = (api: Api) => {
  const mechanisms = NamedMechanisms.makeMechanisms(api)
  return (operator: Operator, ids: ReadonlyArray<string>) => Effect.map(mechanisms(operator, ids), queuesOf)
}

/** Makes the function that returns the queues that a rule can name: the newest, and those with these ids. */
export const makeOffered = (api: Api) => {
  const offered = NamedMechanisms.makeOffered(api)
  return (operator: Operator, ids: ReadonlyArray<string>) =>
    Effect.map(offered(operator, ids, { query: { type: "queue" } }), queuesOf)
}

const queuesOf = (all: NamedMechanisms.NamedMechanisms): NamedQueues => new Map([...all].filter(isQueue))

const isQueue = (one: readonly [string, NamedMechanisms.NamedMechanism]): one is [string, NamedQueue] =>
  one[1].mechanism.type === "queue"
