/**
 * `effect/cluster` as a node runs it: its shards and their locks, the way to other nodes, and what is checked before it joins.
 * Messages are not stored; the journal is the truth.
 */
import { Layer, Option } from "effect"
import { MessageStorage, RunnerAddress, RunnerHealth, RunnerServer, Sharding, ShardingConfig } from "effect/cluster"
import { RpcServer } from "effect/rpc"
import type * as Nodes from "../../store/coordination/Nodes.ts"
import * as Membership from "./Membership.ts"
import * as OwnerDirectory from "./OwnerDirectory.ts"
import * as ShardLocks from "./ShardLocks.ts"
import * as Transport from "./Transport.ts"

/** How often each node asks the database which nodes there are. */
const nodesMillis = 250

/** How long a door may go on answering before its shard is given away. */
const drainMillis = 500

export interface Options extends Transport.Identity {
  /** What this node is called. */
  readonly node: string
  /** Where it listens for the others, and they find it. */
  readonly host: string
  readonly port: number
  /** Seconds after which a node that is not heard has lost what it owned. */
  readonly lockSeconds: number
}

const nodeOf = ({ node, host, port, schemaStep, lockSeconds }: Options): Nodes.Node => ({
  address: `${host}:${port}`,
  name: node,
  schemaStep,
  lockSeconds
})

/** The nodes, their shards and how they talk. */
export const layer = (options: Options) => {
  const address = RunnerAddress.make(options.host, options.port)
  const lockMillis = options.lockSeconds * 1_000
  return RunnerServer.layer.pipe(
    Layer.provide(RpcServer.layerProtocolSocketServer),
    Layer.provide(Transport.layerServer(options, address)),
    Layer.provideMerge(Sharding.layer),
    Layer.provide(Layer.effectDiscard(Membership.join(nodeOf(options), options))),
    Layer.provide(RunnerHealth.layerPing),
    Layer.provideMerge(OwnerDirectory.layer),
    Layer.provide(Transport.layerClient(options)),
    Layer.provide(Transport.layerSerialization),
    Layer.provide(MessageStorage.layerNoop),
    Layer.provideMerge(ShardLocks.layer({ expirationMillis: lockMillis })),
    Layer.provideMerge(
      ShardingConfig.layer({
        runnerAddress: Option.some(address),
        shardsPerGroup: ShardLocks.shardsMax,
        shardLockExpiration: lockMillis,
        shardLockRefreshInterval: lockMillis / 3,
        // A lock that is a row outlives the connection of its owner, and ends at a time that the owner knows.
        shardLockDisableAdvisory: true,
        maxResidentEntities: "unbounded",
        // What a door has taken in is answered, but a shard does not wait for what is slow.
        entityTerminationTimeout: drainMillis,
        entityMessagePollInterval: nodesMillis,
        refreshAssignmentsInterval: nodesMillis,
        runnerHealthCheckInterval: lockMillis,
        simulateRemoteSerialization: false
      })
    )
  )
}
