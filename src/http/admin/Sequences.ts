/**
 * Sequences on the Admin API: what each operation does.
 */
import { Effect, Result } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Protection } from "../../auth/Protection.ts"
import { type Sequence, Settings } from "../../domain/Sequence.ts"
import { archiveWithMechanisms } from "../../engine/Archiving.ts"
import { Engine } from "../../engine/Engine.ts"
import { Sequences } from "../../store/Sequences.ts"
import { CurrentTenant } from "../Credentials.ts"
import { orNotFound, orServiceUnavailable } from "../Refusals.ts"
import { orBusy } from "./Answers.ts"
import { AdminApi } from "./Api.ts"
import { orInvalidPage } from "./Lists.ts"
import { withChanges } from "./Payloads.ts"
import type { ChangeSequence, CreateSequence } from "./SequenceApi.ts"

const defaults = { priority: 0 }

export const SequenceHandlers = HttpApiBuilder.group(
  AdminApi,
  "sequences",
  Effect.fnUntraced(function* (handlers) {
    const sequences = yield* Sequences
    const engine = yield* Engine
    const protection = yield* Protection

    /** Answers only when no process lets in whom the sequence is not for. */
    const protectedNow = ({ id, audienceId, hasAccessCode, orderLimitPerConsumer }: Sequence) =>
      protection.changed(audienceId !== null || hasAccessCode || orderLimitPerConsumer !== null ? id : undefined)

    return handlers.handleAll({
      createSequence: Effect.fnUntraced(
        function* ({ payload }) {
          const { tenant, by } = yield* CurrentTenant
          const { experienceId, accessCode } = payload
          return yield* sequences
            .create(tenant, by, experienceId, revised(defaults, payload), accessCode)
            .pipe(Effect.tap(protectedNow))
        },
        orNotFound,
        orServiceUnavailable
      ),

      listSequences: Effect.fnUntraced(function* ({ query }) {
        const { tenant } = yield* CurrentTenant
        return yield* sequences.list(tenant, query, query).pipe(orInvalidPage(query))
      }, orServiceUnavailable),

      getSequence: Effect.fnUntraced(
        function* ({ params }) {
          const { tenant } = yield* CurrentTenant
          return yield* sequences.find(tenant, params.id)
        },
        orNotFound,
        orServiceUnavailable
      ),

      changeSequence: Effect.fnUntraced(
        function* ({ params, payload }) {
          const { tenant, by } = yield* CurrentTenant
          const revise = (settings: Settings) => Result.succeed(revised(settings, payload))
          return yield* sequences
            .change(tenant, params.id, by, revise, payload.accessCode)
            .pipe(Effect.tap(protectedNow))
        },
        orNotFound,
        orServiceUnavailable
      ),

      archiveSequence: Effect.fnUntraced(
        function* ({ params }) {
          const { tenant, by } = yield* CurrentTenant
          return yield* archiveWithMechanisms(tenant, by, sequences.archive(tenant, params.id, by))
        },
        orNotFound,
        orBusy,
        Effect.provideService(Engine, engine)
      )
    })
  })
)

/** The settings with the changes made. */
const revised = (
  settings: Partial<Settings>,
  changes: typeof CreateSequence.Type | typeof ChangeSequence.Type
): Settings =>
  // Every required setting is in the payload of a creation, in the defaults, or in what is there already.
  withChanges<Settings>(settings, changes, Settings.fields, defaults) as Settings
