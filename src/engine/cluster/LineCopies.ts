/**
 * Answers status reads and live streams about queues of other nodes from copies of their lines.
 *
 * A read waits for an update of its line that is asked for after the read has come. So its answer is as current as the
 * owner's own: it shows every write that was answered before, and never goes back. All reads that come while an update
 * is under way share the next one, so the owner answers one question for all of them. (The read index of Raft: Ongaro,
 * "Consensus: Bridging Theory and Practice", 2014.)
 *
 * Where a consumer does not wait any more, or this node has not seen its ticket, the owner is asked for the view.
 */
import { Effect, Exit, Fiber, type Scope } from "effect"
import type { ActorKind, MechanismRef } from "../../domain/mechanism/Mechanism.ts"
import { LineCopy, type LineUpdate, type WaitingPlace } from "../../domain/queue/LineCopy.ts"
import type { View } from "../../domain/queue/Queue.ts"
import { sameTenant } from "../../domain/values/Ids.ts"
import { SegmentedCache } from "../../domain/values/SegmentedCache.ts"
import { monotonicMillisOf } from "../../store/coordination/LeaseClock.ts"
import type { MechanismViews } from "../actor/Actor.ts"
import type { Query } from "./RemoteCalls.ts"
import type { Refused } from "./Wire.ts"
import * as Time from "../../store/coordination/Time.ts"

/** Queues with a copy, and consumers with a known place, at least. */
const linesMax = 1_000
const placesMax = 125_000

/** How long reads ask the owner after a queue had no line to copy. */
const pauseMillis = 5_000

/** After an update for this many reads, further reads gather for some milliseconds. */
const busyReads = 8
const gatherMillis = 5

interface Services {
  readonly query: Query
  /** Returns monotonic milliseconds. */
  readonly now: () => number
  readonly fork: (effect: Effect.Effect<void>) => void
}

/** Makes the copies of a node. Their fibers live in the surrounding scope. */
export const make = Effect.fnUntraced(function* (query: Query) {
  const scope: Scope.Scope = yield* Effect.scope
  const clock = yield* Time.serverClock
  const runFork = Effect.runForkWith(yield* Effect.context<never>())
  return new LineCopies({
    query,
    now: () => monotonicMillisOf(clock),
    fork: (effect) => void Fiber.runIn(runFork(effect), scope)
  })
})

export class LineCopies {
  private readonly services: Services
  private readonly lines = new SegmentedCache<SharedLine>(linesMax)
  private readonly places = new SegmentedCache<WaitingPlace>(placesMax)

  constructor(services: Services) {
    this.services = services
  }

  /** Notes that the queue exists for the tenant. */
  noteQueue(mechanism: MechanismRef<ActorKind>): void {
    if (mechanism.kind !== "queue" || this.lines.get(mechanism.id) !== undefined) return
    this.lines.set(mechanism.id, new SharedLine(this.services, mechanism as MechanismRef<"queue">))
  }

  /** Notes the view that the owner gave to a consumer. */
  note(mechanism: MechanismRef<ActorKind>, consumerId: string, view: unknown): void {
    if (mechanism.kind !== "queue") return
    this.noteQueue(mechanism)
    this.notePlace(mechanism.id, consumerId, view)
  }

  /** Returns the consumer's view. Where no copy shows it, `ask` asks the owner. */
  view<E>(
    mechanism: MechanismRef<ActorKind>,
    consumerId: string,
    ask: Effect.Effect<unknown, E>
  ): Effect.Effect<unknown, E> {
    const askAndNote = () => Effect.tap(ask, (answer) => Effect.sync(() => this.note(mechanism, consumerId, answer)))
    const line = this.lines.get(mechanism.id)
    if (line?.isReadableFor(mechanism) !== true || !this.places.has(keyOf(mechanism.id, consumerId)))
      return askAndNote()
    return Effect.flatMap(line.current, (copy) => {
      const known = this.viewIn(copy, mechanism.id, consumerId)
      return known === undefined ? askAndNote() : Effect.succeed(known)
    })
  }

