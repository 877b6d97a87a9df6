/**
 * Steers a queue: admit, pause, resume. `mechanism/MechanismHandlers.ts` changes, ends and unparks. Each admission by
 * name goes through the engine, like an admission by a shop's server, so each has an event of its own with author and
 * reason. A repeated request admits the remaining consumers.
 */
import { Effect } from "effect"
import type { MechanismRef } from "../../../domain/mechanism/Mechanism.ts"
import type { StaffReason } from "../../../domain/mechanism/Author.ts"
import { Engine } from "../../../engine/Engine.ts"
import * as Admissions from "../../../engine/lifecycle/Admissions.ts"
import { orAnswer } from "../../errors/Refusals.ts"
import { forTenant } from "../records/Operations.ts"
import * as Notes from "./Notes.ts"
import { type Admission, reasonOf, type Why } from "../../../api/admin/SteeringApi.ts"

/** Admissions of one request that are in the engine at the same time. It records them together. */
const admissionsAtOnce = 100

/** The author of an admission, and the reason. */
interface Admitting {
  readonly by: string
  readonly reason?: StaffReason
}

type Outcome = "admitted" | "unchanged" | "refused"

interface OfOne {
  readonly params: { readonly id: string }
}

export const make = Effect.gen(function* () {
  const engine = yield* Engine
  const admitNext = yield* Admissions.make
  const admitNamed = yield* makeAdmitNamed
  const keep = yield* Notes.make

  /** Runs the command. Answers nothing: the caller shows the record. */
  const change =
    (_tag: "Pause" | "Resume", action: "pause" | "resume") =>
    ({ params: { id }, payload }: OfOne & { readonly payload: Why | null }) =>
      forTenant((tenant, by) =>
        orAnswer("queue")(engine.sendAdmin({ kind: "queue", id, tenant }, { _tag, by, ...reasonOf(payload) })).pipe(
          Effect.andThen(keep(tenant, by, { ...payload, distributionId: id, action }))
        )
      )

  return {
    admit: ({ params: { id }, payload }: OfOne & { readonly payload: Admission }) =>
      forTenant(
        Effect.fnUntraced(function* (tenant, by) {
          const queue = { kind: "queue", id, tenant } as const
          const admitting = { by, ...reasonOf(payload) }
          const answer = yield* orAnswer("queue")(
            typeof payload.count === "number"
              ? Effect.map(admitNext(queue, payload.count, admitting), (consumerIds) => answerOf(consumerIds))
              : admitNamed(queue, payload.consumerIds ?? [], admitting)
          )
          yield* keep(tenant, by, { ...payload, distributionId: id, action: "admit", consumers: answer.admitted })
          return answer
        })
      ),
    pause: change("Pause", "pause"),
    resume: change("Resume", "resume")
  }
})

const makeAdmitNamed = Effect.map(Engine, (engine) => {
  const admit = (queue: MechanismRef<"queue">, consumerId: string, admitting: Admitting) =>
    Effect.flatMap(engine.view(queue, consumerId), ({ status }) =>
      status === "GRANTED"
        ? Effect.succeed<Outcome>("unchanged")
        : engine.send(queue, { _tag: "Admit", consumerId, ...admitting }).pipe(
            Effect.as<Outcome>("admitted"),
            // The consumer does not wait here, or no grant may be made.
            Effect.catchTag(["WrongStatus", "AdmissionsUsedUp", "InsideLimitReached"], () =>
              Effect.succeed<Outcome>("refused")
            )
          )
    )

  return Effect.fnUntraced(function* (
    queue: MechanismRef<"queue">,
    named: ReadonlyArray<string>,
    admitting: Admitting
  ) {
    const consumerIds = [...new Set(named)]
    const outcomes = yield* Effect.forEach(consumerIds, (consumerId) => admit(queue, consumerId, admitting), {
      concurrency: admissionsAtOnce
    })
    const those = (outcome: Outcome) => consumerIds.filter((_, index) => outcomes[index] === outcome)
    return answerOf(those("admitted"), those("unchanged").length, those("refused").length)
  })
})

const answerOf = (consumerIds: ReadonlyArray<string>, unchanged = 0, refused = 0) => ({
  admitted: consumerIds.length,
  consumerIds,
  unchanged,
  refused
})
