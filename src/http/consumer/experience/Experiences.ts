/** The handlers of experiences. */
import { Effect, Schema, Struct } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { AttemptLimits } from "../../../auth/codes/AttemptLimits.ts"
import { accessCodeAttempt } from "../../../auth/codes/CodeLimits.ts"
import { ExperienceProduct } from "../../../domain/experience/ExperienceProduct.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import { type Millis, toText } from "../../../domain/values/Time.ts"
import { ExperienceEntries } from "../../../store/experience/ExperienceEntries.ts"
import {
  type ExperienceView,
  ExperienceViews,
  type ShownMechanism,
  type ShownSequence
} from "../../../store/experience/ExperienceViews.ts"
import { SequenceAccess } from "../../../store/experience/SequenceAccess.ts"
import { AssignedProducts } from "../../../store/experience/AssignedProducts.ts"
import { NextDrops } from "../../../store/experience/NextDrops.ts"
import { ShownPages } from "../../../store/experience/ShownPages.ts"
import { ShownProducts } from "../../../store/experience/ShownProducts.ts"
import { SecurityEvents } from "../../../store/organization/SecurityEvents.ts"
import { KeptAnswers } from "../KeptAnswers.ts"
import { CurrentConsumer, CurrentTenant } from "../../../api/Credentials.ts"
import { Forbidden } from "../../../api/Errors.ts"
import { orNotFound, orServiceUnavailable } from "../../errors/Refusals.ts"
import { ConsumerApi } from "../../../api/consumer/ConsumerApi.ts"
import { makeClientOf, orTooManyAttempts } from "../consumer/Codes.ts"
import { PublicExperience } from "../../../api/consumer/ExperienceApi.ts"
import { kindSchemas, type PublicMechanisms } from "../../../api/consumer/KindsApi.ts"
import { bounded, type Windowed } from "../../../domain/experience/ExperienceWindow.ts"
import { byKind, deciders, fieldOf, isSingle, type Kind, kinds } from "../../../domain/mechanism/Mechanism.ts"
import { lifecycleOf } from "../../../store/mechanism/MechanismLifecycle.ts"
import { type PublicFields, shown } from "../mechanism/PublicMechanism.ts"
import * as Time from "../../../store/coordination/Time.ts"

/**
 * The handlers of the group `experiences`. They need experiences, their pages, products and entries, the access to
 * sequences, and the assigned products.
 */
export const layer = HttpApiBuilder.group(ConsumerApi, "experiences", (handlers) =>
  Effect.gen(function* () {
    const views = yield* ExperienceViews
    const entries = yield* ExperienceEntries
    const show = yield* makeShow
    const shown = yield* makeShown
    const encoded = makeEncoded()

    return handlers.handleAll({
      get: Effect.fnUntraced(
        function* ({ params: { experienceId } }) {
          const { tenant } = yield* CurrentTenant
          return json(encoded(yield* shown(tenant, yield* views.find(tenant, experienceId))))
        },
        orNotFound,
        orServiceUnavailable
      ),

      ...(yield* makeShowing),

      enter: Effect.fnUntraced(
        function* ({ params: { experienceId }, payload, request }) {
          const { tenant, consumerId } = yield* CurrentConsumer
          const accessCode = payload?.accessCode ?? undefined
          const isRefused = accessCode !== undefined && !(yield* show(request, experienceId, accessCode))
          const view = yield* views.find(tenant, experienceId, consumerId)
          if (isRefused) return yield* codeRefused
          if (view.isBarred) return yield* codeNeeded
          const enteredAt = view.enteredAt ?? (yield* entries.enter(tenant, experienceId, consumerId))
          const experience = encoded(yield* shown(tenant, view, consumerId))
          return json(
            `{"enteredAt":"${toText(enteredAt)}","experience":${experience},"experienceId":"${experienceId}"}`
          )
        },
        orNotFound,
        orServiceUnavailable
      ),

      leave: Effect.fnUntraced(
        function* ({ params: { experienceId } }) {
          const { tenant, consumerId } = yield* CurrentConsumer
          return { left: yield* entries.leave(tenant, experienceId, consumerId) }
        },
        orNotFound,
        orServiceUnavailable
      )
    })
  })
)

/** Makes the handlers of what an experience shows besides itself. */
const makeShowing = Effect.gen(function* () {
  const pages = yield* ShownPages
  const nextDrops = yield* NextDrops
  return {
    page: Effect.fnUntraced(
      function* ({
        params: { experienceId },
        query: { slug }
      }: OfExperience & { readonly query: { readonly slug?: string } }) {
        const { tenant } = yield* CurrentTenant
        return yield* pages.find(tenant, experienceId, slug)
      },
      orNotFound,
      orServiceUnavailable
    ),

    next: Effect.fnUntraced(
      function* ({ params: { experienceId } }: OfExperience) {
        const { tenant } = yield* CurrentTenant
        return { experience: (yield* nextDrops.after(tenant, experienceId)) ?? null }
      },
      orNotFound,
      orServiceUnavailable
    )
  }
})

interface OfExperience {
  readonly params: { readonly experienceId: string }
}

