/**
 * One simulated raffle, made of a seed: a random configuration, random consumers, shops and admins, appends that fail, and
 * processes that die in the middle. Runs the real engine over the memory journal in simulated time.
 */
import { Clock, Context, Effect, Exit, Layer, References, Result, Scope } from "effect"
import { TestClock } from "effect/testing"
import { createHash } from "node:crypto"
import * as Draw from "../../src/domain/draw/Draw.ts"
import { decodeProof } from "../../src/domain/draw/proof/Proof.ts"
import { verify } from "../../src/domain/draw/proof/Verification.ts"
import { creationOf } from "../../src/engine/lifecycle/Creation.ts"
import { Entropy } from "../../src/engine/actor/Entropy.ts"
import { Engine } from "../../src/engine/Engine.ts"
import { replay } from "../../src/engine/replay/Unchanged.ts"
import { Journal } from "../../src/store/journal/Journal.ts"
import * as JournalMemory from "../../src/store/journal/JournalMemory.ts"
import { Dice } from "../e2e/support/Dice.ts"
import { consumer, tenant } from "../engine/engineFixture.ts"
import * as FlawedJournal from "./FlawedJournal.ts"
import { entropyOf } from "./entropyOf.ts"

/** What came of a raffle. */
export interface Outcome {
  /** What must not be, in words. */
  readonly violations: ReadonlyArray<string>
  readonly events: number
  readonly wins: number
  readonly crashes: number
  readonly failures: number
  readonly isDrawn: boolean
}

interface Process {
  readonly engine: Engine["Service"]
  readonly kill: Effect.Effect<void>
}

const start = Date.parse("2026-11-21T18:00:00Z")
const id = "00000000-0000-7000-9000-000000000d01"
const draw = { kind: "draw", id, tenant } as const
const steps = 40

const signature = "5e".repeat(48)
const randomness = createHash("sha256").update(Buffer.from(signature, "hex")).digest("hex")

/** Plays the raffle of a seed to its end and looks at what is left. */
export const play = Effect.fnUntraced(
  function* (seed: number) {
    const dice = new Dice(seed)
    const entropy = entropyOf(seed)
    yield* TestClock.setTime(start)
    const configuration = anyConfiguration(dice)
    const identity = { ...tenant, id, kind: "draw", experienceId: id, sequenceId: id } as const
    const journal = yield* Journal
    yield* journal.create([creationOf<"draw">(identity, configuration, "admin", start, { entropy })])
    const raffle = new Raffle(dice, journal, entropy)
    yield* raffle.run
    return raffle.outcome((yield* JournalMemory.Tables).get(id)!)
  },
  Effect.provide([JournalMemory.layer, TestClock.layer(), Layer.succeed(References.MinimumLogLevel, "None")])
)

class Raffle {
  readonly run: Effect.Effect<void>
  readonly #dice: Dice
  readonly #journal: Journal["Service"]
  readonly #entropy: () => string
  readonly #consumers: number
  readonly #failureShare: number
  readonly #told = new Set<string>()
  #process: Process | undefined
  #lastOrdersAt = 0
  #crashes = 0
  #failures = 0

