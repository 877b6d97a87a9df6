/**
 * The actors that run in this process, by kind, and the workers that wait for mechanisms that need an effect.
 */
import { actorDeciders, type ActorKind, type MechanismRef } from "../../domain/mechanism/Mechanism.ts"
import type { Actor } from "../actor/Actor.ts"
import type { AnyDecider } from "../actor/Batch.ts"
import type { MechanismMeasures } from "../../measures/MechanismMeasures.ts"
import type { ShardOwnership } from "./ShardOwnership.ts"

interface ActorAnswer<A> {
  readonly mechanism: MechanismRef<ActorKind>
  readonly answer: A
}

export class RunningActors {
  private readonly ownership: ShardOwnership
  private readonly actors = new Map<ActorKind, Set<Actor>>()
  private readonly workers = new Map<ActorKind, Set<() => void>>()

  private readonly measures: MechanismMeasures

  constructor(ownership: ShardOwnership, measures: MechanismMeasures) {
    this.ownership = ownership
    this.measures = measures
    measures.samples = () =>
      Array.from(this.actors.values()).flatMap((actors) => Array.from(actors, ({ sample }) => sample()))
  }

  /**
   * Runs `question` on every actor of a kind and returns the answers that are not undefined. Skips actors with a write
   * in progress. Skips actors that this process no longer owns, because a worker must not act on a lost mechanism.
   */
  query<A>(kind: ActorKind, question: (state: never) => A | undefined): ReadonlyArray<ActorAnswer<A>> {
    return Array.from(setOf(this.actors, kind)).flatMap(({ identity, query }) => {
      const answer = this.ownership.owns(identity.id) ? query(question) : undefined
      return answer === undefined ? [] : [{ mechanism: { kind, id: identity.id, tenant: identity }, answer }]
    })
  }

  get size(): number {
    return Array.from(this.actors.values()).reduce((size, actors) => size + actors.size, 0)
  }

  add(actor: Actor): void {
    setOf(this.actors, actor.identity.kind).add(actor)
    this.committed(actor)
  }

  /** Counts a failure of an actor or of its start. */
  failed(): void {
    this.measures.restarts++
  }

  delete(actor: Actor): void {
    setOf(this.actors, actor.identity.kind).delete(actor)
  }

  /** Calls the workers of the actor's kind, if its committed state needs an effect. */
  committed({ identity: { kind }, query }: Actor): void {
    const { needsEffect }: AnyDecider = actorDeciders[kind]
    if (needsEffect === undefined || query(needsEffect) !== true) return
    for (const onNeed of setOf(this.workers, kind)) onNeed()
  }

  /** Calls `onNeed` when an actor of the kind starts or commits and needs an effect; see `Engine`. */
  onEffectNeeded(kind: ActorKind, onNeed: () => void): () => void {
    const workers = setOf(this.workers, kind)
    workers.add(onNeed)
    return () => void workers.delete(onNeed)
  }
}

const setOf = <A>(sets: Map<ActorKind, Set<A>>, kind: ActorKind): Set<A> => {
  let set = sets.get(kind)
  if (set === undefined) sets.set(kind, (set = new Set()))
  return set
}
