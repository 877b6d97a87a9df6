/**
 * One simulated drop, made of a seed: a random configuration, random consumers, admins and shops, appends that fail, and
 * processes that die in the middle. Runs the real engine over the memory journal in simulated time.
 */
import { Context, Effect, Exit, Layer, References, Scope } from "effect"
import { TestClock } from "effect/testing"
import * as Queue from "../../src/domain/queue/Queue.ts"
import { Entropy } from "../../src/engine/actor/Entropy.ts"
import { Engine } from "../../src/engine/Engine.ts"
import { replay } from "../../src/engine/replay/Unchanged.ts"
import { type Commit, Journal } from "../../src/store/journal/Journal.ts"
import * as JournalMemory from "../../src/store/journal/JournalMemory.ts"
import { Dice } from "../e2e/support/Dice.ts"
import { projectionErrors, read } from "../e2e/invariants/Invariants.ts"
import type { Recorded } from "../e2e/invariants/Reader.ts"
import { consumer, createQueue, queue, queueId } from "../engine/engineFixture.ts"
import * as FlawedJournal from "./FlawedJournal.ts"
import { entropyOf } from "./entropyOf.ts"

/** What came of a drop. */
export interface Outcome {
  /** What must not be, in words. */
  readonly violations: ReadonlyArray<string>
  readonly events: number
  readonly grants: number
  readonly acknowledged: number
  readonly crashes: number
  readonly failures: number
}

/** A process: an engine of its own, which can be killed. */
interface Process {
  readonly engine: Engine["Service"]
  readonly kill: Effect.Effect<void>
}

const start = Date.parse("2026-11-21T18:00:00Z")
const steps = 60

/** How late an admission may be noticed and still bear the time it was due at; later ones are not made up for. */
const catchUpMillis = 250

/** Plays the drop of a seed to its end and looks at what is left. */
export const play = Effect.fnUntraced(
  function* (seed: number) {
    const dice = new Dice(seed)
    yield* TestClock.setTime(start)
    const configuration = anyConfiguration(dice)
    yield* createQueue(1, configuration)
    const drop = new Drop(dice, configuration, yield* Journal, entropyOf(seed))
    yield* drop.run
    return drop.outcome((yield* JournalMemory.Tables).get(queueId(1))!)
  },
  Effect.provide([JournalMemory.layer, TestClock.layer(), Layer.succeed(References.MinimumLogLevel, "None")])
)

class Drop {
  readonly run: Effect.Effect<void>
  private readonly dice: Dice
  private readonly journal: Journal["Service"]
  private readonly entropy: () => string
  private configuration: Queue.Configuration
  private readonly consumers: number
  /** A crowd that comes all at once: rates are only felt by many. */
  private readonly isHerd: boolean
  private readonly failureShare: number
  private process: Process | undefined
  private readonly told = new Set<string>()
  /** The last grants that consumers were told of. */
  private readonly grants = new Map<string, number>()
  private readonly late: Array<string> = []
  private acknowledged = 0
  private crashes = 0
  private failures = 0

  constructor(dice: Dice, configuration: Queue.Configuration, journal: Journal["Service"], entropy: () => string) {
    this.dice = dice
    this.journal = journal
    this.entropy = entropy
    this.configuration = configuration
    this.isHerd = dice.chance(0.1)
    this.consumers = this.isHerd ? dice.between(150, 400) : dice.between(3, 40)
    this.failureShare = dice.pick([0, 0.02, 0.1])
    this.run = Effect.scoped(this.play())
  }

  outcome(stored: JournalMemory.Stored): Outcome {
    const history = stored.events.map(({ sequence, event }) => recordedOf(sequence, event))
    const reading = read(history)
    const recorded = new Set(history.map(({ type, consumerId, at }) => `${type} ${consumerId} ${at}`))
    const places = [...stored.places].map(([consumerId, place]) => ({
      consumerId,
      status: place.status,
      enteredAt: new Date(place.enteredAt).toISOString()
    }))
    const violations = [
      ...this.late,
      ...reading.violations,
      ...projectionErrors(history, history.length, places),
      ...[...this.told].filter((event) => !recorded.has(event)).map((event) => `told but not on record: ${event}`)
    ]
    const { difference } = replay(
      Queue.decider,
      stored.events.map(({ event }) => event),
      1
    )
    if (difference !== undefined) violations.push(`replayed otherwise: ${JSON.stringify(difference)}`)
    const isClosed = history.some(({ type }) => type === "Ended" || type === "Closed")
    if (this.configuration.closeAt !== undefined && !isClosed) violations.push("not closed at its time")
    if (isClosed && this.grantsExpire && stored.record.status.teardownStatus !== "completed") {
      violations.push("closed but not torn down")
    }
    return {
      violations,
      events: history.length,
      grants: reading.grants,
      acknowledged: this.acknowledged,
      crashes: this.crashes,
      failures: this.failures
    }
  }

