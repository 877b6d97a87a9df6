/** The check of an experience: reads its settings and what it needs, and returns what looks wrong. */
import { Effect, Option } from "effect"
import { Organizations } from "../../../auth/keys/Organizations.ts"
import { check } from "../../../domain/rehearsal/Check.ts"
import {
  type CheckedMechanism,
  type CheckedMessage,
  type CheckedProduct,
  mechanismsOf
} from "../../../domain/rehearsal/CheckedDrop.ts"
import type { CreativeDocument } from "../../../domain/experience/creative/Document.ts"
import { namesIn } from "../../../domain/experience/creative/rendering/Placeholders.ts"
import type { ExperiencePage } from "../../../domain/experience/ExperiencePage.ts"
import { bounded, type Windowed } from "../../../domain/experience/ExperienceWindow.ts"
import { isOffered, type ExperienceProduct } from "../../../domain/experience/ExperienceProduct.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import type { Millis } from "../../../domain/values/Time.ts"
import { Audiences } from "../../../store/consumer/Audiences.ts"
import * as Time from "../../../store/coordination/Time.ts"
import { type ExperienceAggregate, ExperienceAggregates } from "../../../store/experience/ExperienceAggregates.ts"
import { ExperiencePages } from "../../../store/experience/ExperiencePages.ts"
import { Experiences } from "../../../store/experience/Experiences.ts"
import type { StoredMechanism } from "../../../store/mechanism/Mechanisms.ts"
import { Stocks } from "../../../store/stock/Stocks.ts"
import { Webhooks } from "../../../store/webhook/Webhooks.ts"
import { configurationOf } from "./AggregateRecords.ts"

/** Pages and webhooks that a check reads. */
const readMax = 100

/** Makes the function that checks an experience. */
export const makeCheck = Effect.gen(function* () {
  const aggregates = yield* ExperienceAggregates
  const experiences = yield* Experiences
  const organizations = yield* Organizations
  const pages = yield* ExperiencePages
  const webhooks = yield* Webhooks
  const stocks = yield* Stocks
  const audiences = yield* Audiences

  /** Checks as of now, or as of an instant at which nothing of the drop was over. */
  return Effect.fnUntraced(function* (tenant: Tenant, id: string, at?: Millis) {
    const aggregate = yield* aggregates.find(tenant, id)
    const { openAt, closeAt, timeZone, currencyCode, i18n } = yield* experiences.settings(tenant, id)
    const organization = yield* organizations.find(tenant.organizationId)
    const drafts = yield* pages.list(tenant, { first: readMax }, { experienceId: id, status: "DRAFT" })
    const published = yield* pages.list(tenant, { first: readMax }, { experienceId: id, status: "PUBLISHED" })
    const endpoints = yield* webhooks.list(tenant, { first: readMax })
    const now = at ?? (yield* Time.now)
    const sequences = sequencesOf(aggregate, at === undefined ? now : undefined)
    const stockIds = new Set(mechanismsOf({ sequences }).flatMap(({ settings }) => settings.stockId ?? []))
    const findings = check({
      now,
      experience: {
        id: aggregate.experience.id,
        timeZone,
        currencyCode,
        ...(openAt !== undefined && { openAt }),
        ...(closeAt !== undefined && { closeAt }),
        ...(i18n !== undefined && { i18n })
      },
      sequences: yield* Effect.forEach(sequences, ({ audienceId, ...sequence }) =>
        audienceId === null
          ? Effect.succeed(sequence)
          : Effect.map(audiences.find(tenant, audienceId), (audience) => ({ ...sequence, audience }))
      ),
      products: productsOf(aggregate.products),
      stocks: yield* stocks.byIds(tenant, [...stockIds]),
      pages: drafts.data,
      messages: messagesOf(published.data),
      webhooks: endpoints.data,
      organization: Option.match(organization, { onNone: () => ({}), onSome: ({ settings }) => settings })
    })
    return { findings }
  })
})

/** The sequences; with the time, so that what is over is marked. */
const sequencesOf = ({ sequences }: ExperienceAggregate, now: Millis | undefined) =>
  sequences.map(({ sequence, mechanisms }) => ({
    ...sequence,
    mechanisms: mechanisms.map((one) => checkedMechanism(one, now))
  }))

/** A mechanism that was made after its closing never ran, so it is not over: its closing is a mistake. */
const checkedMechanism = (mechanism: StoredMechanism, now: Millis | undefined): CheckedMechanism => {
  const { id, kind } = mechanism.identity
  const settings = configurationOf(mechanism, kind)
  if (now === undefined) return { id, kind, settings }
  const { closeAt } = bounded<Windowed>(settings)
  const hasRun = closeAt !== undefined && mechanism.createdAt < closeAt && closeAt <= now
  return { id, kind, settings, isOver: hasRun || mechanism.status.statusOverride !== null }
}

/** A product may be offered once for each of several variants. */
const productsOf = (offers: ReadonlyArray<ExperienceProduct>): ReadonlyArray<CheckedProduct> => {
  const byProduct = new Map(offers.map(({ productId, product }) => [productId, product]))
  return [...byProduct].map(([productId, { name, url, variants }]) => ({
    productId,
    name,
    url,
    variants: variants.filter((variant) => isOffered(offers, variant))
  }))
}

/** Of each kind of message, messages use the page that was published last. Documents were decoded on receipt. */
const messagesOf = (published: ReadonlyArray<ExperiencePage>): ReadonlyArray<CheckedMessage> => {
  const pages = published
    .toSorted((a, b) => (b.lastPublishedAt ?? 0) - (a.lastPublishedAt ?? 0))
    .map(({ id, title, creativeDocument }) => ({ id, title, document: creativeDocument as CreativeDocument }))
  return (["transactional-email", "transactional-sms"] as const).flatMap((kind) => {
    const latest = pages.find(({ document }) => document.kind === kind)
    if (latest === undefined) return []
    const { id, title, document } = latest
    return [{ id, title, placeholders: namesIn(JSON.stringify(document.body)) }]
  })
}
