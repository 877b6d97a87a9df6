/**
 * Queues on the Admin API: what each operation does. Records are read from their table; whatever changes a queue goes
 * through its actor.
 */
import { Effect, Result, Schema, Semaphore } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { Tenant } from "../../domain/Ids.ts"
import * as QueueRules from "../../domain/Queue.ts"
import { Creation } from "../../engine/Creation.ts"
import { Engine } from "../../engine/Engine.ts"
import { Mechanisms, type StoredMechanism } from "../../store/Mechanisms.ts"
import { CurrentTenant } from "../Credentials.ts"
import { NotFound, type ValidationError } from "../Errors.ts"
import { orAnswer, orServiceUnavailable } from "../Refusals.ts"
import { orNotFound, problemsFound } from "./Answers.ts"
import { AdminApi } from "./Api.ts"
import { orInvalidPage } from "./Lists.ts"
import { mechanismRecord } from "./MechanismRecord.ts"
import { withChanges } from "./Payloads.ts"
import { type ChangeQueue, type CreateQueue, type Queue, settings } from "./QueueApi.ts"

/** What holds where an admin says nothing; the time zone is the experience's (completions 4, "queue"). */
const defaults = {
  supportsGuest: true,
  recycleExpiredAdmissions: false,
  loyaltyBiasEnabled: false,
  loyaltyHeadStartSeconds: 60
}

/** Locks for changes, by the last two digits of the id: enough that unrelated queues hardly ever share one. */
const lockCount = 256

export const QueueHandlers = HttpApiBuilder.group(
  AdminApi,
  "queues",
  Effect.fnUntraced(function* (handlers) {
    const creation = yield* Creation
    const engine = yield* Engine
    const mechanisms = yield* Mechanisms

    // A change says only what differs, and is completed from what is there: two at once must not undo each other.
    const locks = Array.from({ length: lockCount }, () => Semaphore.makeUnsafe(1))
    const oneAtATime = <A, E, R>(id: string, change: Effect.Effect<A, E, R>) =>
      Semaphore.withPermit(locks[Number.parseInt(id.slice(-2), 16)]!, change)

    const stored = Effect.fnUntraced(function* (tenant: Tenant, id: string) {
      const found = yield* mechanisms.find(tenant, id)
      return found?.identity.kind === "queue" ? found : yield* NotFound.of("Queue")
    })

    const current = Effect.fnUntraced(function* (tenant: Tenant, id: string) {
      const found = yield* stored(tenant, id)
      return found.status.archived ? yield* NotFound.of("Queue") : found
    })

    const change = Effect.fnUntraced(function* (
      tenant: Tenant,
      by: string,
      id: string,
      payload: typeof ChangeQueue.Type
    ) {
      const queue = { kind: "queue", id, tenant } as const
      const { configuration } = yield* orAnswer("queue")(engine.inspect(queue))
      const timeZone = payload.timeZone === null ? yield* mechanisms.parentTimeZone(tenant, id) : configuration.timeZone
      const next = yield* Effect.fromResult(revised(configuration, payload, { ...defaults, timeZone }))
      yield* orAnswer("queue")(engine.administer(queue, { _tag: "Configure", configuration: next, by }))
    })

    return handlers.handleAll({
      createQueue: Effect.fnUntraced(
        function* ({ payload }) {
          const { tenant, by } = yield* CurrentTenant
          const id = yield* creation.create(tenant, by, {
            kind: "queue",
            sequenceId: payload.sequenceId,
            configure: ({ timeZone }) =>
              Effect.fromResult(revised({ ...defaults, timeZone }, payload, { ...defaults, timeZone }))
          })
          return recordOf(yield* stored(tenant, id))
        },
        orNotFound,
        orServiceUnavailable
      ),

      listQueues: Effect.fnUntraced(function* ({ query }) {
        const { tenant } = yield* CurrentTenant
        const { data, pageInfo } = yield* mechanisms.list(tenant, "queue", query, query).pipe(orInvalidPage(query))
        return { data: data.map(recordOf), pageInfo }
      }, orServiceUnavailable),

      getQueue: Effect.fnUntraced(function* ({ params }) {
        const { tenant } = yield* CurrentTenant
        return recordOf(yield* current(tenant, params.id))
      }, orServiceUnavailable),

      changeQueue: Effect.fnUntraced(function* ({ params: { id }, payload }) {
        const { tenant, by } = yield* CurrentTenant
        yield* oneAtATime(id, change(tenant, by, id, payload))
        return recordOf(yield* current(tenant, id))
      }, orServiceUnavailable),

      archiveQueue: Effect.fnUntraced(function* ({ params: { id } }) {
        const { tenant, by } = yield* CurrentTenant
        yield* orAnswer("queue")(engine.administer({ kind: "queue", id, tenant }, { _tag: "Archive", by }))
        return recordOf(yield* stored(tenant, id))
      }, orServiceUnavailable),

      endQueue: Effect.fnUntraced(function* ({ params: { id } }) {
        const { tenant, by } = yield* CurrentTenant
        yield* orAnswer("queue")(engine.administer({ kind: "queue", id, tenant }, { _tag: "End", by }))
        return recordOf(yield* current(tenant, id))
      }, orServiceUnavailable)
    })
  })
)

/** The configuration with the changes made, if it makes sense. */
const revised = (
  configuration: Partial<QueueRules.Configuration>,
  changes: typeof CreateQueue.Type | typeof ChangeQueue.Type,
  defaults: Partial<QueueRules.Configuration>
): Result.Result<QueueRules.Configuration, ValidationError> => {
  // Every required setting is in the payload of a creation, in the defaults, or in what is there already.
  const next = withChanges(configuration, changes, settings, defaults) as QueueRules.Configuration
  const problems = QueueRules.configurationProblems(next)
  return problems.length > 0 ? Result.fail(problemsFound(problems, next)) : Result.succeed(next)
}

const decode = Schema.decodeUnknownSync(QueueRules.Configuration)

const recordOf = (mechanism: StoredMechanism): typeof Queue.Type =>
  mechanismRecord(mechanism, decode(mechanism.configuration), mechanism.status, settings) as typeof Queue.Type
