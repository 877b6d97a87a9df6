/**
 * Sends messages to other nodes and records which node owns each shard.
 *
 * A message whose connection breaks is not resent, because the owner may have carried it out. The caller gets the
 * failure and decides whether to ask again.
 */
import { Context, Effect, Exit, Layer } from "effect"
import { Reply, Runners, type ShardId, Snowflake } from "effect/cluster"

/** Where the last messages about each shard went: to its owner, unless the shard has just moved. */
export class OwnerDirectory extends Context.Service<
  OwnerDirectory,
  {
    /** Returns the node's address. Returns a name for the shard if this node has sent no message about it. */
    readonly of: (shard: ShardId.ShardId) => string
    /** Removes a shard that has moved. The next message about it looks the owner up. */
    readonly forget: (shard: ShardId.ShardId) => void
  }
>()("usher/engine/cluster/OwnerDirectory") {}

/** The id of a reply that this node makes up itself. */
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
