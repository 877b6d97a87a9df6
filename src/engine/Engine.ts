/**
 * The live mechanisms. `Engine` is the only door to them: it finds the actor that owns a mechanism, started from the
 * journal if it is not running, and hands commands and questions to it.
 */
import { Clock, Context, Effect, Layer, Schema, Stream } from "effect"
import type { Kind, Lifecycle, MechanismIdentity, StatusFields } from "../domain/mechanism/Decider.ts"
import type {
  AdminCommand,
  ConfigurationOf,
  ConsumerCommand,
  FactsOf,
  MechanismRef,
  RefusalOf,
  StateOf,
  ViewOf
} from "../domain/mechanism/Mechanism.ts"
import type { Millis } from "../domain/values/Time.ts"
import type { Journal, Unavailable } from "../store/journal/Journal.ts"
import type * as Actor from "./actor/Actor.ts"
import type { Following } from "./streams/LiveStreams.ts"
import * as Registry from "./registry/Registry.ts"
import type { ParkedMechanism } from "./registry/ActorSlot.ts"

/** No mechanism of that kind and id, as far as this tenant is concerned: unknown, archived or another's. 404 */
export class MechanismNotFound extends Schema.TaggedError<MechanismNotFound>()("MechanismNotFound", {
  kind: Schema.Literals(["queue", "draw", "auction", "appointment", "timed_release", "waitlist"])
}) {}

/** What can keep any command or question from being answered. */
export type EngineError = MechanismNotFound | Unavailable | Actor.Overloaded | Registry.Parked

