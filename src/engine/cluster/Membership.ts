/**
 * Checks whether a node may join the cluster, before it owns anything. A node that could not work with the others
 * refuses to start and says why. Otherwise shoppers would be the first to notice each of these mistakes.
 */
import { Effect, Result } from "effect"
import { RunnerAddress } from "effect/cluster"
import { conflictOf } from "../../domain/values/Release.ts"
import { isLoopback } from "../../settings/Loopback.ts"
import { StartRefused } from "../../settings/Settings.ts"
import { Heartbeat } from "../../store/coordination/Heartbeat.ts"
import * as Nodes from "../../store/coordination/Nodes.ts"
import * as Transport from "./Transport.ts"
import * as Time from "../../store/coordination/Time.ts"

/** Time between two checks of whether a node is still alive or can be reached. */
const checkMillis = 250

/** How long a node that starts tries to reach another one at least. On a starved machine that one is late, and not gone. */
const reachSecondsMin = 15

/** Joins the cluster, and publishes the options this node was started with. */
export const join = Effect.fnUntraced(function* (own: Nodes.Node, identity: Transport.Identity) {
  yield* refuseWildcard(own.address)
  yield* refuseTaken(own)
  const others = (yield* Nodes.alive).filter(({ address }) => address !== own.address)
  for (const other of others) {
    yield* refuseUnlike(own, other)
    yield* refuseUnreachable(own, other, identity)
  }
  yield* (yield* Heartbeat).join(own)
})

const refuse = (message: string) => Effect.fail(new StartRefused({ message }))

/** Refuses an address at which no node could be reached. */
const refuseWildcard = (address: string) => {
  const host = hostOf(address)
  return host === "0.0.0.0" || host === "::"
    ? refuse(
        `CLUSTER_HOST: other nodes cannot reach this one at ${host}. Set it to the address at which they reach this ` +
          "machine."
      )
    : Effect.void
}

/**
 * Refuses an address that another live process uses. The previous process of this node may still be listed there; it
 * no longer sends heartbeats.
 */
const refuseTaken = Effect.fnUntraced(function* ({ address, lockSeconds }: Nodes.Node) {
  const find = Effect.map(Nodes.alive, (nodes) => nodes.find((node) => node.address === address))
  const found = yield* find
  if (found === undefined) return
  for (let waited = 0; waited <= lockSeconds * 1_000; waited += checkMillis) {
    yield* Effect.sleep(checkMillis)
    const now = yield* find
    if (now === undefined) return
    if (now.heardAt.getTime() === found.heardAt.getTime()) continue
    return yield* refuse(
      `CLUSTER_HOST and CLUSTER_PORT: ${address} is the address of the node ${now.name} already, on this machine or on ` +
        "another. Give each node an address at which the others reach it and no other process."
    )
  }
})

/** Refuses if another node runs a release that this one does not work with, or with another lock time. */
const refuseUnlike = (own: Nodes.Node, other: Nodes.Node) => {
  const conflict = conflictOf(own.release, other.release)
  if (conflict !== undefined) {
    return refuse(
      `The node ${other.name} at ${other.address} runs Usher ${other.release.version}, and this one ${own.release.version}. They do ` +
        `not work together: ${conflict}. Versions in between can be upgraded to one after the other.`
    )
  }
  return other.lockSeconds === own.lockSeconds
    ? Effect.void
    : refuse(
        `CLUSTER_LOCK_SECONDS is ${own.lockSeconds} here, and ${other.lockSeconds} at the node ${other.name}. Give all nodes ` +
          "the same."
      )
}

/** Refuses if this node cannot reach the other one, or if the other one cannot reach this one. */
const refuseUnreachable = (own: Nodes.Node, other: Nodes.Node, identity: Transport.Identity) => {
  if (isLoopback(hostOf(own.address)) && !isLoopback(hostOf(other.address))) {
    return refuse(
      `CLUSTER_HOST: the node ${other.name} at ${other.address} cannot reach this one at ${hostOf(own.address)}, which ` +
        "is each machine's own. Set it to the address at which other machines reach this one."
    )
  }
  return Effect.catchTag(reached(own, other, identity), "Unreached", ({ reason }) =>
    refuse(
      reason === "stranger"
        ? `The process at ${other.address} is not the node ${other.name}: it does not have this database's key, so it ` +
            "belongs to another installation. Correct CLUSTER_HOST and CLUSTER_PORT of one of them."
        : `This node does not reach the node ${other.name} at ${other.address}: ${reason}. Allow connections between the nodes ` +
            `(CLUSTER_PORT), or end that node if it is stopping.${fromElsewhere(own, other)}`
    )
  )
}

/** At their own loopback two nodes of different machines never meet. `--processes` without CLUSTER gives them these. */
const fromElsewhere = (own: Nodes.Node, other: Nodes.Node): string =>
  isLoopback(hostOf(own.address)) && isLoopback(hostOf(other.address))
    ? " If that node runs on another machine, start both with CLUSTER=true and a CLUSTER_HOST that the other reaches."
    : ""

/** Retries while the other node may be starting, busy or stopping. Also returns when the other node is gone. */
const reached = Effect.fnUntraced(function* (own: Nodes.Node, other: Nodes.Node, identity: Transport.Identity) {
  const address = addressOf(other.address)
  const begun = yield* Time.serverNow
  for (;;) {
    const found = yield* Effect.result(Transport.probe(identity, address))
    if (Result.isSuccess(found)) return
    const isLate = (yield* Time.serverNow) - begun >= Math.max(own.lockSeconds, reachSecondsMin) * 1_000
    if (isLate || found.failure.reason === "stranger") return yield* found.failure
    yield* Effect.sleep(checkMillis)
    if (!(yield* Nodes.alive).some((node) => node.address === other.address)) return
  }
})

const addressOf = (address: string): RunnerAddress.RunnerAddress => {
  const colon = address.lastIndexOf(":")
  return RunnerAddress.make(address.slice(0, colon), Number(address.slice(colon + 1)))
}

const hostOf = (address: string): string => addressOf(address).host
