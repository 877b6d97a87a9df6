/** The handlers of the test clock on the Admin API. */
import { Effect, Latch, Option } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { randomBytes } from "node:crypto"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import type { AdvanceTestClock, SetTestClock, TestClock as Shown } from "../../../api/admin/TestClockApi.ts"
import { Conflict, Forbidden } from "../../../api/Errors.ts"
import { advanceProblem, progressOf, statusOf, type TestClock } from "../../../domain/organization/TestClock.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import type { Millis } from "../../../domain/values/Time.ts"
import { makeEnd } from "../../../engine/lifecycle/TestClockEnd.ts"
import { Invalidations } from "../../../store/coordination/Invalidations.ts"
import * as Time from "../../../store/coordination/Time.ts"
import { DueInstants } from "../../../store/testClock/DueInstants.ts"
import { TestClocks } from "../../../store/testClock/TestClocks.ts"
import { TestClockChanges } from "../../../store/testClock/TestClockChanges.ts"
import { issueAt } from "../../errors/Issues.ts"
import { invalidInput } from "../../errors/Validation.ts"
import { forTenant } from "../records/Operations.ts"

export const TestClockHandlers = HttpApiBuilder.group(AdminApi, "testClock", (handlers) =>
  Effect.gen(function* () {
    const [show, set, advance, remove] = [yield* makeShow, yield* makeSet, yield* makeAdvance, yield* makeEnd]
    return handlers.handleAll({
      getTestClock: () => inTestMode((tenant) => show(tenant)),
      setTestClock: ({ payload }) => inTestMode((tenant, by) => set(tenant, by, payload)),
      advanceTestClock: ({ payload }) => inTestMode((tenant) => advance(tenant, payload)),
      deleteTestClock: () => inTestMode((tenant, by) => Effect.map(remove(tenant, by), shown))
    })
  })
)

/** Makes the function that shows the clock, read now if it is not known. In READY that includes when something is due next. */
const makeShow = Effect.gen(function* () {
  const changes = yield* TestClockChanges
  const due = yield* DueInstants
  return Effect.fnUntraced(function* (tenant: Tenant, known?: TestClock) {
    const clock = known ?? (yield* changes.read(tenant))
    if (statusOf(clock) !== "READY") return shown(clock)
    const nextDueAt = yield* due.next(tenant, clock.frozenAt)
    return { ...shown(clock), ...(nextDueAt !== undefined && { nextDueAt }) }
  })
})

/** Pause between two looks at an advance, if no notification ends it. */
const lookMillis = 1_000

/** Makes the function that begins an advance to an instant, and shows the clock when it has ended, or after some seconds. */
const makeAwaited = Effect.gen(function* () {
  const clocks = yield* TestClocks
  const show = yield* makeShow

  /** Opens a latch when a notification shows that the advance has ended. */
  const ending = (tenant: Tenant, to: Millis) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        const latch = Latch.makeUnsafe()
        const unsubscribe = clocks.onChange(() => {
          const clock = clocks.of(tenant)
          const isUnderWay = clock !== undefined && statusOf(clock) === "ADVANCING"
          if (!isUnderWay && (clock?.problem !== undefined || (clock?.frozenAt ?? to) >= to)) latch.openUnsafe()
        })
        return { latch, unsubscribe }
      }),
      ({ unsubscribe }) => Effect.sync(unsubscribe)
    )

  return <E, R>(tenant: Tenant, to: Millis, seconds: number, begin: Effect.Effect<TestClock, E, R>) =>
    Effect.gen(function* () {
      const { latch } = yield* ending(tenant, to)
      yield* begin
      const look = Effect.gen(function* () {
        const notified = yield* Effect.timeoutOption(latch.await, lookMillis)
        latch.closeUnsafe()
        return yield* show(tenant, Option.isSome(notified) ? clocks.of(tenant) : undefined)
      }).pipe(Effect.repeat({ while: ({ status }) => status === "ADVANCING" }))
      return yield* Effect.timeoutOrElse(look, { duration: seconds * 1_000, orElse: () => show(tenant) })
    }).pipe(Effect.scoped)
})

const makeSet = Effect.gen(function* () {
  const changes = yield* TestClockChanges
  const invalidations = yield* Invalidations
  return Effect.fnUntraced(function* (tenant: Tenant, by: string, payload: typeof SetTestClock.Type) {
    const { frozenAt, seed = randomBytes(16).toString("hex"), webhookIds = [] } = payload
    const clock = yield* changes.create(tenant, by, { frozenAt, seed, webhookIds }, yield* Time.serverNow).pipe(
      Effect.catchTags({
        TestClockExists: () => Effect.fail(clockExists),
        UnknownWebhook: ({ index }) => Effect.fail(unknownWebhook(payload, index))
      })
    )
    // From the answer on nothing is sent.
    yield* invalidations.settledForCertain
    return shown(clock)
  })
})

const makeAdvance = Effect.gen(function* () {
  const changes = yield* TestClockChanges
  const awaited = yield* makeAwaited
  return Effect.fnUntraced(function* (tenant: Tenant, payload: typeof AdvanceTestClock.Type) {
    const { frozenAt, ...before } = yield* changes.read(tenant)
    if (statusOf({ frozenAt, ...before }) === "ADVANCING") return yield* advancing
    const to = payload.to ?? frozenAt + payload.by! * 1_000
    const expected = advanceProblem(frozenAt, to)
    if (expected !== undefined) {
      const field = payload.to === undefined ? "by" : "to"
      const check = { kind: "validation", type: "instant", expected } as const
      return yield* invalidInput([issueAt(payload, field, check)])
    }
    const begin = changes
      .begin(tenant, frozenAt, to)
      .pipe(Effect.catchTag("TestClockAdvances", () => Effect.fail(advancing)))
    const { waitSeconds = 0 } = payload
    return yield* waitSeconds === 0 ? Effect.map(begin, shown) : awaited(tenant, to, waitSeconds, begin)
  })
})

const testKeyRequired = new Forbidden({ error: "Test secret key required" })
const clockExists = new Conflict({ error: "There is a test clock already", code: "TEST_CLOCK_EXISTS" })
const advancing = new Conflict({ error: "The test clock is being advanced", code: "ADVANCING" })

const unknownWebhook = (payload: typeof SetTestClock.Type, index: number) =>
  invalidInput([
    issueAt(payload, ["webhookIds", index], {
      kind: "validation",
      type: "reference",
      expected: "the id of a webhook of test mode"
    })
  ])

/** Runs an operation for the tenant of a test key. */
const inTestMode = <A, E, R>(run: (tenant: Tenant, by: string) => Effect.Effect<A, E, R>) =>
  forTenant((tenant, by): Effect.Effect<A, E | Forbidden, R> =>
    tenant.mode === "live" ? Effect.fail(testKeyRequired) : run(tenant, by)
  )

const shown = (clock: TestClock): Shown => {
  const progress = progressOf(clock)
  return {
    status: statusOf(clock),
    now: clock.frozenAt,
    ...(progress !== undefined && { progress, advancingTo: clock.advance!.to }),
    ...(clock.problem !== undefined && { problem: clock.problem }),
    seed: clock.seed,
    webhookIds: clock.webhookIds
  }
}
