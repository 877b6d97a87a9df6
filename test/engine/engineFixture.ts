/**
 * An engine over the memory journal, with hands on the journal: appends can be held back, failed or counted.
 */
import { Context, Deferred, Effect, Exit, Layer, References, Scope, Stream } from "effect"
import * as Queue from "../../src/domain/queue/Queue.ts"
import { Engine } from "../../src/engine/Engine.ts"
import { recordOf } from "../../src/engine/actor/Record.ts"
import { type Commit, Journal } from "../../src/store/journal/Journal.ts"
import { Unavailable } from "../../src/store/postgres/Unavailable.ts"
import * as JournalMemory from "../../src/store/journal/JournalMemory.ts"

export const tenant = { organizationId: "00000000-0000-7000-8000-0000000000a1", mode: "live" } as const
export const stranger = { organizationId: "00000000-0000-7000-8000-0000000000b2", mode: "live" } as const

export const consumer = (n: number): string => `00000000-0000-7000-8000-${n.toString(16).padStart(12, "0")}`
export const queueId = (n = 1): string => `00000000-0000-7000-9000-${n.toString(16).padStart(12, "0")}`

export const queue = (n = 1) => ({ kind: "queue", id: queueId(n), tenant }) as const

/** By hand, for ever open: nothing happens without a command. */
export const byHand: Queue.Configuration = {
  name: "drop",
  timeZone: "UTC",
  supportsGuest: true,
  admitRate: 0,
  recycleExpiredAdmissions: false,
  loyaltyBiasEnabled: false,
  loyaltyHeadStartSeconds: 60
}

export const enter = (n: number) =>
  ({ _tag: "Enter", consumerId: consumer(n), isGuest: true, loyaltyScore: 0 }) as const
export const leave = (n: number) => ({ _tag: "Leave", consumerId: consumer(n) }) as const

/** The actions of a test on the journal. */
export class Hands extends Context.Service<
  Hands,
  {
    /** The commits that reached the journal, in order. */
    readonly commits: ReadonlyArray<Commit>
    /** Appends wait from now on, until the answer is run. */
    readonly hold: Effect.Effect<Effect.Effect<void>>
    /** The next append fails without being written. */
    readonly failNext: Effect.Effect<void>
    /** The next append is written, and fails all the same. */
    readonly failNextAfterWriting: Effect.Effect<void>
    /** The journal is out of reach from now on, until the answer is run. */
    readonly cut: Effect.Effect<Effect.Effect<void>>
  }
>()("usher/test/engine/Hands") {}

/** The memory journal under a test's hands. */
export const layerJournal: Layer.Layer<Journal | Hands | JournalMemory.Tables> = Layer.effectContext(
  Effect.gen(function* () {
    const journal = yield* Journal
    const commits: Array<Commit> = []
    let gate: Deferred.Deferred<void> | undefined
    let failure: "before" | "after" | undefined
    let isCut = false
    const unlessCut = <A, E>(effect: Effect.Effect<A, E>): Effect.Effect<A, E | Unavailable> =>
      Effect.suspend((): Effect.Effect<A, E | Unavailable> =>
        isCut ? Effect.fail(new Unavailable({ cause: "the test has cut it off" })) : effect
      )

    const append = Effect.fnUntraced(function* (commit: Commit) {
      commits.push(commit)
      if (gate !== undefined) yield* Deferred.await(gate)
      const fails = failure
      failure = undefined
      if (fails === "before") return yield* new Unavailable({ cause: "the test says so" })
      yield* journal.append(commit)
      if (fails === "after") return yield* new Unavailable({ cause: "the test says so" })
    })

    const hands = Hands.of({
      commits,
      hold: Effect.sync(() => {
        const held = Deferred.makeUnsafe<void>()
        gate = held
        return Effect.suspend(() => {
          gate = undefined
          return Deferred.succeed(held, undefined)
        })
      }),
      failNext: Effect.sync(() => void (failure = "before")),
      failNextAfterWriting: Effect.sync(() => void (failure = "after")),
      cut: Effect.sync(() => {
        isCut = true
        return Effect.sync(() => void (isCut = false))
      })
    })
    const reached = {
      append: (commit: Commit) => unlessCut(append(commit)),
      head: (id: string) => unlessCut(journal.head(id)),
      due: (at: number) => unlessCut(journal.due(at))
    }
    return Context.make(Journal, { ...journal, ...reached }).pipe(Context.add(Hands, hands))
  })
).pipe(Layer.provideMerge(JournalMemory.layer), Layer.merge(Layer.succeed(References.MinimumLogLevel, "None")))

/** Brings a queue into being, as the Admin API does. */
export const createQueue = Effect.fnUntraced(function* (n: number, configuration: Queue.Configuration) {
  const journal = yield* Journal
  const state = Queue.decider.initial()
  const event: Queue.Event = { _tag: "Configured", at: 0, configuration, by: "test" }
  Queue.decider.evolve(state, event)
  yield* journal.create([
    {
      identity: { ...tenant, id: queueId(n), kind: "queue", experienceId: queueId(100), sequenceId: queueId(101) },
      createdBy: "test",
      commit: {
        mechanismId: queueId(n),
        kind: "queue",
        expectedSequence: 0,
        events: [event],
        places: [],
        wakeAt: Queue.decider.wakeAt(state) ?? null,
        record: recordOf(Queue.decider, state, [event], 0)
      }
    }
  ])
})

/** An engine of its own over the surrounding journal, as another process would have; closed when the effect is run. */
export const anotherEngine = (node: string) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    const context = yield* Layer.buildWithScope(Layer.fresh(Engine.layer({ node })), scope)
    return { engine: Context.get(context, Engine), close: Scope.close(scope, Exit.void) }
  })

/** Recorded event tags of a queue, in order. */
export const recorded = Effect.fnUntraced(function* (n: number) {
  const journal = yield* Journal
  const head = yield* journal.head(queueId(n))
  const events = yield* Stream.runFold(
    journal.read(head!, 0),
    () => [] as Array<string>,
    (tags, page) => [...tags, ...page.map(({ event }) => event._tag)]
  )
  return events
})
