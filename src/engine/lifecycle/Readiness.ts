/**
 * Reports whether load balancers should send requests to this process (`/ready`). The process is ready while every
 * condition holds and it is not draining. Requests in progress are finished in either case.
 *
 * It is ready for reads (`/ready?for=reads`) also while the database is away: it shows places from its memory, and
 * refuses writes itself. So a balancer that asks for this keeps its servers when the database has a bad minute.
 */
import { Cache, Context, Deferred, Duration, Effect, Exit, Layer, type Scope } from "effect"
import { Engine } from "../Engine.ts"
import { Installation } from "../../store/coordination/Installation.ts"
import { Heartbeat } from "../../store/coordination/Heartbeat.ts"
import * as Time from "../../store/coordination/Time.ts"

/**
 * How long a report is cached, so that frequent probes do not load the database. A report of a failure expires
 * sooner.
 */
const readyMillis = 1_000
const unreadyMillis = 50

/** A condition that does not answer within this time does not hold. */
const conditionSeconds = 3

/** A wake-up that has had no effect for this long means a fault, not mere slowness. */
export const overdueSeconds = 10

/** The content of `/ready`. */
export interface Report {
  readonly isReady: boolean
  /** By condition: why it does not hold. */
  readonly reasons: { readonly [condition: string]: string }
  /** Problems that do not prevent the process from answering. */
  readonly remarks: { readonly [subject: string]: string }
  /** Information about the process, ready or not. */
  readonly facts: { readonly [subject: string]: unknown }
}

/** Returns why a condition does not hold, or undefined if it holds. A defect counts as not holding. */
export type Condition = Effect.Effect<string | undefined>

export class Readiness extends Context.Service<
  Readiness,
  {
    /** Adds a condition while the scope lives. `forReads` replaces it where only reads are asked for. */
    require(name: string, condition: Condition, forReads?: Condition): Effect.Effect<void, never, Scope.Scope>
    /** Adds a remark while the scope lives. A remark does not make the process unready. */
    remark(subject: string, condition: Condition): Effect.Effect<void, never, Scope.Scope>
    /** Adds a fact while the scope lives. The report omits it if it fails. */
    show(subject: string, fact: Effect.Effect<unknown, unknown>): Effect.Effect<void, never, Scope.Scope>
    readonly report: Effect.Effect<Report>
    /** Returns why the process cannot serve reads, by condition; empty if it can. Reads memory only. */
    readonly reasonsAgainstReads: Effect.Effect<Report["reasons"]>
    /** Makes the process unready. From then on each response closes its connection. */
    readonly drain: Effect.Effect<void>
    readonly isDraining: () => boolean
    /** Makes the process refuse new requests. Balancers have noticed by then; those in flight are finished. */
    readonly refuse: Effect.Effect<void>
    /** True if a request that begins now gets a 503 with `Retry-After`. */
    readonly isRefusing: () => boolean
    /** Returns when draining begins. Streams use it to end themselves. */
    readonly awaitDraining: Effect.Effect<void>
  }