/** A mechanism as its actor holds it at this moment. */
export interface Inspection<K extends Kind> {
  readonly identity: MechanismIdentity
  readonly configuration: ConfigurationOf<K>
  readonly status: StatusFields
  readonly lifecycle: Lifecycle
  readonly live: {
    /** Places by status. */
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
export interface AdminOutcome<K extends Kind> extends Inspection<K> {
  /** The consumers whose places the command itself changed, in order. */
  readonly consumerIds: ReadonlyArray<string>
}

/** The facts of a mechanism that fit into an answer; a draw's proof does not, and is asked for by itself. */
export type KnownFacts<K extends Kind> = Omit<FactsOf<K>, "proof">

/** A process, and its share of some mechanisms. */
export interface NodeShare {
  readonly name: string
  /** Null where it has the database to itself. */
  readonly shards: number | null
  readonly mechanisms: number
  readonly startedAt: Millis
  readonly heardAt: Millis
}

/** A mechanism's answer to {@link Engine} `query`. */
export interface QueryAnswer<K extends Kind, A> {
  readonly mechanism: MechanismRef<K>
  readonly answer: A
}

export class Engine extends Context.Service<
  Engine,
  {
    /** Runs a consumer's command; answers the consumer's view of its place once the outcome is on disk. */
    send<K extends Kind>(
      mechanism: MechanismRef<K>,
      command: ConsumerCommand<K>
    ): Effect.Effect<ViewOf<K>, RefusalOf<K> | EngineError>
    /** Runs an admin's command; answers the mechanism as it then stands. */
    sendAdmin<K extends Kind>(
      mechanism: MechanismRef<K>,
      command: AdminCommand<K>
    ): Effect.Effect<AdminOutcome<K>, RefusalOf<K> | EngineError>
    /**
     * A consumer's view of its place: committed state, no SQL. Where an outage has stopped the actor, the view is as it was
     * then, for up to a minute; `Unavailable` if the write that failed may have changed it.
     */
    view<K extends Kind>(mechanism: MechanismRef<K>, consumerId: string): Effect.Effect<ViewOf<K>, EngineError>
    /** What anyone may know of the mechanism as a whole: committed state, no SQL. */
    facts<K extends Kind>(mechanism: MechanismRef<K>): Effect.Effect<KnownFacts<K>, EngineError>
    /** The proof of a draw, piece by piece; undefined before the drawing. */
    proof(draw: MechanismRef<"draw">): Effect.Effect<Stream.Stream<string, EngineError> | undefined, EngineError>
    /**
     * Returns where to follow places as they change. A consumer whose own place changes is sent it at once. The others,
     * whose position may have moved, are sent it at most once a second.
     */
    subscribers<K extends Kind>(mechanism: MechanismRef<K>): Effect.Effect<Following<ViewOf<K>>, EngineError>
    /** What an admin has set, as last committed; never waits for a write under way. */
    configuration<K extends Kind>(mechanism: MechanismRef<K>): Effect.Effect<ConfigurationOf<K>, EngineError>
    /** Who the mechanism is and where it belongs; never waits for a write under way. */
    identity<K extends Kind>(mechanism: MechanismRef<K>): Effect.Effect<MechanismIdentity, EngineError>
    /**
     * Calls `onChange` at once after each commit that changed the mechanism itself, in its configuration or its status, and
     * when it was rebuilt. `onChange` must return at once. Returns an unsubscribe function.
     */
    watch(mechanismId: string, onChange: () => void): () => void
    /** The mechanism as it stands, if it runs here; undefined if it would have to be started first. */
    peek<K extends Kind>(mechanism: MechanismRef<K>): Effect.Effect<Inspection<K> | undefined, EngineError>
    /** The mechanism as it stands. */
    inspect<K extends Kind>(mechanism: MechanismRef<K>): Effect.Effect<Inspection<K>, EngineError>
    /**
     * Asks every mechanism of a kind that runs in this process, and returns the answers that are not undefined. A mechanism
     * with a write under way does not answer; callers ask again.
     */
    query<K extends Kind, A>(
      kind: K,
      question: (state: StateOf<K>) => A | undefined
    ): Effect.Effect<ReadonlyArray<QueryAnswer<K, A>>>
    /**
     * Calls `onNeed` at once when a mechanism of the kind that runs in this process needs an effect: after each commit that
     * leaves it so, and when it is started so. `onNeed` must return at once. Returns an unsubscribe function.
     *
     * A call can be missed where {@link query} cannot answer, so a worker also looks now and then without one.
     */
    onEffectNeeded(kind: Kind, onNeed: () => void): () => void
    /** Starts a mechanism that has just been created, so that its timed transitions happen without a caller. */
    start(mechanismId: string): Effect.Effect<void>
    /** Starts a parked mechanism again. */
    unpark(mechanismId: string): Effect.Effect<void>
    /** The processes that are there, and how many of the named mechanisms each owns. */
    nodes(mechanismIds: ReadonlyArray<string>): Effect.Effect<ReadonlyArray<NodeShare>, Unavailable>
    /** How many mechanisms run in this process. */
    readonly size: Effect.Effect<number>
    /** The mechanisms that are parked in this process. */
    readonly parked: Effect.Effect<ReadonlyArray<ParkedMechanism>>
    /** The earliest wake-up before an instant that has not led to anything, of mechanisms that should run in this process. */
    overdue(before: Millis): Effect.Effect<Millis | undefined, Unavailable>
    /** True once every mechanism whose work is not over has been started, or has failed to. */
    readonly isRestored: Effect.Effect<boolean>
  }
>()("usher/engine/Engine") {
  /** The engine of one process, named `node`; restores at once whatever is unfinished. */
  static readonly layer = (options: { readonly node: string }): Layer.Layer<Engine, never, Journal> =>
    Layer.effect(
      Engine,
      Effect.zipWith(Registry.make(), Clock.currentTimeMillis, (registry, now) => make(options.node, registry, now))
    )
}

/** The door to what lives in this process, named `node`. */
export const make = (node: string, registry: Registry.Registry, startedAt: Millis): Engine["Service"] => {
  const actorFor = (mechanism: MechanismRef<Kind>): Effect.Effect<Actor.Actor, EngineError> => {
    const running = registry.running(mechanism.id)
    return running === undefined
      ? Effect.flatMap(registry.acquire(mechanism.id), (actor) => ifFor(mechanism, actor))
      : ifFor(mechanism, running)
  }

  /** The view of which the former actor is certain. */
  const recalled = (mechanism: MechanismRef<Kind>, consumerId: string): Effect.Effect<unknown> | undefined => {
    const former = registry.former(mechanism.id)
    const view = former?.isFor(mechanism) === true ? former.recall(consumerId) : undefined
    return view === undefined ? undefined : Effect.succeed(view)
  }

  const inspectionOf = (actor: Actor.Actor) =>
    Effect.map(actor.inspect, ({ configuration, status, lifecycle, ...live }) => ({
      identity: actor.identity,
      configuration,
      status,
      lifecycle,
      live: { ...live, node, restarts: registry.restarts(actor.identity.id), parked: false }
    }))

  // The door's types tie a mechanism's kind to its commands, refusals and views; behind it one actor serves them all.
  return {
    send: (mechanism, command) => Effect.flatMap(actorFor(mechanism), (actor) => actor.send(command)),
    view: (mechanism, consumerId) =>
      Effect.suspend(
        () =>
          recalled(mechanism, consumerId) ??
          Effect.catchTag(
            Effect.flatMap(actorFor(mechanism), (actor) => actor.view(consumerId)),
            "Unavailable",
            (error) => recalled(mechanism, consumerId) ?? Effect.fail(error)
          )
      ),
    facts: (mechanism) => Effect.flatMap(actorFor(mechanism), (actor) => actor.facts),
    proof: (draw) =>
      Effect.flatMap(actorFor(draw), (actor) =>
        Effect.map(actor.facts, (facts) => {
          const { proof } = facts as FactsOf<"draw">
          return proof === undefined ? undefined : inSlices(() => proof(draw.id))
        })
      ),
    subscribers: (mechanism) => Effect.map(actorFor(mechanism), ({ identity }) => registry.subscribers(identity.id)),
    sendAdmin: (mechanism, command) =>
      Effect.flatMap(actorFor(mechanism), (actor) =>
        Effect.flatMap(actor.send(command), (consumerIds) =>
          Effect.map(inspectionOf(actor), (inspection) => ({ ...inspection, consumerIds }))
        )
      ),
    configuration: (mechanism) => Effect.map(actorFor(mechanism), (actor) => actor.configuration()),
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
      Effect.map(Clock.currentTimeMillis, (heardAt) => [{ name: node, shards: null, mechanisms, startedAt, heardAt }]),
    size: Effect.sync(() => registry.actors.size),
    parked: Effect.sync(registry.parked),
    overdue: registry.overdue,
    isRestored: Effect.sync(registry.isRestored)
  } as Engine["Service"]
}

/** The pieces one by one, so that others have their turn between them. */
export const inSlices = (pieces: () => Iterable<string>): Stream.Stream<string> =>
  Stream.suspend(() => Stream.fromIterable(pieces(), { chunkSize: 1 })).pipe(Stream.tap(() => Effect.yieldNow))

/** The actor, if its mechanism exists for this caller. */
const ifFor = (mechanism: MechanismRef<Kind>, actor: Actor.Actor | undefined) =>
  actor !== undefined && actor.isFor(mechanism)
    ? Effect.succeed(actor)
    : Effect.fail(new MechanismNotFound({ kind: mechanism.kind }))
