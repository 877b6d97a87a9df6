/**
 * Creates mechanisms of all kinds. The rules judge the first configuration, the resulting events are the first
 * commit, and then the mechanism starts.
 */
import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import type { Command, Moment } from "../../domain/mechanism/Decider.ts"
import { type ExperienceWindow, withWindow } from "../../domain/experience/ExperienceWindow.ts"
import { isUuid, type Tenant } from "../../domain/values/Ids.ts"
import {
  type AdminCommand,
  type ActorKind,
  type ConfigurationOf,
  actorDeciders,
  type Kind,
  type MechanismIdentity
} from "../../domain/mechanism/Mechanism.ts"
import type { Millis } from "../../domain/values/Time.ts"
import type { Parents, WaitlistExists } from "../../store/experience/CreateInSequence.ts"
import { FormatVersion } from "../../store/coordination/FormatVersion.ts"
import { type Creation as JournalCreation, Journal } from "../../store/journal/Journal.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import type { RecordNotFound } from "../../store/records/RecordNotFound.ts"
import { Sequences } from "../../store/experience/Sequences.ts"
import { recordOf } from "../actor/Record.ts"
import { type AnyDecider, runBatch } from "../actor/Batch.ts"
import { Entropy, systemEntropy } from "../actor/Entropy.ts"
import { Engine } from "../Engine.ts"
import { Stocks } from "../../store/stock/Stocks.ts"
import { addTaker } from "./StockTakers.ts"
import { seededEntropy, seededId } from "../../store/testClock/SeededChance.ts"
import { TestClocks } from "../../store/testClock/TestClocks.ts"
import { NoticeSchedule } from "./NoticeSchedule.ts"
import * as Time from "../../store/coordination/Time.ts"

/** A request to create a mechanism. */
export interface CreateRequest<K extends Kind, E> {
  readonly kind: K
  readonly sequenceId: string
  /** Returns the configuration, completed from the mechanism's parents, or fails with a refusal. */
  readonly configure: (parents: Parents) => Effect.Effect<ConfigurationOf<K>, E>
}

/** A mechanism to create below a sequence. */
export interface Configured<K extends Kind = Kind> {
  readonly kind: K
  readonly experienceId: string
  readonly sequenceId: string
  readonly configuration: ConfigurationOf<K>
  /** The window of its experience at that moment. */
  readonly experienceWindow: ExperienceWindow | undefined
}

/** Creates mechanisms, all or none, in the caller's transaction. Returns their ids. Fails if a stock is unknown. */
export type CreateMechanisms = (
  mechanisms: ReadonlyArray<Configured>
) => Effect.Effect<ReadonlyArray<string>, RecordNotFound | Unavailable>

/** Mechanisms that are started at the same time. */
const startsAtOnce = 8

export class Creation extends Context.Service<
  Creation,
  {
    /**
     * Creates a mechanism below a sequence and starts it. Returns its id. The mechanism is durable when the call
     * returns.
     */
    create<K extends Kind, E>(
      tenant: Tenant,
      by: string,
      request: CreateRequest<K, E>
    ): Effect.Effect<string, E | RecordNotFound | WaitlistExists | Unavailable>
    /**
     * Runs `make`, which creates mechanisms in its own transaction, and starts them. `make` must return only after
     * its transaction has committed.
     */
    together<A, E, R>(
      tenant: Tenant,
      by: string,
      make: (createAll: CreateMechanisms) => Effect.Effect<A, E, R>
    ): Effect.Effect<A, E, R>
  }
>()("usher/engine/lifecycle/Creation") {
  static readonly layer = Layer.effect(Creation)(
    Effect.gen(function* () {
      const engine = yield* Engine
      const listTaker = addTaker(engine)
      const prepare = yield* makePrepare
      const journal = yield* Journal
      const sequences = yield* Sequences
      const notices = yield* NoticeSchedule

      const together = Effect.fn("Creation.together")(function* <A, E, R>(
        tenant: Tenant,
        by: string,
        make: (createAll: CreateMechanisms) => Effect.Effect<A, E, R>
      ) {
        const created: Array<Prepared> = []
        const createAll: CreateMechanisms = Effect.fnUntraced(function* (mechanisms) {
          const prepared = yield* Effect.forEach(mechanisms, (mechanism, index) =>
            prepare(tenant, by, mechanism, created.length + index)
          )
          yield* journal.create(prepared.map(({ creation }) => creation))
          created.push(...prepared)
          return prepared.map(({ identity }) => identity.id)
        })
        const made = yield* make(createAll)
        const start = ({ identity }: Prepared) => engine.start(identity.id)
        yield* Effect.forEach(created, start, { concurrency: startsAtOnce, discard: true })
        for (const { identity, stockId } of created) {
          // The check of a drop finds a mechanism that its stock does not list.
          if (stockId !== undefined) yield* Effect.ignore(listTaker(tenant, by, stockId, identity.id))
        }
        const opened = new Map(created.map(({ identity }) => [identity.sequenceId, identity]))
        yield* Effect.forEach(opened.values(), notices.reschedule, { discard: true })
        return made
      })

      const create = Effect.fn("Creation.create")(function* <K extends Kind, E>(
        tenant: Tenant,
        by: string,
        { kind, sequenceId, configure }: CreateRequest<K, E>
      ) {
        const [id] = yield* together(tenant, by, (createAll) =>
          sequences.createIn(
            tenant,
            sequenceId,
            kind,
            Effect.fnUntraced(function* (parents: Parents) {
              const { experienceId, experienceWindow } = parents
              const configuration = yield* configure(parents)
              return yield* createAll([{ kind, experienceId, sequenceId, configuration, experienceWindow }])
            })
          )
        )
        return id!
      })

      return { create, together }
    })
  )
}

