/**
 * Answers status reads about queues of other nodes from copies of their lines.
 *
 * A read waits for an update of its line that is asked for after the read has come. So its answer is as current as the
 * owner's own: it shows every write that was answered before, and never goes back. All reads that come while an update
 * is under way share the next one, so the owner answers one question for all of them. (The read index of Raft: Ongaro,
 * "Consensus: Bridging Theory and Practice", 2014, section 6.4.)
 *
 * A consumer that does not wait any more, or whose ticket this node has not seen, asks the owner itself.
 */
import { Clock, Effect, Exit, Fiber, type Scope } from "effect"
import type { Kind, MechanismRef } from "../../domain/mechanism/Mechanism.ts"
import { LineCopy, type LineUpdate, type WaitingPlace } from "../../domain/queue/LineCopy.ts"
import type { View } from "../../domain/queue/Queue.ts"
import { SegmentedCache } from "../../domain/values/SegmentedCache.ts"
import { monotonicMillisOf } from "../../store/coordination/LeaseClock.ts"
import type { Query } from "./RemoteCalls.ts"
import type { Refused } from "./Wire.ts"

/** Queues with a copy, and consumers with a known ticket, at least. */
const copiesMax = 1_000
const ticketsMax = 125_000

/** How long reads ask the owner after a queue had no line to copy. */
const pauseMillis = 5_000

/** After an update for this many reads, further reads gather for some milliseconds. */
const busyReads = 8
const gatherMillis = 5

/** A read that waits for the next update. */
interface Read {
  readonly ticket: WaitingPlace
  readonly answer: (view: Effect.Effect<View | undefined>) => void
}

/** Makes the reader. Its fibers live in the surrounding scope. */
export const make = Effect.fnUntraced(function* (query: Query) {
  const scope: Scope.Scope = yield* Effect.scope
  const clock = yield* Clock.Clock
  const runFork = Effect.runForkWith(yield* Effect.context<never>())
  const services: Services = {
    query,
    now: () => monotonicMillisOf(clock),
    fork: (effect) => void Fiber.runIn(runFork(effect), scope)
  }
  const lines = new SegmentedCache<SharedLine>(copiesMax)
  const tickets = new SegmentedCache<WaitingPlace>(ticketsMax)

  const lineOf = (queue: MechanismRef<"queue">): SharedLine => {
    let line = lines.get(queue.id)
    if (line === undefined) lines.set(queue.id, (line = new SharedLine(services, queue)))
    return line
  }

  /** Notes the consumer's ticket if the view of its place has one. */
  const note = (mechanism: MechanismRef<Kind>, consumerId: string, view: unknown): void => {
    if (mechanism.kind !== "queue") return
    const { status, ticket, enteredAt } = view as { readonly status: string } & Partial<WaitingPlace>
    if (status !== "QUEUED" || ticket === undefined || enteredAt === undefined) return
    tickets.set(keyOf(mechanism, consumerId), { ticket, enteredAt })
  }

  /** Returns the consumer's view. Where no copy shows it, `ask` asks the owner. */
  const view = <E>(
    mechanism: MechanismRef<Kind>,
    consumerId: string,
    ask: Effect.Effect<unknown, E>
  ): Effect.Effect<unknown, E> => {
    const askAndNote = Effect.tap(ask, (answer) => Effect.sync(() => note(mechanism, consumerId, answer)))
    if (!isQueue(mechanism)) return ask
    const ticket = tickets.get(keyOf(mechanism, consumerId))
    if (ticket === undefined) return askAndNote
    const line = lineOf(mechanism)
    if (!line.isReadable()) return ask
    return Effect.flatMap(line.read(ticket), (known) => (known === undefined ? askAndNote : Effect.succeed(known)))
  }

  return { note, view }
})

const isQueue = (mechanism: MechanismRef<Kind>): mechanism is MechanismRef<"queue"> =>
  mechanism.kind === "queue" && mechanism.includesArchived !== true

/** The key names the tenant, so that a ticket is found only for the tenant that the owner gave it to. */
const keyOf = ({ id, tenant: { organizationId, mode } }: MechanismRef<Kind>, consumerId: string): string =>
  `${id} ${consumerId} ${organizationId} ${mode}`

interface Services {
  readonly query: Query
  /** Returns monotonic milliseconds. */
  readonly now: () => number
  readonly fork: (effect: Effect.Effect<void>) => void
}

/** The copy of one line, and its readers. */
class SharedLine {
  private readonly services: Services
  private readonly queue: MechanismRef<"queue">
  private readonly copy = new LineCopy()
  private reads: Array<Read> = []
  private isUpdating = false
  private readableFrom = -Infinity

  constructor(services: Services, queue: MechanismRef<"queue">) {
    this.services = services
    this.queue = queue
  }

  isReadable(): boolean {
    return this.services.now() >= this.readableFrom
  }

  /** Returns the view after the next update; undefined if the ticket does not wait, or the line cannot be copied. */
  read(ticket: WaitingPlace): Effect.Effect<View | undefined> {
    return Effect.callback((answer) => {
      this.reads.push({ ticket, answer })
      if (this.isUpdating) return
      this.isUpdating = true
      this.services.fork(this.updates)
    })
  }

  private readonly updates: Effect.Effect<void> = Effect.suspend(() => {
    const reads = this.reads
    this.reads = []
    return Effect.flatMap(Effect.exit(this.update), (exit) => {
      const update = Exit.isSuccess(exit) ? exit.value : undefined
      this.copy.apply(update)
      if (update === undefined) this.readableFrom = this.services.now() + pauseMillis
      for (const { ticket, answer } of reads) answer(Effect.succeed(this.copy.view(ticket)))
      if (reads.length >= busyReads) return Effect.delay(this.next, gatherMillis)
      return this.next
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
