/**
 * The engine of one of several nodes on one database: the same door, whichever node a mechanism lives on. Any node takes
 * any request. A mechanism that is this node's own is a call into its mailbox, as if there were no other node; another's
 * is a message to its owner.
 *
 * Who owns what is the business of `effect/cluster`: the mechanisms' ids fall into shards, and the shards to the nodes that
 * are there, by locks in the database; there is no coordinator. It says who should write. Who can is decided by the journal,
 * from which a new owner takes a mechanism over. And what a node remembers is believed no longer than its locks are certain.
 */
import { Clock, Effect, Layer, Option, Schedule, type Scope, Stream } from "effect"
import { EntityId, Sharding, type ShardId } from "effect/cluster"
import { SqlClient } from "effect/sql"
import type { MechanismRef } from "../../domain/mechanism/Mechanism.ts"
import type { Kind } from "../../domain/mechanism/Decider.ts"
import { monotonicMillisOf } from "../../store/coordination/LeaseClock.ts"
import { Journal, Unavailable } from "../../store/journal/Journal.ts"
import * as Nodes from "../../store/coordination/Nodes.ts"
import * as MechanismEntity from "./MechanismEntity.ts"
import * as OwnerDirectory from "./OwnerDirectory.ts"
import * as RemoteCalls from "./RemoteCalls.ts"
import { IdentityCache } from "./IdentityCache.ts"
import * as Runtime from "./Runtime.ts"
import * as ShardLocks from "./ShardLocks.ts"
import { decode, encode, type Question, type Refused, type WireAnswers, type WireReply } from "./Wire.ts"
import * as Engine from "../Engine.ts"
import * as Registry from "../registry/Registry.ts"
import type { MechanismViews } from "../actor/Actor.ts"
import type { ShardOwnership } from "../registry/ShardOwnership.ts"
import type { Change } from "../actor/Change.ts"

/** How often it is looked whether shards have come. */
const lookMillis = 100

/** The engine of one node of several. */
export const layer = (options: Runtime.Options) =>
  Layer.effect(Engine.Engine, make(options.node)).pipe(Layer.provide(Runtime.layer(options)))

