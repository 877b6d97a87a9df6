/**
 * The engine of one of several nodes on one database, with the same interface. Any node takes any request. A command
 * for a mechanism of this node goes straight into the actor's mailbox; a command for another node's mechanism goes to
 * its owner as a message.
 *
 * `effect/cluster` decides which node owns a mechanism. Mechanism ids fall into shards, and locks in the database
 * assign the shards to live nodes; there is no coordinator. Ownership says which node should write. The journal
 * decides which node can write, because a new owner takes each mechanism over there. A node trusts its memory only
 * while its locks are certain.
 */
import { Effect, Layer, Option, Schedule, type Scope, Stream } from "effect"
import { EntityId, Sharding, type ShardId } from "effect/cluster"
import { SqlClient } from "effect/sql"
import { Measures } from "../../measures/Measures.ts"
import type { ActorKind, MechanismRef } from "../../domain/mechanism/Mechanism.ts"
import { monotonicMillisOf } from "../../store/coordination/LeaseClock.ts"
import { Journal } from "../../store/journal/Journal.ts"
import { Unavailable } from "../../store/postgres/Unavailable.ts"
import * as Nodes from "../../store/coordination/Nodes.ts"
import * as MechanismEntity from "./MechanismEntity.ts"
import * as LineCopies from "./LineCopies.ts"
import * as Outbox from "./Outbox.ts"
import * as OwnerDirectory from "./OwnerDirectory.ts"
import * as RemoteCalls from "./RemoteCalls.ts"
import { IdentityCache } from "./IdentityCache.ts"
import * as Runtime from "./Runtime.ts"
import * as ShardLocks from "./ShardLocks.ts"
import { decode, decodeReply, encode, type Question, type Refused, type WireAnswers } from "./Wire.ts"
import * as Engine from "../Engine.ts"
import * as Registry from "../registry/Registry.ts"
import type { MechanismViews } from "../actor/Actor.ts"
import type { ShardOwnership } from "../registry/ShardOwnership.ts"
import type { Change } from "../actor/Change.ts"
import { annotated } from "../../measures/StateChange.ts"
import * as Time from "../../store/coordination/Time.ts"

type Service = Engine.Engine["Service"]

/** How often the node checks whether it has acquired shards. */
const checkMillis = 100

/** How often a front checks whether there is a node that owns mechanisms. */
const ownersMillis = 1_000

/** Why a front cannot reach any mechanism. */
const noOwner = "no node owns them"

/** The engine of one node of several. */
export const layer = (options: Runtime.Options) =>
  Layer.effect(Engine.Engine, make(options)).pipe(Layer.provide(Runtime.layer(options)))

