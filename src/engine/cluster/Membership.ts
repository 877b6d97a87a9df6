/**
 * Whether a node may join those that are there, before it owns anything. One that could not work with them is refused, and
 * told why: each of these mistakes would otherwise be found by shoppers.
 */
import { Clock, Effect, Result } from "effect"
import { RunnerAddress } from "effect/cluster"
import { isIP } from "node:net"
import { StartRefused } from "../../settings/Settings.ts"
import { Heartbeat } from "../../store/coordination/Heartbeat.ts"
import * as Nodes from "../../store/coordination/Nodes.ts"
import * as Transport from "./Transport.ts"

/** Between two looks at whether a process at an address is still heard, or can be reached. */
const lookMillis = 250

/** Lets a node join; what it was started with is then known to the others. */
export const join = Effect.fnUntraced(function* (own: Nodes.Node, identity: Transport.Identity) {
  yield* refuseNowhere(own.address)
  yield* refuseTaken(own)
  const others = (yield* Nodes.alive).filter(({ address }) => address !== own.address)
  for (const other of others) {
    yield* refuseUnlike(own, other)
    yield* refuseUnreachable(own, other, identity)
  }
  yield* (yield* Heartbeat).join(own)
})

const refuse = (message: string) => Effect.fail(new StartRefused({ message }))

/** An address at which nobody could be reached. */
const refuseNowhere = (address: string) => {
  const host = hostOf(address)
  return host === "0.0.0.0" || host === "::"
    ? refuse(
        `CLUSTER_HOST: other nodes cannot reach this one at ${host}. Set it to the address they find this machine at.`
      )
    : Effect.void
}

/** A process that is heard from the same address: not the one before this that has just ended, but another. */
const refuseTaken = Effect.fnUntraced(function* ({ address, lockSeconds }: Nodes.Node) {
  const find = Effect.map(Nodes.alive, (nodes) => nodes.find((node) => node.address === address))
  const found = yield* find
  if (found === undefined) return
  for (let waited = 0; waited <= lockSeconds * 1_000; waited += lookMillis) {
    yield* Effect.sleep(lookMillis)
    const now = yield* find
    if (now === undefined) return
    if (now.heardAt.getTime() === found.heardAt.getTime()) continue
    return yield* refuse(
      `CLUSTER_HOST and CLUSTER_PORT: ${address} is the address of the node ${now.name} already, on this machine or on ` +
        "another. Give each node an address at which the others reach it and nobody else."
    )
  }
})

/** A node that works by other rules. */
const refuseUnlike = (own: Nodes.Node, other: Nodes.Node) => {
  if (other.schemaStep !== own.schemaStep) {
    return refuse(
      `The node ${other.name} at ${other.address} works with step ${other.schemaStep} of the database's schema, and this ` +
        `version of Usher with step ${own.schemaStep}. Run the same version on all nodes.`
    )
  }
  return other.lockSeconds === own.lockSeconds
    ? Effect.void
    : refuse(
        `CLUSTER_LOCK_SECONDS is ${own.lockSeconds} here, and ${other.lockSeconds} at the node ${other.name}. Give all nodes ` +
          "the same."
      )
}

/** A node that this one does not reach, or that cannot reach this one. */
const refuseUnreachable = (own: Nodes.Node, other: Nodes.Node, identity: Transport.Identity) => {
  if (isLoopback(hostOf(own.address)) && !isLoopback(hostOf(other.address))) {
    return refuse(
      `CLUSTER_HOST: the node ${other.name} at ${other.address} cannot reach this one at ${hostOf(own.address)}, which is ` +
        "each machine's own. Set it to the address other machines find this one at."
    )
  }
  return Effect.catchTag(reached(own, other, identity), "Unreached", ({ reason }) =>
    refuse(
      reason === "stranger"
        ? `What listens at ${other.address} is not the node ${other.name}: it does not have this database's key, so it belongs to ` +
            "another installation. Correct CLUSTER_HOST and CLUSTER_PORT of one of them."
        : `This node does not reach the node ${other.name} at ${other.address}: ${reason}. Open the way between the nodes ` +
            "(CLUSTER_PORT), or end that node if it is on its way out."
    )
  )
}

/** Tries for as long as the other may just be starting, be busy, or be on its way out; returns also when it is gone. */
const reached = Effect.fnUntraced(function* (own: Nodes.Node, other: Nodes.Node, identity: Transport.Identity) {
  const address = addressOf(other.address)
  const begun = yield* Clock.currentTimeMillis
  for (;;) {
    const found = yield* Effect.result(Transport.probe(identity, address))
    if (Result.isSuccess(found)) return
    const isLate = (yield* Clock.currentTimeMillis) - begun >= own.lockSeconds * 1_000
    if (isLate || found.failure.reason === "stranger") return yield* found.failure
    yield* Effect.sleep(lookMillis)
    if (!(yield* Nodes.alive).some((node) => node.address === other.address)) return
  }
})

const addressOf = (address: string): RunnerAddress.RunnerAddress => {
  const colon = address.lastIndexOf(":")
  return RunnerAddress.make(address.slice(0, colon), Number(address.slice(colon + 1)))
}

const hostOf = (address: string): string => addressOf(address).host

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "::1" || (isIP(host) === 4 && host.startsWith("127."))
