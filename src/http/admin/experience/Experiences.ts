/** The handlers of experiences on the Admin API. */
import { Effect, type Result } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { Protection } from "../../../auth/sessions/Protection.ts"
import type { Experience } from "../../../domain/experience/Experience.ts"
import { windowOf } from "../../../domain/experience/ExperienceWindow.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import { archiveWithMechanisms } from "../../../engine/lifecycle/Archiving.ts"
import { Creation } from "../../../engine/lifecycle/Creation.ts"
import { Engine } from "../../../engine/Engine.ts"
import { NoticeSchedule } from "../../../engine/lifecycle/NoticeSchedule.ts"
import { tellMechanisms } from "../../../engine/lifecycle/WindowChanges.ts"
import { ExperienceProducts } from "../../../store/experience/ExperienceProducts.ts"
import { Experiences } from "../../../store/experience/Experiences.ts"
import { ExperienceWindows } from "../../../store/experience/ExperienceWindows.ts"
import { Invalidations } from "../../../store/coordination/Invalidations.ts"
import {
  type KnownRecords,
  type NamedRecords,
  ExperienceAggregates
} from "../../../store/experience/ExperienceAggregates.ts"
import type { Page } from "../../../store/records/Pagination.ts"
import { CurrentStreamCredentials } from "../../../api/Credentials.ts"
import { Conflict, type ValidationError } from "../../../api/Errors.ts"
import { EventStreams } from "../../streams/EventStreams.ts"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import { copyOf, isTooLarge, namedBy } from "../mechanism/Duplication.ts"
import { WatchedExperiences } from "../mechanism/WatchedExperiences.ts"
import { type ChangeExperience, CreateExperience, type DuplicateExperience } from "../../../api/admin/ExperienceApi.ts"
import { changed, namedIn, namedProducts, newAggregate, type NewAggregate } from "./ExperienceBodies.ts"
import { forTenant, onList, onRecord } from "../records/Operations.ts"
import { orInvalidReferences } from "../records/References.ts"
import { experienceAggregate } from "./AggregateRecords.ts"
import { makeCheck } from "./ExperienceCheck.ts"
import * as Time from "../../../store/coordination/Time.ts"

export const ExperienceHandlers = HttpApiBuilder.group(AdminApi, "experiences", (handlers) =>
  Effect.gen(function* () {
    const experiences = yield* Experiences
    const aggregates = yield* ExperienceAggregates
    const products = yield* ExperienceProducts
    const { create, duplicate } = yield* makeCreation
    const change = yield* makeChange
    const archive = yield* makeArchive
    const check = yield* makeCheck
    const streams = yield* EventStreams
    const watched = yield* WatchedExperiences

    const withProducts = Effect.fnUntraced(function* ({ data, pageInfo }: Page<Experience>) {
      const named = yield* products.named(data.map(({ id }) => id))
      const offers = Map.groupBy(named, ({ experienceId }) => experienceId)
      return { data: data.map((one) => ({ ...one, products: offers.get(one.id) ?? [] })), pageInfo }
    })

    const find = (tenant: Tenant, id: string) => Effect.map(aggregates.find(tenant, id), experienceAggregate)

    return handlers.handleAll({
      createExperience: ({ payload }) => forTenant((tenant, by) => create(tenant, by, payload)),
      listExperiences: onList((tenant, query) => Effect.flatMap(experiences.list(tenant, query), withProducts)),
      getExperience: onRecord(find),
      changeExperience: ({ params: { id }, payload }) => forTenant((tenant, by) => change(tenant, id, by, payload)),
      duplicateExperience: ({ params: { id }, payload }) =>
        forTenant((tenant, by) => duplicate(tenant, id, by, payload ?? {})),
      watchExperience: ({ params: { id }, headers }) =>
        forTenant(
          Effect.fnUntraced(function* (tenant) {
            yield* experiences.find(tenant, id)
            const watcher = watched.watcher({ tenant, id: id.toLowerCase(), lastEventId: headers["last-event-id"] })
            const { organizationId } = tenant
            return yield* streams.open(yield* CurrentStreamCredentials, watcher, { organizationId })
          })
        ),
      checkExperience: ({ params: { id }, query: { at } }) =>
        forTenant((tenant) => check(tenant, id, at).pipe(Effect.catchTag("PageRefused", Effect.die))),
      archiveExperience: onRecord(archive),
      restoreExperience: onRecord((tenant, id, by) =>
        Effect.andThen(experiences.restore(tenant, id, by), find(tenant, id))
      )
    })
  })
)