const make = Effect.fnUntraced(function* ({
  node,
  ownsMechanisms
}: Runtime.Options): Effect.fn.Return<
  Service,
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
  const clock = yield* Time.serverClock
  const sql = yield* SqlClient.SqlClient
  const owners = yield* OwnerDirectory.OwnerDirectory
  const { cluster: measures } = yield* Measures
  const client = yield* MechanismEntity.MechanismEntity.client

  const shardOf = (id: string): ShardId.ShardId => sharding.getShardId(EntityId.make(id), ShardLocks.shardGroup)
  const owns = (id: string): boolean => locks.areValid() && sharding.hasShardId(shardOf(id))

  const calls = yield* RemoteCalls.make(transportOf(client, locks), {
    of: (id) => owners.of(shardOf(id)),
    forget: (id) => owners.forget(shardOf(id))
  })

  const lines = yield* LineCopies.make(calls.query)
  const askMany = (id: string) => (consumerIds: ReadonlyArray<string>) =>
    calls.query(id, { method: "viewMany", consumerIds }, () => undefined) as Effect.Effect<MechanismViews, Refused>
  const ownership: ShardOwnership = {
    owns,
    endedAt: locks.endedAt,
    takeOver: (heads) => journal.takeOver(heads.flatMap(({ identity: { id } }) => (owns(id) ? [id] : []))),
    elsewhere: {
      viewMany: (id, consumerIds) => lines.viewMany(id, consumerIds, askMany(id)),
      follow: (id) => Stream.map(client(id).Subscribe(), (change) => decode<Change>(change))
    }
  }

  const registry = yield* Registry.make(ownership)
  const local = Engine.make(node, registry, clock.currentTimeMillisUnsafe())
  yield* Layer.build(MechanismEntity.layer({ engine: local, registry, ownership }))
  locks.onRelease((isLost) => registry.release((id) => isLost(shardOf(id).id)))

  let isSettled = false
  const held = new Set<ShardId.ShardId>()
  /** Starts the mechanisms of shards that were acquired since the last check. */
  const startAcquired = Effect.suspend(() => {
    const { isNew, lost } = compare(held, sharding)
    measures.handovers += lost
    measures.shards = held.size
    return isNew
      ? Effect.andThen(
          registry.startUnfinished,
          Effect.sync(() => (isSettled = true))
        )
      : Effect.void
  })
  yield* Effect.forkScoped(Effect.repeat(startAcquired, Schedule.spaced(checkMillis)))
  if (!ownsMechanisms) yield* Effect.forkScoped(logOwners(locks))

  const { route, viewForStatus } = makeRoutes({ owns, locks, local, registry, lines, query: calls.query })

  /** Questions whose only parameter is the mechanism. */
  type Plain = "facts" | "definition" | "identity" | "inspect" | "peek"
  const plain = <M extends Plain>(method: M) =>
    ((mechanism: MechanismRef<ActorKind>) =>
      route<unknown, unknown>(mechanism.id, { method, mechanism }, local[method](mechanism))) as Service[M]
  const facts = plain("facts")

  const identities = new IdentityCache()
  const fetchIdentity = plain("identity")
  const fetchDefinition = plain("definition")

  const identity = ((mechanism: MechanismRef<ActorKind>) =>
    Effect.suspend(() => {
      if (owns(mechanism.id)) return local.identity(mechanism)
      const known = identities.identity(mechanism)
      if (known !== undefined) return Effect.succeed(known)
      return Effect.tap(fetchIdentity(mechanism), (found) => Effect.sync(() => identities.noteIdentity(found)))
    })) as Service["identity"]

  const definition = ((mechanism) =>
    Effect.suspend(() => {
      if (owns(mechanism.id)) return fetchDefinition(mechanism)
      const now = monotonicMillisOf(clock)
      const known = identities.definition(mechanism, now)
      if (known !== undefined) return Effect.succeed(known)
      return Effect.tap(fetchDefinition(mechanism), (found) => Effect.sync(() => identities.noteDefinition(found, now)))
    })) as Service["definition"]

  return {
    send: (mechanism, command) =>
      Effect.map(
        route(mechanism.id, { method: "send", mechanism, command }, local.send(mechanism, command)),
        (view) => {
          if (!owns(mechanism.id)) lines.note(mechanism, command.consumerId, view)
          return view
        }
      ),
    sendAdmin: (mechanism, command) =>
      route(mechanism.id, { method: "sendAdmin", mechanism, command }, local.sendAdmin(mechanism, command)),
    view: (mechanism, consumerId) =>
      route(mechanism.id, { method: "view", mechanism, consumerId }, local.view(mechanism, consumerId)),
    viewForStatus,
    facts,
    definition,
    identity,
    inspect: plain("inspect"),
    peek: plain("peek"),
    proof: (draw) =>
      Effect.suspend(() => {
        if (owns(draw.id)) return local.proof(draw)
        return Effect.map(facts(draw), ({ published }) =>
          published.drawnAt === undefined
            ? undefined
            : Stream.catchCause(client(draw.id).Proof({ draw: encode(draw) }), (cause) =>
                Stream.fail(new Unavailable({ cause }))
              )
        )
      }),
    subscribers: (mechanism) =>
      Effect.map(identity(mechanism), ({ id }) => {
        lines.noteQueue(mechanism)
        return registry.subscribers(id)
      }),
    watch: local.watch,
    query: local.query,
    onEffectNeeded: local.onEffectNeeded,
    start: (id) => Effect.ignore(route(id, { method: "start" }, local.start(id))),
    unpark: (id) => Effect.ignore(route(id, { method: "unpark" }, local.unpark(id))),
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
    size: local.size,
    parked: local.parked,
    overdue: local.overdue,
    problem: Effect.sync(() => {
      if (!locks.haveOwner()) return noOwner
      return isSettled || !ownsMechanisms ? undefined : Engine.beingRestored
    })
  }
})