  /** Returns the views of consumers whose streams this node serves. `ask` asks the owner for those that no copy shows. */
  viewMany<E>(
    queueId: string,
    consumerIds: ReadonlyArray<string>,
    ask: (consumerIds: ReadonlyArray<string>) => Effect.Effect<MechanismViews, E>
  ): Effect.Effect<MechanismViews, E> {
    const line = this.lines.get(queueId)
    if (line?.isReadable() !== true) return ask(consumerIds)
    return Effect.flatMap(line.current, (copy) => {
      const known = consumerIds.map((consumerId) => this.viewIn(copy, queueId, consumerId))
      const { sequence } = copy
      const unknown = consumerIds.filter((_, index) => known[index] === undefined)
      if (unknown.length === 0 && sequence !== undefined) {
        return Effect.succeed({ sequence, views: known, isOver: false })
      }
      return Effect.map(ask(unknown), (answer) => {
        const views = [...answer.views]
        unknown.forEach((consumerId, index) => this.notePlace(queueId, consumerId, views[index]))
        // The earlier of both moments: a stream that resumes from it misses nothing.
        return { ...answer, sequence: sequence ?? answer.sequence, views: known.map((view) => view ?? views.shift()) }
      })
    })
  }

  /** Returns the consumer's view if the copy shows it. Forgets a place that does not wait any more. */
  private viewIn(copy: LineCopy, queueId: string, consumerId: string): View | undefined {
    const key = keyOf(queueId, consumerId)
    const place = this.places.get(key)
    const view = place === undefined ? undefined : copy.view(place)
    if (view === undefined && copy.version !== undefined) this.places.delete(key)
    return view
  }

  /** Notes a consumer's place, if its view shows a ticket. */
  private notePlace(queueId: string, consumerId: string, view: unknown): void {
    const { status, ticket, joined, enteredAt } = view as { readonly status: string } & Partial<WaitingPlace>
    if (status !== "QUEUED" || ticket === undefined || joined === undefined || enteredAt === undefined) return
    this.places.set(keyOf(queueId, consumerId), { ticket, joined, enteredAt })
  }
}

const keyOf = (queueId: string, consumerId: string): string => `${queueId} ${consumerId}`

/** The copy of one line, and the reads that wait for its next update. */
class SharedLine {
  private readonly services: Services
  private readonly queue: MechanismRef<"queue">
  private readonly copy = new LineCopy()
  private reads: Array<(copy: Effect.Effect<LineCopy>) => void> = []
  private isUpdating = false
  private readableFrom = -Infinity

  constructor(services: Services, { kind, id, tenant }: MechanismRef<"queue">) {
    this.services = services
    this.queue = { kind, id, tenant }
  }

  /** False for some seconds after there was no line to copy. */
  isReadable(): boolean {
    return this.services.now() >= this.readableFrom
  }

  /** True if the line is also that of the mechanism that a caller names. */
  isReadableFor({ kind, tenant, includesArchived }: MechanismRef<ActorKind>): boolean {
    return kind === "queue" && includesArchived !== true && sameTenant(tenant, this.queue.tenant) && this.isReadable()
  }

  /** Returns the copy after the next update. */
  readonly current: Effect.Effect<LineCopy> = Effect.callback((answer) => {
    this.reads.push(answer)
    if (this.isUpdating) return
    this.isUpdating = true
    this.services.fork(this.updates)
  })

  private readonly updates: Effect.Effect<void> = Effect.suspend(() => {
    const reads = this.reads
    this.reads = []
    return Effect.flatMap(Effect.exit(this.update), (exit) => {
      const update = Exit.isSuccess(exit) ? exit.value : undefined
      this.copy.apply(update)
      if (update === undefined) this.readableFrom = this.services.now() + pauseMillis
      const copy = Effect.succeed(this.copy)
      for (const answer of reads) answer(copy)
      return reads.length >= busyReads ? Effect.delay(this.next, gatherMillis) : this.next
    })
  })

  private readonly next: Effect.Effect<void> = Effect.suspend(() => {
    if (this.reads.length > 0) return this.updates
    this.isUpdating = false
    return Effect.void
  })

  private readonly update = Effect.suspend(
    () =>
      this.services.query(
        this.queue.id,
        () => ({ method: "line", mechanism: this.queue, version: this.copy.version }),
        () => undefined
      ) as Effect.Effect<LineUpdate | undefined, Refused>
  )
}