/** Makes the functions that create an experience from a request, and as a copy of another one. */
const makeCreation = Effect.gen(function* () {
  const experiences = yield* Experiences
  const aggregates = yield* ExperienceAggregates
  const creation = yield* Creation
  const protection = yield* Protection

  /** Creates an experience with its sequences and mechanisms, and returns its record. */
  const make = Effect.fnUntraced(function* (
    tenant: Tenant,
    by: string,
    named: NamedRecords,
    judge: (known: KnownRecords) => Result.Result<NewAggregate, ValidationError>
  ) {
    const { experienceId, sequenceIds } = yield* creation.together(tenant, by, (createMechanisms) =>
      aggregates.create(tenant, by, named, judge, ({ settings, sequences }, made) =>
        createMechanisms(
          sequences.flatMap(({ mechanisms }, index) =>
            mechanisms.map((mechanism) => ({
              ...mechanism,
              experienceId: made.experienceId,
              sequenceId: made.sequenceIds[index]!,
              experienceWindow: windowOf(settings, 0)
            }))
          )
        )
      )
    )
    yield* protection.changed(...sequenceIds)
    return experienceAggregate(yield* aggregates.find(tenant, experienceId))
  })

  const create = Effect.fnUntraced(function* (tenant: Tenant, by: string, payload: typeof CreateExperience.Type) {
    const defaults = yield* experiences.defaults(tenant)
    return yield* make(tenant, by, namedIn(payload), (known) => newAggregate(payload, defaults, known)).pipe(
      orInvalidReferences(CreateExperience, payload)
    )
  })

  const duplicate = Effect.fnUntraced(function* (
    tenant: Tenant,
    id: string,
    by: string,
    payload: typeof DuplicateExperience.Type
  ) {
    const original = yield* aggregates.find(tenant, id)
    if (isTooLarge(original)) return yield* tooLarge
    const own = yield* experiences.settings(tenant, id)
    const now = yield* Time.now
    return yield* make(tenant, by, namedBy(original), (known) => copyOf(original, own, payload, now, known)).pipe(
      // A copy creates no product.
      Effect.catchTag("UnknownReferences", Effect.die)
    )
  })

  return { create, duplicate }
})

const makeChange = Effect.gen(function* () {
  const experiences = yield* Experiences
  const aggregates = yield* ExperienceAggregates
  const protection = yield* Protection
  const invalidations = yield* Invalidations
  const telling = yield* Effect.context<Engine | ExperienceWindows | NoticeSchedule>()

  return Effect.fnUntraced(function* (tenant: Tenant, id: string, by: string, payload: typeof ChangeExperience.Type) {
    const defaults = yield* experiences.defaults(tenant)
    yield* aggregates.change(
      tenant,
      id,
      by,
      namedProducts(payload),
      (before, known) => changed(before, payload, defaults, known),
      payload.accessCode
    )
    if (payload.accessCode !== undefined) yield* protection.changed(...(yield* aggregates.sequenceIds(tenant, id)))
    // From now on consumers may select the named products only, and every process follows the new rules of the gate.
    if (payload.products !== undefined || payload.challenge !== undefined) yield* invalidations.settled
    yield* tellMechanisms(tenant, by, id)
    return experienceAggregate(yield* aggregates.find(tenant, id))
  }, Effect.provideContext(telling))
})

/** Makes the function that archives an experience with its sequences and mechanisms. */
const makeArchive = Effect.gen(function* () {
  const experiences = yield* Experiences
  const aggregates = yield* ExperienceAggregates
  const engine = yield* Engine

  return Effect.fnUntraced(
    function* (tenant: Tenant, id: string, by: string) {
      const before = yield* aggregates.find(tenant, id)
      const archived = yield* archiveWithMechanisms(tenant, by, experiences.archive(tenant, id, by))
      return experienceAggregate(yield* aggregates.archived(tenant, archived, before))
    },
    Effect.provideService(Engine, engine)
  )
})

const tooLarge = new Conflict({ error: "Experience is too large to be duplicated", code: "TOO_LARGE" })