/** Makes the function that shows an access code. A wrong one counts for its consumer and its client. */
const makeShow = Effect.gen(function* () {
  const access = yield* SequenceAccess
  const attempts = yield* AttemptLimits
  const events = yield* SecurityEvents
  const clientOf = yield* makeClientOf
  return Effect.fnUntraced(function* (
    request: HttpServerRequest.HttpServerRequest,
    experienceId: string,
    accessCode: string
  ) {
    const { tenant, consumerId, sessionId } = yield* CurrentConsumer
    const clientAddress = sessionId === undefined ? undefined : clientOf(request)
    const attempt = accessCodeAttempt(consumerId, clientAddress)
    yield* attempts.take(tenant, attempt).pipe(
      Effect.tapErrorTag("TooManyAttempts", ({ limit }) =>
        events.record(tenant, { type: "lock_out", consumerId, clientAddress, details: { reason: limit } })
      ),
      orTooManyAttempts(request)
    )
    const isRight = yield* access.show(tenant, { experienceId, consumerId, accessCode })
    if (isRight) yield* attempts.giveBack(tenant, attempt)
    return isRight
  })
})

/** Makes the function that shows an experience. Without a consumer it shows no assigned products. */
const makeShown = Effect.gen(function* () {
  const products = yield* ShownProducts
  const picks = yield* AssignedProducts

  /** The products that the system picks for the consumer, by sequence. */
  const assignedTo = Effect.fnUntraced(function* (
    tenant: Tenant,
    sequences: ExperienceView["sequences"],
    consumerId: string
  ) {
    const assigned = new Map<string, string>()
    for (const { id: sequenceId, productSelectionMode } of sequences) {
      if (productSelectionMode !== "SYSTEM_ASSIGNED") continue
      const product = yield* picks.of({ ...tenant, sequenceId }, consumerId)
      if (product !== undefined) assigned.set(sequenceId, product.productId)
    }
    return assigned
  })

  return Effect.fnUntraced(function* (tenant: Tenant, view: ExperienceView, consumerId?: string) {
    const offered = yield* products.of(tenant.organizationId, view.experience.id)
    const assigned =
      consumerId === undefined ? new Map<string, string>() : yield* assignedTo(tenant, view.sequences, consumerId)
    return publicExperience(view, offered, assigned, yield* Time.now)
  })
})

const json = (text: string) => HttpServerResponse.text(text, { contentType: "application/json" })

/**
 * Makes the function that encodes an experience. Up to 1,000 variants are encoded once, as long
 * as the products that are shown stay the same.
 */
const makeEncoded = () => {
  const kept = new KeptAnswers<ReadonlyArray<ExperienceProduct>, string>((text) => 2 * text.length)
  return ({ products, ...experience }: typeof PublicExperience.Type) => {
    const productsText = kept.of(
      experience.id,
      (basis) => basis === products,
      () => ({ basis: products, answer: JSON.stringify(encodeProducts(products)) })
    )
    const text = JSON.stringify(encodeRest(experience))
    return `${text.slice(0, -1)},"products":${productsText}}`
  }
}

const encodeProducts = Schema.encodeSync(Schema.toCodecJson(Schema.Array(ExperienceProduct)))
const encodeRest = Schema.encodeSync(Schema.toCodecJson(PublicExperience.mapFields(Struct.omit(["products"]))))

const codeRefused = new Forbidden({ error: "The access code opens nothing here" })

const codeNeeded = new Forbidden({ error: "The experience needs its access code" })

const publicExperience = (
  { experience, hasProtectedSequences, sequences }: ExperienceView,
  products: ReadonlyArray<ExperienceProduct>,
  assigned: ReadonlyMap<string, string>,
  now: Millis
): typeof PublicExperience.Type => ({
  id: experience.id,
  name: experience.name,
  currencyCode: experience.currencyCode,
  timeZone: experience.timeZone,
  openAt: experience.openAt,
  closeAt: experience.closeAt,
  hasProtectedSequences,
  i18n: experience.i18n,
  products,
  sequences: sequences.map((sequence) => ({
    id: sequence.id,
    experienceId: experience.id,
    audienceId: sequence.audienceId,
    name: sequence.name,
    priority: sequence.priority,
    productSelectionMode: sequence.productSelectionMode ?? null,
    assignedProductId: assigned.get(sequence.id) ?? null,
    ...publicMechanisms(experience.id, sequence, now)
  })),
  theme: experience.theme
})

type Mechanisms = { readonly [Field in keyof typeof PublicMechanisms]: (typeof PublicMechanisms)[Field]["Type"] }

/** The mechanisms of a sequence at `now`. */
export const publicMechanisms = (experienceId: string, { mechanisms }: ShownSequence, now: Millis): Mechanisms => {
  const shownOf = (kind: Kind) =>
    mechanisms
      .filter((mechanism) => mechanism.kind === kind)
      .map((mechanism) => shown(listed[kind], known(experienceId, mechanism, now)))
  const view: { [field: string]: unknown } = {}
  for (const kind of kinds) view[fieldOf[kind]] = isSingle(kind) ? (shownOf(kind)[0] ?? null) : shownOf(kind)
  return view as Mechanisms
}

const listed = byKind((kind): Schema.Struct<Schema.Struct.Fields> => kindSchemas[kind].Listed)

/** All known fields of a mechanism. */
const known = (experienceId: string, mechanism: ShownMechanism, now: Millis): PublicFields => {
  const { id, kind, sequenceId, configuration, status } = mechanism
  return {
    id,
    experienceId,
    sequenceId,
    ...decodeSettings[kind](configuration),
    ...status,
    lifecycle: lifecycleOf(mechanism, now)
  }
}

/** The settings with the times bounded by the experience. */
const decodeSettings = byKind((kind) => {
  const decode: (stored: unknown) => Windowed = Schema.decodeUnknownSync(deciders[kind].configuration)
  return (stored: unknown): PublicFields => bounded(decode(stored)) as object as PublicFields
})
