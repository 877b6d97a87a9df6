/**
 * How mechanisms of all kinds are created. The kind's rules judge the first configuration, the events are the first
 * commit, and after it the mechanism is live.
 */
import { Clock, Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Command, Kind, MechanismIdentity } from "../../domain/mechanism/Decider.ts"
import { type ExperienceWindow, withWindow } from "../../domain/experience/ExperienceWindow.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { type ConfigurationOf, deciders } from "../../domain/mechanism/Mechanism.ts"
import type { Millis } from "../../domain/values/Time.ts"
import type { Parents, WaitlistExists } from "../../store/experience/BelowSequence.ts"
import { type Creation as JournalCreation, Journal, type Unavailable } from "../../store/journal/Journal.ts"
import type { RecordNotFound } from "../../store/records/RecordNotFound.ts"
import { Sequences } from "../../store/experience/Sequences.ts"
import { recordOf } from "../actor/Actor.ts"
import { type AnyDecider, runBatch } from "../actor/Batch.ts"
import { Entropy, systemEntropy } from "../actor/Entropy.ts"
import { Engine } from "../Engine.ts"
import { NoticeSchedule } from "./NoticeSchedule.ts"

/** A request to create a mechanism. */
export interface CreateRequest<K extends Kind, E> {
  readonly kind: K
  readonly sequenceId: string
  /** The configuration, completed from what the mechanism is created below; or a refusal. */
  readonly configure: (parents: Parents) => Effect.Effect<ConfigurationOf<K>, E>
}

/** A mechanism to be created below a sequence. */
export interface Configured<K extends Kind = Kind> {
  readonly kind: K
  readonly experienceId: string
  readonly sequenceId: string
  readonly configuration: ConfigurationOf<K>
  /** The window of its experience at that moment. */
  readonly experienceWindow: ExperienceWindow | undefined
}

/** Creates mechanisms, all or none, in the transaction it is called in. Returns their ids. */
export type CreateMechanisms = (
  mechanisms: ReadonlyArray<Configured>
) => Effect.Effect<ReadonlyArray<string>, Unavailable>

/** Mechanisms that are started at the same time. */
const startsAtOnce = 8

export class Creation extends Context.Service<
  Creation,
  {
    /** Creates a mechanism below a sequence and starts it. Returns its id. Durable when it returns. */
    create<K extends Kind, E>(
      tenant: Tenant,
      by: string,
      wanted: CreateRequest<K, E>
    ): Effect.Effect<string, E | RecordNotFound | WaitlistExists | Unavailable>
    /**
     * Runs `make`, which creates mechanisms in a transaction of its own. When it returns they are durable, and are
     * started.
     */
    together<A, E, R>(
      tenant: Tenant,
      by: string,
      make: (bring: CreateMechanisms) => Effect.Effect<A, E, R>
    ): Effect.Effect<A, E, R>
  }
>()("usher/engine/lifecycle/Creation") {
  static readonly layer = Layer.effect(
    Creation,
    Effect.gen(function* () {
      const engine = yield* Engine
      const journal = yield* Journal
      const sequences = yield* Sequences
      const notices = yield* NoticeSchedule
      const random = yield* SecureRandom.SecureRandom
      const entropy = yield* Entropy

      const together = Effect.fn("Creation.together")(function* <A, E, R>(
        tenant: Tenant,
        by: string,
        make: (bring: CreateMechanisms) => Effect.Effect<A, E, R>
      ) {
        const brought: Array<MechanismIdentity> = []
        const bring: CreateMechanisms = Effect.fnUntraced(function* (mechanisms) {
          const now = yield* Clock.currentTimeMillis
          const creations: Array<JournalCreation> = []
          for (const { kind, experienceId, sequenceId, configuration, experienceWindow } of mechanisms) {
            const identity = { ...tenant, id: yield* random.uuidV7(), kind, experienceId, sequenceId }
            creations.push(creationOf(identity, withWindow(configuration, experienceWindow), by, now, entropy))
          }
          yield* journal.create(creations)
          const identities = creations.map(({ identity }) => identity)
          brought.push(...identities)
          return identities.map(({ id }) => id)
        })
        const made = yield* make(bring)
        yield* Effect.forEach(brought, ({ id }) => engine.start(id), { concurrency: startsAtOnce, discard: true })
        const opened = new Map(brought.map((identity) => [identity.sequenceId, identity]))
        yield* Effect.forEach(opened.values(), notices.reschedule, { discard: true })
        return made
      })

      const create = Effect.fn("Creation.create")(function* <K extends Kind, E>(
        tenant: Tenant,
        by: string,
        { kind, sequenceId, configure }: CreateRequest<K, E>
      ) {
        const [id] = yield* together(tenant, by, (bring) =>
          sequences.below(
            tenant,
            sequenceId,
            kind,
            Effect.fnUntraced(function* (parents: Parents) {
              const { experienceId, experienceWindow } = parents
              const configuration = yield* configure(parents)
              return yield* bring([{ kind, experienceId, sequenceId, configuration, experienceWindow }])
            })
          )
        )
        return id!
      })

      return { create, together }
    })
  )
}

/** Returns the creation of a mechanism: its rules judge the first configuration, and the result is the first commit. */
export function creationOf<K extends Kind>(
  identity: MechanismIdentity,
  configuration: ConfigurationOf<K>,
  by: string,
  now: Millis,
  entropy = systemEntropy
): JournalCreation {
  const decider: AnyDecider = deciders[identity.kind]
  const state: unknown = decider.initial()
  const configure = { _tag: "Configure", configuration, by } as Command
  const { events } = runBatch(decider, state, [configure], { now, entropy })
  return {
    identity,
    createdBy: by,
    commit: {
      mechanismId: identity.id,
      kind: identity.kind,
      expectedSequence: 0,
      events,
      places: [],
      wakeAt: decider.wakeAt(state) ?? null,
      record: recordOf(decider, state, events, now)
    }
  }
}