/** Logs on a front when there is no node that owns mechanisms, and when there is one again. */
const logOwners = ({ haveOwner }: ShardLocks.ShardLocks["Service"]) => {
  let had = true
  return Effect.suspend(() => {
    const has = haveOwner()
    if (has === had) return Effect.void
    had = has
    return has
      ? annotated("owners.back")(Effect.logInfo("A node owns mechanisms again"))
      : annotated("owners.lost")(
          Effect.logWarning(
            "No node owns mechanisms, so requests for them get a 503. Start one with CLUSTER_ROLE=engine or CLUSTER_ROLE=all."
          )
        )
  }).pipe(Effect.repeat(Schedule.spaced(ownersMillis)), Effect.delay(ownersMillis))
}

type Client = Effect.Success<typeof MechanismEntity.MechanismEntity.client>

/**
 * Sends the questions once. The answers come in one reply or in several. Without an owner it fails: the cluster would
 * keep the message until there is one, and a command would run long after its caller had given up.
 */
const transportOf =
  (client: Client, { ownerless }: ShardLocks.ShardLocks["Service"]): Outbox.Transport =>
  (id, questions) =>
    Stream.paginate(undefined as number | undefined, (continuation) =>
      Effect.map(
        Effect.raceFirst(
          continuation === undefined ? client(id).Query({ questions }) : client(id).FetchMore({ continuation }),
          Effect.andThen(ownerless, Effect.fail(new Unavailable({ cause: noOwner })))
        ),
        (bytes): readonly [ReadonlyArray<WireAnswers>, Option.Option<number>] => {
          const reply = decodeReply(bytes)
          return [[reply.answers], Option.fromUndefinedOr(reply.continuation)]
        }
      )
    ).pipe(Stream.catchCause((cause) => Stream.fail(new Unavailable({ cause }))))

interface Routing {
  readonly owns: (mechanismId: string) => boolean
  readonly locks: ShardLocks.ShardLocks["Service"]
  readonly local: Service
  readonly registry: Registry.Registry
  readonly lines: LineCopies.LineCopies
  readonly query: RemoteCalls.Query
}

/** Makes the functions that return the owner's answer. Where this node is the owner, no message is sent. */
const makeRoutes = ({ owns, locks, local, registry, lines, query }: Routing) => {
  const routeTo: RemoteCalls.Query = (id, question, here) =>
    Effect.suspend(() => {
      const elsewhere = Effect.suspend(() => query(id, question, here))
      const answer = here()
      return answer === undefined ? elsewhere : Effect.catchIf(answer, Outbox.wasNotTried, () => elsewhere)
    })

  const route = <A, E>(id: string, question: Question, answer: Effect.Effect<A, E>): Effect.Effect<A, E> => {
    const here = () => (owns(id) ? (answer as Effect.Effect<unknown, Refused>) : undefined)
    return routeTo(id, question, here) as Effect.Effect<A, E>
  }

  /** While the database is away no node owns the mechanism, and the last owner answers from its memory. */
  const askForStatus: Service["viewForStatus"] = ((mechanism, consumerId) =>
    routeTo(
      mechanism.id,
      () => ({ method: "view", mechanism, consumerId, recall: locks.endedAt() === undefined ? "owner" : "former" }),
      () =>
        owns(mechanism.id)
          ? local.viewForStatus(mechanism, consumerId)
          : Engine.lastCommittedView(registry, mechanism, consumerId)
    )) as Service["viewForStatus"]

  const viewForStatus = ((mechanism, consumerId) =>
    Effect.suspend(() => {
      const ask = askForStatus(mechanism, consumerId)
      return owns(mechanism.id) || locks.endedAt() !== undefined ? ask : lines.view(mechanism, consumerId, ask)
    })) as Service["viewForStatus"]

  return { route, viewForStatus }
}

/** Brings the set of held shards up to date. Returns whether there is a new one, and how many are gone. */
function compare(held: Set<ShardId.ShardId>, sharding: Sharding.Sharding["Service"]) {
  let isNew = false
  let lost = 0
  for (const shard of ShardLocks.allShards) {
    if (!sharding.hasShardId(shard)) lost += held.delete(shard) ? 1 : 0
    else if (!held.has(shard)) {
      isNew = true
      held.add(shard)
    }
  }
  return { isNew, lost }
}
