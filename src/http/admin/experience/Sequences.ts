/** The handlers of sequences on the Admin API. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Protection } from "../../../auth/sessions/Protection.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import { archiveWithMechanisms } from "../../../engine/lifecycle/Archiving.ts"
import { Creation } from "../../../engine/lifecycle/Creation.ts"
import { Engine } from "../../../engine/Engine.ts"
import { Sequences } from "../../../store/experience/Sequences.ts"
import { SequenceAggregates } from "../../../store/experience/SequenceAggregates.ts"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import { forTenant, onList, onRecord } from "../records/Operations.ts"
import { orArchived } from "../records/Refusals.ts"
import { changed, namedIn, newSequence, productsNamed } from "./SequenceBodies.ts"
import type { CreateSequence } from "../../../api/admin/SequenceApi.ts"
import { sequenceAggregate } from "./AggregateRecords.ts"

export const SequenceHandlers = HttpApiBuilder.group(AdminApi, "sequences", (handlers) =>
  Effect.gen(function* () {
    const sequences = yield* Sequences
    const aggregates = yield* SequenceAggregates
    const creation = yield* Creation
    const archive = yield* makeArchive
    const protection = yield* Protection

    const find = (tenant: Tenant, id: string) => Effect.map(aggregates.find(tenant, id), sequenceAggregate)

    const create = Effect.fnUntraced(function* (tenant: Tenant, by: string, payload: typeof CreateSequence.Type) {
      const { experienceId } = payload
      const id = yield* creation.together(tenant, by, (createMechanisms) =>
        aggregates.create(
          tenant,
          by,
          experienceId,
          namedIn(payload),
          (above) => newSequence(payload, above),
          ({ mechanisms }, made) =>
            createMechanisms(mechanisms.map((mechanism) => ({ ...mechanism, experienceId, ...made })))
        )
      )
      yield* protection.changed(id)
      return yield* find(tenant, id)
    })

    return handlers.handleAll({
      createSequence: ({ payload }) => forTenant((tenant, by) => create(tenant, by, payload)),

      listSequences: onList((tenant, query) => sequences.list(tenant, query, query)),

      getSequence: onRecord(find),

      changeSequence: ({ params: { id }, payload }) =>
        forTenant((tenant, by) =>
          aggregates
            .change(
              tenant,
              id,
              by,
              productsNamed(payload),
              (before, products) => changed(before, payload, products),
              payload.accessCode
            )
            .pipe(Effect.andThen(protection.changed(id)), Effect.andThen(find(tenant, id)))
        ),

      archiveSequence: onRecord(archive),

      restoreSequence: onRecord((tenant, id, by) =>
        sequences
          .restore(tenant, id, by)
          .pipe(orArchived, Effect.andThen(protection.changed(id)), Effect.andThen(find(tenant, id)))
      )
    })
  })
)

/** Makes the function that archives a sequence with its mechanisms. */
const makeArchive = Effect.gen(function* () {
  const sequences = yield* Sequences
  const aggregates = yield* SequenceAggregates
  const engine = yield* Engine
  return Effect.fnUntraced(
    function* (tenant: Tenant, id: string, by: string) {
      const before = yield* aggregates.find(tenant, id)
      const archived = yield* archiveWithMechanisms(tenant, by, sequences.archive(tenant, id, by))
      return sequenceAggregate(yield* aggregates.archived(tenant, archived, before))
    },
    Effect.provideService(Engine, engine)
  )
})