/** A mechanism that is to be written. */
interface Prepared {
  readonly identity: MechanismIdentity
  readonly creation: JournalCreation
  readonly stockId: string | undefined
}

/** Makes the function that lets the rules judge a new mechanism. `index` is its place among those of its request. */
const makePrepare = Effect.gen(function* () {
  const stocks = yield* Stocks
  const chanceOf = yield* makeChance
  const formatVersion = yield* FormatVersion
  return Effect.fnUntraced(function* (
    tenant: Tenant,
    by: string,
    { kind, experienceId, sequenceId, configuration, experienceWindow }: Configured,
    index: number
  ) {
    const now = yield* Time.now
    const { id, entropy } = yield* chanceOf(tenant, () => `${kind} ${index} ${ownSettings(configuration)}`)
    const identity = { ...tenant, id, kind, experienceId, sequenceId }
    const stockId = stockOf(configuration)
    if (stockId !== undefined) yield* stocks.find(tenant, stockId)
    const options = { entropy, formatVersion: formatVersion.current }
    const creation = creationOf(identity, withWindow(configuration, experienceWindow), by, now, options)
    return { identity, creation, stockId } satisfies Prepared
  })
})

/** Returns settings as text, without the records that they name: those of a copy are others. */
const ownSettings = (configuration: object): string =>
  JSON.stringify(configuration, (_, value) => (typeof value === "string" && isUuid(value) ? undefined : value))

/** Makes the function that gives a new mechanism its id and its first chance, from the seed of a test clock if there is one. */
const makeChance = Effect.gen(function* () {
  const random = yield* SecureRandom.SecureRandom
  const entropy = yield* Entropy
  const clocks = yield* TestClocks
  let lastAt: Millis = 0
  return Effect.fnUntraced(function* (tenant: Tenant, key: () => string) {
    const clock = clocks.of(tenant)
    if (clock === undefined) return { id: yield* random.uuidV7(), entropy }
    // Two equal mechanisms of one millisecond would have one id.
    lastAt = Math.max(lastAt + 1, yield* Time.serverNow)
    const id = seededId(clock, lastAt, key())
    let draw = 0
    return { id, entropy: () => seededEntropy(clock, id, 0, draw++) }
  })
})

/** Returns the stock that a mechanism sells from. */
export const stockOf = (configuration: object): string | undefined =>
  "stockId" in configuration ? (configuration.stockId as string | undefined) : undefined

interface CreationOptions<K extends ActorKind> {
  readonly entropy?: Moment["entropy"]
  readonly formatVersion?: number
  /** Commands that follow the first configuration, in the same commit. */
  readonly commands?: ReadonlyArray<AdminCommand<K>>
}

/** Returns the first commit that the rules make from the first configuration. */
export function creationOf<K extends ActorKind>(
  identity: MechanismIdentity<ActorKind> & { readonly kind: K },
  configuration: ConfigurationOf<K>,
  by: string,
  now: Millis,
  { entropy = systemEntropy, formatVersion = 1, commands = [] }: CreationOptions<K> = {}
): JournalCreation {
  const decider: AnyDecider = actorDeciders[identity.kind]
  const state: unknown = decider.initial()
  const configure = { _tag: "Configure", configuration, by } as Command
  const { events } = runBatch(decider, state, [configure, ...commands], { now, entropy, level: formatVersion })
  return {
    identity,
    createdBy: by,
    commit: {
      mechanismId: identity.id,
      kind: identity.kind,
      expectedSequence: 0,
      formatVersion,
      events,
      places: [],
      wakeAt: decider.wakeAt(state) ?? null,
      record: recordOf(decider, state, events, now)
    }
  }
}