  private *steps(): Generator<Effect.Effect<void, never, Scope.Scope>> {
    if (this.isHerd) for (let n = 1; n <= this.consumers; n++) yield this.command(entry(this.dice, consumer(n)))
    for (let step = 0; step < steps; step++) {
      for (let commands = this.dice.between(0, 6); commands > 0; commands--) yield this.command(this.anyCommand())
      if (this.dice.chance(0.3)) yield this.look()
      yield TestClock.adjust(this.dice.pick([0, 1, 7, 50, 400, 2_000, 11_000]))
      if (this.dice.chance(0.04)) yield this.crash()
    }
  }

  private play() {
    return Effect.gen({ self: this }, function* () {
      this.process = yield* this.boot()
      for (const step of this.steps()) yield* step
      // Every closing, expiry and pause before a restart is over in this time.
      yield* TestClock.adjust("4 minutes")
      yield* this.process.kill
    })
  }

  private boot() {
    const connection = FlawedJournal.connect(this.journal, this.dice, this.failureShare, (commit, now) =>
      this.noteLateness(commit, now)
    )
    const surroundings = Context.make(Journal, connection.journal).pipe(Context.add(Entropy, this.entropy))
    return Effect.gen(function* () {
      const scope = yield* Scope.make()
      const services = yield* Layer.buildWithScope(
        Layer.fresh(Engine.layer({ node: "simulated" })).pipe(Layer.provide(Layer.succeedContext(surroundings))),
        scope
      )
      const kill = Effect.suspend(() => {
        connection.cut()
        return Effect.andThen(Effect.forkDetach(Scope.close(scope, Exit.void)), TestClock.adjust(100))
      })
      return { engine: Context.get(services, Engine), kill: Effect.asVoid(kill) }
    })
  }

  /** The process dies; another one takes over. */
  private crash(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const dying = this.process!
      this.process = undefined
      yield* dying.kill
      this.crashes += 1
      this.process = yield* this.boot()
    })
  }

  /** Sends a command and goes on; the answer counts if the process lives to give it. */
  private command(command: Queue.Command): Effect.Effect<void, never, Scope.Scope> {
    const process = this.process!
    const sent: Effect.Effect<unknown, unknown> =
      "consumerId" in command
        ? process.engine
            .send(queue(1), command)
            .pipe(
              Effect.tap((view) => Effect.sync(() => this.process === process && this.note(command.consumerId, view)))
            )
        : process.engine.sendAdmin(queue(1), command)
    return sent.pipe(
      Effect.catch((error) => Effect.sync(() => this.noteFailure(error))),
      Effect.forkScoped({ startImmediately: true }),
      Effect.asVoid
    )
  }

  /** Someone looks at a place; what is seen must be on record as well. */
  private look(): Effect.Effect<void, never, Scope.Scope> {
    const process = this.process!
    const consumerId = this.anyone()
    return process.engine.view(queue(1), consumerId).pipe(
      Effect.tap((view) => Effect.sync(() => this.process === process && this.note(consumerId, view))),
      Effect.ignore,
      Effect.forkScoped({ startImmediately: true }),
      Effect.asVoid
    )
  }

  private note(consumerId: string, view: Queue.View): void {
    this.acknowledged += 1
    if ("enteredAt" in view) this.told.add(`Entered ${consumerId} ${view.enteredAt}`)
    if ("grantedAt" in view) {
      this.told.add(`Granted ${consumerId} ${view.grantedAt}`)
      this.grants.set(consumerId, view.grantSequence)
    }
    if ("completedAt" in view) this.told.add(`Completed ${consumerId} ${view.completedAt}`)
    if ("leftAt" in view) this.told.add(`Left ${consumerId} ${view.leftAt}`)
  }

  /** Admissions by rate that bear an old time would be a burst to those who watch. */
  private noteLateness({ events }: Commit, now: number): void {
    for (const event of events) {
      const isByRate = event._tag === "Granted" && !("by" in event)
      const lateness = now - event.at
      if (isByRate && lateness > catchUpMillis + FlawedJournal.slowMillisMax) {
        this.late.push(`an admission was made ${lateness} ms after the time it bears`)
      }
    }
  }

  private noteFailure(error: unknown): void {
    const tag = (error as { readonly _tag?: string })._tag
    if (tag === "Unavailable") this.failures += 1
  }

  private get grantsExpire(): boolean {
    const { admissionExpirationSeconds, admissionRenewal } = this.configuration
    return admissionExpirationSeconds !== undefined || admissionRenewal !== undefined
  }

  private renewal(): Queue.Command {
    const [consumerId, grantSequence] = this.dice.pick([...this.grants])
    return { _tag: "Renew", consumerId, grantSequence }
  }

  private anyone(): string {
    return consumer(this.dice.between(1, this.consumers))
  }

  private anyCommand(): Queue.Command {
    const { dice } = this
    const consumerId = this.anyone()
    const roll = dice.next()
    if (roll < 0.5) return entry(dice, consumerId)
    if (roll < 0.62) return { _tag: "Leave", consumerId }
    if (roll < 0.72) return { _tag: "Admit", consumerId, by: "admin" }
    if (roll < 0.78) return { _tag: "Deny", consumerId, reason: "FRAUD_DETECTED", by: "admin" }
    if (roll < 0.84 && this.grants.size > 0) return this.renewal()
    if (roll < 0.985) return { _tag: "Complete", consumerId, by: "admin" }
    if (roll < 0.996) {
      const { insideLimit } = this.configuration
      this.configuration = {
        ...this.configuration,
        admitRate: anyRate(dice),
        ...(insideLimit !== undefined && { insideLimit: dice.between(1, 12) })
      }
      return { _tag: "Configure", configuration: this.configuration, by: "admin" }
    }
    return { _tag: "End", by: "admin" }
  }
}