  constructor(dice: Dice, journal: Journal["Service"], entropy: () => string) {
    this.#dice = dice
    this.#journal = journal
    this.#entropy = entropy
    this.#consumers = dice.pick([3, 12, 40, 1_200])
    this.#failureShare = dice.pick([0, 0.02, 0.1])
    this.run = Effect.scoped(this.#play())
  }

  outcome({ events: recorded, places, record }: JournalMemory.Stored): Outcome {
    const events = recorded.map(({ event }) => event as Draw.Event)
    const state = Draw.decider.initial()
    const violations: Array<string> = []
    for (const event of events) {
      Draw.decider.evolve(state, event)
      const { WON = 0, COMPLETED = 0 } = Draw.decider.counts(state)
      if (event._tag === "Won" && WON + COMPLETED > state.configuration.winnerCount) violations.push("too many winners")
    }
    for (const [consumerId, row] of places) {
      if (JSON.stringify(row) !== JSON.stringify(Draw.decider.place(state, consumerId)))
        violations.push(`the place of ${consumerId} is not what its events say`)
    }
    const { difference } = replay(Draw.decider, events, 1)
    if (difference !== undefined) violations.push(`replayed otherwise: ${JSON.stringify(difference)}`)
    const facts = new Set(
      events.map((event) => `${event._tag} ${"consumerId" in event && event.consumerId} ${event.at}`)
    )
    for (const event of this.#told) if (!facts.has(event)) violations.push(`told but not on record: ${event}`)
    const count = (tag: Draw.Event["_tag"]) => events.filter(({ _tag }) => _tag === tag).length
    if (count("Drawn") > 1 || count("EntriesFixed") > 1 || count("SeedDrawn") !== 1) violations.push("drawn twice")
    const isDrawn = count("Drawn") === 1
    const isEnded = events.some(({ _tag, at }) => _tag === "Ended" && at < this.#lastOrdersAt)
    if (!isDrawn && !isEnded) violations.push("neither drawn nor ended")
    if (isDrawn) violations.push(...proofViolations(state))
    if (state.configuration.admissionExpirationSeconds !== undefined && record.status.teardownStatus !== "completed")
      violations.push("not torn down")
    return {
      violations,
      events: events.length,
      wins: count("Won"),
      crashes: this.#crashes,
      failures: this.#failures,
      isDrawn
    }
  }

  *#steps(): Generator<Effect.Effect<void, never, Scope.Scope>> {
    if (this.#consumers > 100)
      for (let n = 1; n <= this.#consumers; n++) yield this.#command(entry(this.#dice, consumer(n)))
    for (let step = 0; step < steps; step++) {
      for (let commands = this.#dice.between(0, 6); commands > 0; commands--) yield this.#command(this.#anyCommand())
      yield TestClock.adjust(this.#dice.pick([0, 1, 50, 400, 1_000, 3_000]))
      if (this.#dice.chance(0.1)) yield this.#crash()
    }
  }

  #play() {
    return Effect.gen({ self: this }, function* () {
      this.#process = yield* this.#boot()
      for (const step of this.#steps()) yield* step
      // The beacon gives the round at last, and every pause before a restart is over.
      for (let attempt = 0; attempt < 12; attempt++) {
        yield* TestClock.adjust("2 minutes")
        yield* this.#command(yield* this.#beacon())
      }
      // Where one win after the other expires it would go on for hours.
      this.#lastOrdersAt = yield* Clock.currentTimeMillis
      for (let attempt = 0; attempt < 3; attempt++) {
        yield* this.#command({ _tag: "End", by: "admin" })
        yield* TestClock.adjust("1 minute")
      }
      yield* this.#process.kill
    })
  }

  #boot() {
    const connection = FlawedJournal.connect(this.#journal, this.#dice, this.#failureShare, () => {})
    const surroundings = Context.make(Journal, connection.journal).pipe(Context.add(Entropy, this.#entropy))
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

  #crash(): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const dying = this.#process!
      this.#process = undefined
      yield* dying.kill
      this.#crashes++
      this.#process = yield* this.#boot()
    })
  }

  /** Sends a command and goes on; the answer counts if the process lives to give it. */
  #command(command: Draw.Command): Effect.Effect<void, never, Scope.Scope> {
    const process = this.#process!
    const sent: Effect.Effect<unknown, unknown> =
      "consumerId" in command
        ? process.engine
            .send(draw, command)
            .pipe(
              Effect.tap((view) => Effect.sync(() => this.#process === process && this.#note(command.consumerId, view)))
            )
        : process.engine.sendAdmin(draw, command)
    return sent.pipe(
      Effect.catch((error) => Effect.sync(() => this.#noteFailure(error))),
      Effect.forkScoped({ startImmediately: true }),
      Effect.asVoid
    )
  }

  /** The round that the draw waits for, or another one. */
  #beacon(): Effect.Effect<Draw.Command> {
    return Effect.map(this.#process!.engine.query("draw", Draw.awaitsBeacon), ([said]) => ({
      _tag: "ProvideBeacon",
      round: said?.answer ?? 1,
      randomness,
      signature
    }))
  }

  #note(consumerId: string, view: Draw.View): void {
    if ("enteredAt" in view) this.#told.add(`Entered ${consumerId} ${view.enteredAt}`)
    if ("wonAt" in view) this.#told.add(`Won ${consumerId} ${view.wonAt}`)
    if ("completedAt" in view) this.#told.add(`Completed ${consumerId} ${view.completedAt}`)
    if ("leftAt" in view && view.leftAt !== undefined) this.#told.add(`Left ${consumerId} ${view.leftAt}`)
  }

  #noteFailure(error: unknown): void {
    if ((error as { readonly _tag?: string })._tag === "Unavailable") this.#failures++
  }

  #anyCommand(): Draw.Command {
    const dice = this.#dice
    const consumerId = consumer(dice.between(1, this.#consumers))
    const roll = dice.next()
    if (roll < 0.5) return entry(dice, consumerId)
    if (roll < 0.62) return { _tag: "Leave", consumerId }
    if (roll < 0.72) return { _tag: "Deny", consumerId, reason: "FRAUD_DETECTED", by: "admin" }
    if (roll < 0.995) return { _tag: "Complete", consumerId, by: "admin" }
    return { _tag: "End", by: "admin" }
  }
}

/** What the proof of a draw says of it that is not so. */
const proofViolations = (state: Draw.State): ReadonlyArray<string> => {
  const proof = Result.getOrThrow(decodeProof(JSON.parse([...Draw.decider.facts!(state, 0).proof!(id)].join(""))))
  return verify(proof)
    .checks.filter(({ holds }) => !holds)
    .map(({ what }) => `the proof does not hold: ${what}`)
}

const entry = (dice: Dice, consumerId: string): Draw.Command => ({
  _tag: "Enter",
  consumerId,
  isGuest: dice.chance(0.5),
  loyaltyScore: dice.pick([0, 0, 0.25, 1])
})

const anyConfiguration = (dice: Dice): Draw.Configuration => {
  const closeAt = start + dice.between(2_000, 20_000)
  return {
    name: "simulated",
    timeZone: "UTC",
    ...(dice.chance(0.2) && { openAt: start + dice.between(1, 1_000) }),
    closeAt,
    drawAt: closeAt + dice.pick([0, 0, 500, 9_000]),
    supportsGuest: dice.chance(0.9),
    winnerCount: dice.pick([1, 2, 5, 30, 1_100]),
    continueSelectingUntilCompleted: dice.chance(0.5),
    loyaltyBiasEnabled: dice.chance(0.4),
    loyaltyWeight: dice.pick([0, 1, 2.5]),
    ...(dice.chance(0.8) && { admissionExpirationSeconds: dice.pick([1, 5, 30]) }),
    ...(dice.chance(0.3) && { capacity: dice.between(1, 30) }),
    ...(dice.chance(0.3) && { beacon: "drand" as const })
  }
}
