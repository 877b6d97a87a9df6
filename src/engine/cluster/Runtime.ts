/**
 * The configuration of `effect/cluster`: shards and their locks, the transport to other nodes, and the checks before
 * a node joins. Messages are not stored; the journal holds the state.
 */
import { Layer, Option } from "effect"
import { MessageStorage, RunnerAddress, RunnerHealth, RunnerServer, Sharding, ShardingConfig } from "effect/cluster"
import { RpcServer } from "effect/rpc"
import type * as Nodes from "../../store/coordination/Nodes.ts"
import * as Membership from "./Membership.ts"
import * as OwnerDirectory from "./OwnerDirectory.ts"
import * as ShardLocks from "./ShardLocks.ts"
import * as Transport from "./Transport.ts"

/** How often each node reads the list of nodes from the database. */
const nodesMillis = 250

/** How long an entity may continue to answer before its shard is given away. */
const drainMillis = 500

export interface Options extends Transport.Identity {
  readonly node: string
  /** The address that this node listens on and other nodes connect to. */
  readonly host: string
  readonly port: number
  /** Seconds without a heartbeat after which a node has lost its shards. */
  readonly lockSeconds: number
  /** False for a front. It is in no shard's group, so it takes no shard, and no shard moves when it comes or goes. */
  readonly ownsMechanisms: boolean
}

const nodeOf = ({ node, host, port, release, lockSeconds }: Options): Nodes.Node => ({
  address: `${host}:${port}`,
  name: node,
  release,
  lockSeconds
})

/** The nodes, their shards and the transport between them. */
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
        assignedShardGroups: options.ownsMechanisms ? [ShardLocks.shardGroup] : [],
        shardLockExpiration: lockMillis,
        shardLockRefreshInterval: lockMillis / 3,
        // A row lock outlives the connection of its owner, and ends at a time that the owner knows.
        shardLockDisableAdvisory: true,
        maxResidentEntities: "unbounded",
        // An entity answers the messages it has received, but a shard does not wait for slow ones.
        entityTerminationTimeout: drainMillis,
        entityMessagePollInterval: nodesMillis,
        refreshAssignmentsInterval: nodesMillis,
        runnerHealthCheckInterval: lockMillis,
        simulateRemoteSerialization: false
      })
    )
  )
}