const make = Effect.fnUntraced(function* (
  node: string
): Effect.fn.Return<
  Engine.Engine["Service"],
  never,
  | Sharding.Sharding
  | ShardLocks.ShardLocks
  | OwnerDirectory.OwnerDirectory
  | Journal
  | SqlClient.SqlClient
  | Scope.Scope
> {
  const sharding = yield* Sharding.Sharding
  const locks = yield* ShardLocks.ShardLocks
  const journal = yield* Journal
  const clock = yield* Clock.Clock
  const sql = yield* SqlClient.SqlClient
  const owners = yield* OwnerDirectory.OwnerDirectory
  const client = yield* MechanismEntity.MechanismEntity.client

  const shardOf = (id: string): ShardId.ShardId => sharding.getShardId(EntityId.make(id), "default")
  const owns = (id: string): boolean => locks.areBelieved() && sharding.hasShardId(shardOf(id))

  /** Questions go out once; the answers come in one reply, or in several. */
  const carry: RemoteCalls.Transport = (id, questions) =>
    Stream.paginate(undefined as number | undefined, (ticket) =>
      Effect.map(
        ticket === undefined ? client(id).Ask({ questions }) : client(id).FetchMore({ ticket }),
        (bytes): readonly [ReadonlyArray<WireAnswers>, Option.Option<number>] => {
          const reply = decode<WireReply>(bytes)
          return [[reply.answers], Option.fromUndefinedOr(reply.continuation)]
        }
      )
    ).pipe(Stream.catchCause((cause) => Stream.fail(new Unavailable({ cause }))))

  const calls = yield* RemoteCalls.make(carry, {
    of: (id) => owners.of(shardOf(id)),
    forget: (id) => owners.forget(shardOf(id))
  })

  const territory: ShardOwnership = {
    owns,
    takeOver: (heads) => journal.takeOver(heads.flatMap(({ identity: { id } }) => (owns(id) ? [id] : []))),
    elsewhere: {
      viewMany: (id, consumerIds) =>
        calls.ask(id, { ask: "viewMany", consumerIds }, () => undefined) as Effect.Effect<MechanismViews, Refused>,
      follow: (id) => Stream.map(client(id).Follow(), (change) => decode<Change>(change))
    }
  }

  const registry = yield* Registry.make(territory)
  const here = Engine.make(node, registry, clock.currentTimeMillisUnsafe())
  yield* Layer.build(MechanismEntity.layer({ engine: here, registry, territory }))
  locks.onRelease((isLost) => registry.release((id) => isLost(shardOf(id).id)))

  let isSettled = false
  const held = new Set<ShardId.ShardId>()
  /** Starts what lives on shards that have come since the last look. */
  const look = Effect.suspend(() => {
    let isNew = false
    for (const shard of ShardLocks.allShards) {
      if (!sharding.hasShardId(shard)) held.delete(shard)
      else if (!held.has(shard)) {
        isNew = true
        held.add(shard)
      }
    }
    return isNew
      ? Effect.andThen(
          registry.startUnfinished,
          Effect.sync(() => (isSettled = true))
        )
      : Effect.void
  })
  yield* Effect.forkScoped(Effect.repeat(look, Schedule.spaced(lookMillis)))

  /** The owner's answer: at once where it is this node. */
  const route = <A, E>(id: string, question: Question, local: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.suspend(() => {
      const asked = () => (owns(id) ? (local as Effect.Effect<unknown, Refused>) : undefined)
      const elsewhere = Effect.suspend(() => calls.ask(id, question, asked))
      const answer = asked()
      return answer === undefined ? elsewhere : Effect.catchIf(answer, RemoteCalls.wasNotTried, () => elsewhere)
    }) as Effect.Effect<A, E>

  /** Questions that only name the mechanism. */
  type Plain = "facts" | "configuration" | "identity" | "inspect" | "peek"
  const plain = <Ask extends Plain>(ask: Ask): Engine.Engine["Service"][Ask] =>
    ((mechanism: MechanismRef<Kind>) =>
      route<unknown, unknown>(mechanism.id, { ask, mechanism }, here[ask](mechanism))) as Engine.Engine["Service"][Ask]
  const facts = plain("facts")

  const identities = new IdentityCache()
  const askIdentity = plain("identity")
  const askConfiguration = plain("configuration")

  const identity: Engine.Engine["Service"]["identity"] = (mechanism) =>
    Effect.suspend(() => {
      if (owns(mechanism.id)) return here.identity(mechanism)
      const known = identities.identity(mechanism)
      if (known !== undefined) return Effect.succeed(known)
      return Effect.tap(askIdentity(mechanism), (found) => Effect.sync(() => identities.noteIdentity(found)))
    })

  const configuration = ((mechanism) =>
    Effect.suspend(() => {
      const now = monotonicMillisOf(clock)
      const known = owns(mechanism.id) ? undefined : identities.configuration(mechanism, now)
      if (known !== undefined) return Effect.succeed(known)
      return Effect.tap(askConfiguration(mechanism), (found) =>
        Effect.sync(() => identities.noteConfiguration(mechanism, found, now))
      )
    })) as Engine.Engine["Service"]["configuration"]

  return {
    send: (mechanism, command) =>
      route(mechanism.id, { ask: "send", mechanism, command }, here.send(mechanism, command)),
    sendAdmin: (mechanism, command) =>
      route(mechanism.id, { ask: "sendAdmin", mechanism, command }, here.sendAdmin(mechanism, command)),
    view: (mechanism, consumerId) =>
      route(mechanism.id, { ask: "view", mechanism, consumerId }, here.view(mechanism, consumerId)),
    facts,
    configuration,
    identity,
    inspect: plain("inspect"),
    peek: plain("peek"),
    proof: (draw) =>
      Effect.suspend(() => {
        if (owns(draw.id)) return here.proof(draw)
        return Effect.map(facts(draw), ({ published }) =>
          published.drawnAt === undefined
            ? undefined
            : Stream.catchCause(client(draw.id).Proof({ draw: encode(draw) }), (cause) =>
                Stream.fail(new Unavailable({ cause }))
              )
        )
      }),
    subscribers: (mechanism) => Effect.map(identity(mechanism), ({ id }) => registry.subscribers(id)),
    watch: here.watch,
    query: here.query,
    onEffectNeeded: here.onEffectNeeded,
    start: (id) => Effect.ignore(route(id, { ask: "start" }, here.start(id))),
    unpark: (id) => Effect.ignore(route(id, { ask: "unpark" }, here.unpark(id))),
    nodes: (mechanismIds) =>
      Effect.map(Effect.all([Nodes.alive, Nodes.owners]), ([nodes, owners]) => {
        const owned = Map.groupBy(mechanismIds, (id) => owners.get(shardOf(id).id))
        return nodes.map(({ name, address, shards, startedAt, heardAt }) => ({
          name,
          shards,
          mechanisms: owned.get(address)?.length ?? 0,
          startedAt: startedAt.getTime(),
          heardAt: heardAt.getTime()
        }))
      }).pipe(Effect.provideService(SqlClient.SqlClient, sql)),
    size: here.size,
    parked: here.parked,
    overdue: here.overdue,
    isRestored: Effect.sync(() => isSettled)
  }
})
