/**
 * Messages to other nodes, and what their way tells: which node owns a shard.
 *
 * A message whose connection is cut is not sent again by itself, as it may have been carried out: who waits is told, and asks
 * again if that is right.
 */
import { Context, Effect, Exit, Layer } from "effect"
import { Reply, Runners, type ShardId, Snowflake } from "effect/cluster"

/** Where messages about shards went last: to the nodes that own them, unless they have just moved. */
export class OwnerDirectory extends Context.Service<
  OwnerDirectory,
  {
    /** The node's address, or a name for the shard alone while nobody has asked about it. */
    readonly of: (shard: ShardId.ShardId) => string
    /** The shard does not live there any more: the next message about it finds its way anew. */
    readonly forget: (shard: ShardId.ShardId) => void
  }
>()("usher/engine/cluster/OwnerDirectory") {}

/** The number of a reply that no node has given. */
const noReply = Snowflake.Snowflake(0n)

export const layer = Layer.effectContext(
  Effect.map(Runners.makeRpc, (runners) => {
    const known = new Map<number, string>()
    const send: Runners.Runners["Service"]["send"] = (options) => {
      const { message, address } = options
      known.set(message.envelope.address.shardId.id, `${address.host}:${address.port}`)
      return Effect.catchTag(runners.send(options), "RunnerUnavailable", (lost) =>
        message._tag === "OutgoingRequest"
          ? message.respond(
              new Reply.WithExit({ id: noReply, requestId: message.envelope.requestId, exit: Exit.die(lost) })
            )
          : Effect.void
      )
    }
    return Context.make(Runners.Runners, Runners.Runners.of({ ...runners, send })).pipe(
      Context.add(OwnerDirectory, {
        of: ({ id }) => known.get(id) ?? `shard ${id}`,
        forget: ({ id }) => void known.delete(id)
      })
    )
  })
).pipe(Layer.provide(Snowflake.layerGenerator))
