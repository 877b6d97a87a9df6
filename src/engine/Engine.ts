/**
 * The live mechanisms. `Engine` is the only entry point to them. It finds the actor that owns a mechanism, starts it
 * from the journal if it is not running, and passes commands and queries to it.
 */
import { Context, Effect, Layer, Schema, type Stream } from "effect"
import type { Lifecycle, StatusFields } from "../domain/mechanism/Decider.ts"
import {
  type AdminCommand,
  type ConfigurationOf,
  type ConsumerCommand,
  type FactsOf,
  isOf,
  type ActorKind,
  actorKinds,
  type MechanismIdentity,
  type MechanismRef,
  type RefusalOf,
  type StateOf,
  type ViewOf
} from "../domain/mechanism/Mechanism.ts"
import type { UnitsReport } from "../domain/mechanism/UnitProtocol.ts"
import type { Millis } from "../domain/values/Time.ts"
import type { Journal } from "../store/journal/Journal.ts"
import type { Unavailable } from "../store/postgres/Unavailable.ts"
import type * as Actor from "./actor/Actor.ts"
import type { NodeShare } from "./cluster/NodeShare.ts"
import type { Following } from "./streams/LiveStreams.ts"
import { proofOf } from "./streams/Proofs.ts"
import * as Registry from "./registry/Registry.ts"
import type { ParkedMechanism } from "./registry/ActorSlot.ts"
import * as Time from "../store/coordination/Time.ts"

/** The mechanism does not exist for this tenant: the id is unknown, archived, or belongs to another tenant. 404 */
export class MechanismNotFound extends Schema.TaggedError<MechanismNotFound>()("MechanismNotFound", {
  kind: Schema.Literals(actorKinds)
}) {}

/** The errors that any command or query can fail with. */
export type EngineError = MechanismNotFound | Unavailable | Actor.Overloaded | Registry.Parked

/** The identity of a mechanism, and its settings. */
export interface Definition<K extends ActorKind> {
  readonly identity: MechanismIdentity<K>
  readonly configuration: ConfigurationOf<K>
}

/** A mechanism as its actor holds it at this moment. */
export interface Inspection<K extends ActorKind> extends Definition<K> {
  readonly status: StatusFields
  readonly lifecycle: Lifecycle
  /** What the mechanism says of its units; undefined if it sells from no stock. */
  readonly units: UnitsReport | undefined
  readonly live: {
    /** The number of places by status. */
    readonly counts: { readonly [status: string]: number }
    /** Over the last 60 seconds. */
    readonly entriesPerMinute: number
    readonly grantsPerMinute: number
    readonly lastSequence: number
    readonly node: string
    /** How often the actor was rebuilt after a failure. */
    readonly restarts: number
    readonly parked: boolean
  }
}

/** A mechanism after an admin's command. */
export interface AdminOutcome<K extends ActorKind> extends Inspection<K> {
  /** The consumers whose places the command itself changed, in the order of the changes. */
  readonly consumerIds: ReadonlyArray<string>
}

/** The facts of a mechanism that fit into one reply. A draw's proof does not fit; `Engine.proof` returns it. */
export type KnownFacts<K extends ActorKind> = Omit<FactsOf<K>, "proof">

/** A consumer's view, and the instant as of which it is certain if the database is away. */
export type ViewForStatus<K extends ActorKind> = ViewOf<K> & { readonly asOf?: Millis }

/** The result of a query for one mechanism. */
export interface QueryAnswer<K extends ActorKind, A> {
  readonly mechanism: MechanismRef<K>
  readonly answer: A
}

/** Why mechanisms cannot be reached while a process starts. */
export const beingRestored = "being restored"

