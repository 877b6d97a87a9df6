/**
 * Sequences on the Admin API: what each operation does.
 */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Protection } from "../../../auth/sessions/Protection.ts"
import type { Sequence } from "../../../domain/experience/Sequence.ts"
import { archiveWithMechanisms } from "../../../engine/lifecycle/Archiving.ts"
import { Creation } from "../../../engine/lifecycle/Creation.ts"
import { Engine } from "../../../engine/Engine.ts"
import { Sequences } from "../../../store/experience/Sequences.ts"
import { SequenceAggregates } from "../../../store/experience/SequenceAggregates.ts"
import { CurrentTenant } from "../../credentials/Credentials.ts"
import { orNotFound, orServiceUnavailable } from "../../errors/Refusals.ts"
import { orBusy } from "../records/Answers.ts"
import { AdminApi } from "../Api.ts"
import { orInvalidPage } from "../records/Lists.ts"
import { orArchived } from "../records/Restoring.ts"
import { changed, namedIn, newSequence, productsNamed } from "./SequenceBodies.ts"
import { sequenceAggregate } from "./AggregateRecords.ts"

export const SequenceHandlers = HttpApiBuilder.group(
  AdminApi,
  "sequences",
  Effect.fnUntraced(function* (handlers) {
    const sequences = yield* Sequences
    const wholes = yield* SequenceAggregates
    const creation = yield* Creation
    const engine = yield* Engine
    const protection = yield* Protection

    /** Answers only when no process lets in whom the sequence is not for. */
    const protectedNow = ({ id }: Sequence) => protection.changed(id)

    return handlers.handleAll({
      createSequence: Effect.fnUntraced(
        function* ({ payload }) {
          const { tenant, by } = yield* CurrentTenant
          const { experienceId } = payload
          const id = yield* creation.together(tenant, by, (bring) =>
            wholes.create(
              tenant,
              by,
              experienceId,
              namedIn(payload),
              (above) => newSequence(payload, above),
              ({ mechanisms }, made) => bring(mechanisms.map((mechanism) => ({ ...mechanism, experienceId, ...made })))
            )
          )
          yield* protection.changed(id)
          return sequenceAggregate(yield* wholes.find(tenant, id))
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
          return sequenceAggregate(yield* wholes.find(tenant, params.id))
        },
        orNotFound,
        orServiceUnavailable
      ),

      changeSequence: Effect.fnUntraced(
        function* ({ params, payload }) {
          const { tenant, by } = yield* CurrentTenant
          yield* wholes
            .change(
              tenant,
              params.id,
              by,
              productsNamed(payload),
              (before, products) => changed(before, payload, products),
              payload.accessCode
            )
            .pipe(Effect.tap(protectedNow))
          return sequenceAggregate(yield* wholes.find(tenant, params.id))
        },
        orNotFound,
        orServiceUnavailable
      ),

      archiveSequence: Effect.fnUntraced(
        function* ({ params }) {
          const { tenant, by } = yield* CurrentTenant
          const before = yield* wholes.find(tenant, params.id)
          const archived = yield* archiveWithMechanisms(tenant, by, sequences.archive(tenant, params.id, by))
          return sequenceAggregate(yield* wholes.archived(tenant, archived, before))
        },
        orNotFound,
        orBusy,
        Effect.provideService(Engine, engine)
      ),

      restoreSequence: Effect.fnUntraced(
        function* ({ params: { id } }) {
          const { tenant, by } = yield* CurrentTenant
          yield* sequences.restore(tenant, id, by).pipe(Effect.tap(protectedNow))
          return sequenceAggregate(yield* wholes.find(tenant, id))
        },
        orArchived,
        orNotFound,
        orServiceUnavailable
      )
    })
  })
)