>()("usher/engine/lifecycle/Readiness") {
  static readonly layer = Layer.effect(Readiness)(
    Effect.gen(function* () {
      const conditions = new Map<string, Condition>()
      const readConditions = new Map<string, Condition>()
      const remarks = new Map<string, Condition>()
      const facts = new Map<string, Effect.Effect<unknown, unknown>>()
      const draining = yield* Deferred.make<void>()
      let isDraining = false
      let isRefusing = false

      const reports = yield* Cache.makeWith(
        (_: "report") =>
          Effect.map(
            Effect.all([reasonsOf(conditions), reasonsOf(remarks), valuesOf(facts)], { concurrency: "unbounded" }),
            ([reasons, remarks, facts]): Report => ({
              isReady: Object.keys(reasons).length === 0,
              reasons,
              remarks,
              facts
            })
          ),
        {
          capacity: 1,
          timeToLive: (exit) =>
            Duration.millis(Exit.isSuccess(exit) && exit.value.isReady ? readyMillis : unreadyMillis)
        }
      )

      return {
        require: (name, condition, forReads = condition) =>
          Effect.andThen(held(conditions, name, condition), held(readConditions, name, forReads)),
        remark: (subject, condition) => held(remarks, subject, condition),
        show: (subject, fact) => held(facts, subject, fact),
        report: Effect.suspend(() =>
          isDraining
            ? Effect.succeed({ isReady: false, reasons: drainingReasons, remarks: {}, facts: {} })
            : Cache.get(reports, "report")
        ),
        reasonsAgainstReads: Effect.suspend(() =>
          isDraining ? Effect.succeed(drainingReasons) : reasonsOf(readConditions)
        ),
        drain: Effect.suspend(() => {
          isDraining = true
          return Deferred.succeed(draining, undefined)
        }),
        isDraining: () => isDraining,
        refuse: Effect.sync(() => void (isRefusing = true)),
        isRefusing: () => isRefusing,
        awaitDraining: Deferred.await(draining)
      }
    })
  )

  /**
   * The conditions of a whole process: the database takes writes, its schema is this version's, mechanisms are
   * restored.
   */
  static readonly layerConditions = Layer.effectDiscard(
    Effect.gen(function* () {
      const readiness = yield* Readiness
      const heartbeat = yield* Heartbeat
      const engine = yield* Engine
      yield* readiness.require("database", Effect.sync(heartbeat.problem), Effect.sync(heartbeat.conflict))
      yield* readiness.require("mechanisms", engine.problem)
      yield* readiness.remark("wake-ups", overdueRemark(engine))
      yield* readiness.remark("parked mechanisms", parkedRemark(engine))
      const { heldAt } = yield* Installation
      yield* readiness.remark(
        "hold",
        Effect.succeed(heldAt === undefined ? undefined : "reads only: see `usher resume`")
      )
    })
  )
}

const drainingReasons: Report["reasons"] = { process: "draining" }

/** Adds an entry to the map while the scope lives. */
const held = <A>(map: Map<string, A>, name: string, value: A) =>
  Effect.acquireRelease(
    Effect.sync(() => void map.set(name, value)),
    () => Effect.sync(() => map.delete(name))
  )

/** Returns the facts that are available in time. */
const valuesOf = (facts: ReadonlyMap<string, Effect.Effect<unknown, unknown>>) =>
  Effect.map(
    Effect.forEach(
      facts,
      ([subject, fact]) =>
        fact.pipe(
          Effect.timeout(Duration.seconds(conditionSeconds)),
          Effect.map((value) => [[subject, value] as const]),
          Effect.catchCause(() => Effect.succeed([]))
        ),
      { concurrency: "unbounded" }
    ),
    (found) => Object.fromEntries(found.flat())
  )

/** Returns the reasons of the conditions that do not hold, by name. */
const reasonsOf = (conditions: ReadonlyMap<string, Condition>) =>
  Effect.map(Effect.forEach(conditions, examine, { concurrency: "unbounded" }), (found) =>
    Object.fromEntries(found.flatMap(([name, reason]) => (reason === undefined ? [] : [[name, reason] as const])))
  )

const examine = ([name, condition]: readonly [string, Condition]) =>
  condition.pipe(
    Effect.timeoutOrElse({ duration: Duration.seconds(conditionSeconds), orElse: () => Effect.succeed("no answer") }),
    Effect.catchCause(() => Effect.succeed("failed")),
    Effect.map((reason) => [name, reason] as const)
  )

/**
 * Remarks on a transition that is overdue. It concerns its mechanism alone. If it made the process unready, the load
 * balancer would cut off all other mechanisms too.
 */
const overdueRemark = (engine: Engine["Service"]): Condition =>
  Effect.gen(function* () {
    const now = yield* Time.serverNow
    const wakeAt = yield* engine.overdue(now - overdueSeconds * 1_000)
    return wakeAt === undefined ? undefined : `overdue for ${Math.floor((now - wakeAt) / 1_000)} s`
  }).pipe(Effect.orElseSucceed(() => "not known"))

/** Remarks on parked mechanisms. They need an operator and do not affect other mechanisms. */
const parkedRemark = (engine: Engine["Service"]): Condition =>
  Effect.map(engine.parked, ({ length }) => (length === 0 ? undefined : `${length}: see \`usher mechanisms parked\``))