export class Engine extends Context.Service<
  Engine,
  {
    /** Runs a consumer's command. Returns the consumer's view of its place once the outcome is on disk. */
    send<K extends ActorKind>(
      mechanism: MechanismRef<K>,
      command: ConsumerCommand<K>
    ): Effect.Effect<ViewOf<K>, RefusalOf<K> | EngineError>
    /** Runs an admin's command. Returns the mechanism as it is after the command. */
    sendAdmin<K extends ActorKind>(
      mechanism: MechanismRef<K>,
      command: AdminCommand<K>
    ): Effect.Effect<AdminOutcome<K>, RefusalOf<K> | EngineError>
    /** Returns a consumer's view of its place, from committed state and without SQL. */
    view<K extends ActorKind>(mechanism: MechanismRef<K>, consumerId: string): Effect.Effect<ViewOf<K>, EngineError>
    /**
     * Like `view`, for a status read. While the database is away the view is the last committed one, for up to a
     * minute, with the instant as of which it is certain. Fails with `Unavailable` if a failed write may have changed it.
     */
    viewForStatus<K extends ActorKind>(
      mechanism: MechanismRef<K>,
      consumerId: string
    ): Effect.Effect<ViewForStatus<K>, EngineError>
    /** Returns the public facts of the whole mechanism, from committed state and without SQL. */
    facts<K extends ActorKind>(mechanism: MechanismRef<K>): Effect.Effect<KnownFacts<K>, EngineError>
    /** Returns the proof of a draw in pieces; undefined before the drawing. */
    proof(draw: MechanismRef<"draw">): Effect.Effect<Stream.Stream<string, EngineError> | undefined, EngineError>
    /**
     * Returns the subscriptions to places of the mechanism. A consumer whose own place changes gets the change at
     * once. The other consumers, whose positions may have moved, get theirs at most once a second.
     */
    subscribers<K extends ActorKind>(mechanism: MechanismRef<K>): Effect.Effect<Following<ViewOf<K>>, EngineError>
    /** Returns the identity and the last committed configuration. Never waits for a write in progress. */
    definition<K extends ActorKind>(mechanism: MechanismRef<K>): Effect.Effect<Definition<K>, EngineError>
    /** Returns the mechanism's identity and its parents. Never waits for a write in progress. */
    identity<K extends ActorKind>(mechanism: MechanismRef<K>): Effect.Effect<MechanismIdentity, EngineError>
    /**
     * Calls `onChange` after each commit that changed the mechanism's configuration or status, and after the actor
     * was rebuilt. Returns an unsubscribe function. `onChange` must return immediately.
     */
    watch(mechanismId: string, onChange: () => void): () => void
    /** Returns the mechanism if it runs in this process; undefined if it would have to be started first. */
    peek<K extends ActorKind>(mechanism: MechanismRef<K>): Effect.Effect<Inspection<K> | undefined, EngineError>
    /** Returns the mechanism, and starts it if it does not run. */
    inspect<K extends ActorKind>(mechanism: MechanismRef<K>): Effect.Effect<Inspection<K>, EngineError>
    /**
     * Runs a query on every mechanism of a kind that runs in this process, and returns the defined results. Skips
     * mechanisms with a write in progress; a caller that depends on the result must query again.
     */
    query<K extends ActorKind, A>(
      kind: K,
      question: (state: StateOf<K>) => A | undefined
    ): Effect.Effect<ReadonlyArray<QueryAnswer<K, A>>>
    /**
     * Calls `onNeed` after each commit that leaves a mechanism of the kind in need of an effect, and when such a mechanism
     * is started in this process. Returns an unsubscribe function. `onNeed` must return immediately.
     *
     * Some needs come without a call, for example after a moment in which the process did not own the mechanism. So a worker
     * also queries now and then without one.
     */
    onEffectNeeded(kind: ActorKind, onNeed: () => void): () => void
    /** Starts a mechanism that has just been created, so that its timed transitions happen without a caller. */
    start(mechanismId: string): Effect.Effect<void>
    /** Lets a parked mechanism start again. */
    unpark(mechanismId: string): Effect.Effect<void>
    /** Returns the live processes, and how many of the named mechanisms each owns. */
    nodes(mechanismIds: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<NodeShare>, Unavailable>
    /** The number of mechanisms that run in this process. */
    readonly size: Effect.Effect<number>
    /** The mechanisms that are parked in this process. */
    readonly parked: Effect.Effect<ReadonlyArray<ParkedMechanism>>
    /**
     * Returns the earliest wake-up before an instant that has had no effect yet, among the mechanisms that this
     * process owns.
     */
    overdue(before: Millis): Effect.Effect<Millis | undefined, Unavailable>
    /**
     * Why mechanisms cannot be reached through this process: they are being restored, or no node owns them. Undefined once
     * the start of every unfinished mechanism has succeeded or failed.
     */
    readonly problem: Effect.Effect<string | undefined>
  }
>()("usher/engine/Engine") {
  /** The engine of one process, named `node`. It restores all unfinished mechanisms as soon as it is built. */
  static readonly layer = (options: { readonly node: string }): Layer.Layer<Engine, never, Journal> =>
    Layer.effect(
      Engine,
      Effect.zipWith(Registry.make(), Time.serverNow, (registry, now) => make(options.node, registry, now))
    )
}

/** Makes the engine over the mechanisms of this process, which is named `node`. */
export const make = (node: string, registry: Registry.Registry, startedAt: Millis): Engine["Service"] => {
  const actorFor = findIn(registry)

  const inspectionOf = (actor: Actor.Actor) =>
    Effect.map(actor.inspect, ({ configuration, status, lifecycle, units, ...live }) => ({
      identity: actor.identity,
      configuration,
      status,
      lifecycle,
      units,
      live: { ...live, node, restarts: registry.restarts(actor.identity.id), parked: false }
    }))

  // The types of `Engine` tie a kind to its commands, refusals and views. One untyped actor implements them all.
  return {
    send: (mechanism, command) => Effect.flatMap(actorFor(mechanism), (actor) => actor.send(command)),
    view: (mechanism, consumerId) => Effect.flatMap(actorFor(mechanism), (actor) => actor.view(consumerId)),
    viewForStatus: (mechanism, consumerId) =>
      Effect.suspend(
        () =>
          lastCommittedView(registry, mechanism, consumerId) ??
          Effect.catchTag(
            Effect.flatMap(actorFor(mechanism), (actor) => actor.view(consumerId)),
            "Unavailable",
            (error) => lastCommittedView(registry, mechanism, consumerId) ?? Effect.fail(error)
          )
      ),
    facts: (mechanism) => Effect.flatMap(actorFor(mechanism), (actor) => actor.facts),
    proof: (draw) =>
      Effect.flatMap(actorFor(draw), (actor) =>
        Effect.map(actor.facts, (facts) => proofOf(draw, facts as FactsOf<"draw">))
      ),
    subscribers: (mechanism) => Effect.map(actorFor(mechanism), ({ identity }) => registry.subscribers(identity.id)),
    sendAdmin: (mechanism, command) =>
      Effect.flatMap(actorFor(mechanism), (actor) =>
        Effect.flatMap(actor.send(command), (consumerIds) =>
          Effect.map(inspectionOf(actor), (inspection) => ({ ...inspection, consumerIds }))
        )
      ),
    definition: (mechanism) => Effect.map(actorFor(mechanism), definitionOf),
    identity: (mechanism) => Effect.map(actorFor(mechanism), (actor) => actor.identity),
    watch: registry.watch,
    peek: (mechanism) =>
      Effect.suspend(() => {
        const running = registry.running(mechanism.id)
        return running === undefined ? Effect.undefined : Effect.flatMap(ifFor(mechanism, running), inspectionOf)
      }),
    inspect: (mechanism) => Effect.flatMap(actorFor(mechanism), inspectionOf),
    query: (kind, question) => Effect.sync(() => registry.actors.query(kind, question)),
    onEffectNeeded: (kind, onNeed) => registry.actors.onEffectNeeded(kind, onNeed),
    start: (mechanismId) => Effect.ignore(registry.acquire(mechanismId)),
    unpark: registry.unpark,
    nodes: ({ length: mechanisms }) =>
      Effect.map(Time.serverNow, (heardAt) => [{ name: node, shards: null, mechanisms, startedAt, heardAt }]),
    size: Effect.sync(() => registry.actors.size),
    parked: Effect.sync(registry.parked),
    overdue: registry.overdue,
    problem: Effect.sync(() => (registry.isRestored() ? undefined : beingRestored))
  } as Engine["Service"]
}

/** Returns the last committed view while the database is away; undefined if there is none that is certain. */
export const lastCommittedView = (
  registry: Registry.Registry,
  mechanism: MechanismRef<ActorKind>,
  consumerId: string
): Effect.Effect<unknown> | undefined => {
  const { actor, asOf } = registry.former(mechanism.id) ?? {}
  const view = actor?.isFor(mechanism) === true ? actor.lastCommittedView(consumerId) : undefined
  return view === undefined ? undefined : Effect.succeed({ ...(view as object), asOf })
}

/** Finds the actor of a mechanism, and starts it if necessary. */
const findIn = (registry: Registry.Registry) => {
  // A mechanism that does not start is not found for other tenants either.
  const isForAnother = (mechanism: MechanismRef<ActorKind>): boolean => {
    const identity = registry.identity(mechanism.id)
    return identity !== undefined && !isOf(identity, mechanism)
  }
  return (mechanism: MechanismRef<ActorKind>): Effect.Effect<Actor.Actor, EngineError> => {
    const running = registry.running(mechanism.id)
    if (running !== undefined) return ifFor(mechanism, running)
    return registry.acquire(mechanism.id).pipe(
      Effect.mapError((error) => (isForAnother(mechanism) ? notFound(mechanism) : error)),
      Effect.flatMap((actor) => ifFor(mechanism, actor))
    )
  }
}

const definitionOf = ({ identity, configuration }: Actor.Actor) => ({ identity, configuration: configuration() })

/** Returns the actor if its mechanism exists for this caller. */
const ifFor = (mechanism: MechanismRef<ActorKind>, actor: Actor.Actor | undefined) =>
  actor !== undefined && actor.isFor(mechanism) ? Effect.succeed(actor) : Effect.fail(notFound(mechanism))

const notFound = ({ kind }: MechanismRef<ActorKind>) => new MechanismNotFound({ kind })