const entry = (dice: Dice, consumerId: string): Queue.Command => ({
  _tag: "Enter",
  consumerId,
  isGuest: dice.chance(0.5),
  loyaltyScore: dice.pick([0, 0, 0.25, 1])
})

const anyRate = (dice: Dice): number => dice.pick([0, 1, 6, 60, 61, 600, 7_000, 60_000, 90_000, 1_000_000])

function anyConfiguration(dice: Dice): Queue.Configuration {
  const hasLobby = dice.chance(0.3)
  const opensLater = hasLobby || dice.chance(0.2)
  const openAt = start + dice.between(500, 20_000)
  const expiring = dice.chance(0.7) ? { admissionExpirationSeconds: dice.pick([1, 2, 10, 60]) } : {}
  const isGate = dice.chance(0.4)
  return {
    name: "simulated",
    timeZone: "UTC",
    supportsGuest: dice.chance(0.9),
    admitRate: anyRate(dice),
    recycleExpiredAdmissions: dice.chance(0.5),
    loyaltyBiasEnabled: dice.chance(0.3),
    loyaltyHeadStartSeconds: dice.pick([0, 1, 60]),
    ...(opensLater ? { openAt } : {}),
    ...(hasLobby ? { lobbyOpenAt: start - 1_000 } : {}),
    ...(dice.chance(0.2) ? { closeAt: start + dice.between(21_000, 90_000) } : {}),
    ...(isGate ? anyGateSettings(dice, expiring) : expiring),
    ...(dice.chance(0.4) ? { capacity: dice.between(1, 20) } : {}),
    ...(dice.chance(0.5) ? { maxAdmissions: dice.between(1, 25) } : {})
  }
}

/** The settings of a queue in front of a site. */
const anyGateSettings = (dice: Dice, expiring: Partial<Queue.Configuration>): Partial<Queue.Configuration> => {
  const standby = dice.chance(0.7)
  const idleSeconds = dice.pick([1, 3, 12])
  return {
    standby,
    ...(dice.chance(0.8) ? { insideLimit: dice.between(1, 12) } : {}),
    ...(standby && dice.chance(0.5) ? { admitBurst: dice.pick([1, 3, 20]) } : {}),
    ...(dice.chance(0.6)
      ? { admissionRenewal: { idleSeconds, maxSeconds: idleSeconds * dice.pick([1, 4]) } }
      : expiring)
  }
}

/** An event of the domain as the invariants read events. */
function recordedOf(sequence: number, event: object): Recorded {
  const { _tag, at, consumerId, ...data } = event as Queue.Event & { readonly consumerId?: string }
  return { sequence, type: _tag, at, ...(consumerId === undefined ? {} : { consumerId }), data }
}
