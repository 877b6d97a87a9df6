/**
 * The repositories of records over a fresh Postgres database, with tenants to own the records.
 */
import { Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import type { PlaceRow } from "../../../src/domain/mechanism/Decider.ts"
import type { Tenant } from "../../../src/domain/values/Ids.ts"
import { actorDeciders } from "../../../src/domain/mechanism/Mechanism.ts"
import type * as Queue from "../../../src/domain/queue/Queue.ts"
import { Settings } from "../../../src/settings/Settings.ts"
import { AudienceMembers } from "../../../src/store/consumer/AudienceMembers.ts"
import { Audiences } from "../../../src/store/consumer/Audiences.ts"
import { ConsumerRecords } from "../../../src/store/consumer/ConsumerRecords.ts"
import { ExperienceEntries } from "../../../src/store/experience/ExperienceEntries.ts"
import { ExperienceViews } from "../../../src/store/experience/ExperienceViews.ts"
import { ExperienceProducts } from "../../../src/store/experience/ExperienceProducts.ts"
import { ExperiencePages } from "../../../src/store/experience/ExperiencePages.ts"
import { Experiences } from "../../../src/store/experience/Experiences.ts"
import { History } from "../../../src/store/journal/History.ts"
import { Journal } from "../../../src/store/journal/Journal.ts"
import * as JournalCodec from "../../../src/store/journal/JournalCodec.ts"
import * as JournalSql from "../../../src/store/journal/JournalSql.ts"
import { Mechanisms } from "../../../src/store/mechanism/Mechanisms.ts"
import { Orders } from "../../../src/store/consumer/Orders.ts"
import type { Page, PageQuery } from "../../../src/store/records/Pagination.ts"
import { OrderedPlaces } from "../../../src/store/mechanism/OrderedPlaces.ts"
import { Places } from "../../../src/store/mechanism/Places.ts"
import { Profiles } from "../../../src/store/consumer/Profiles.ts"
import { SequenceAccess } from "../../../src/store/experience/SequenceAccess.ts"
import { Sequences } from "../../../src/store/experience/Sequences.ts"
import * as TestDatabase from "./TestDatabase.ts"

/** All repositories, the journal, and the database they share. */
export const layer = Layer.mergeAll(
  Experiences.layer,
  ExperiencePages.layer,
  Sequences.layer,
  Mechanisms.layer,
  Places.layer,
  OrderedPlaces.layer,
  History.layer,
  Audiences.layer,
  AudienceMembers.layer,
  ConsumerRecords.layer,
  SequenceAccess.layer,
  ExperienceViews.layer,
  ExperienceEntries.layer,
  ExperienceProducts.layer,
  Profiles.layer,
  Orders.layer,
  JournalSql.layer({ codecs: JournalCodec.codecs(actorDeciders) })
).pipe(
  Layer.provide(Settings.layerTest()),
  Layer.provideMerge(SecureRandom.layerWebCrypto),
  Layer.provideMerge(TestDatabase.layer)
)

/** A new organization, in live mode. */
export const aTenant = Effect.fnUntraced(function* (settings: object = {}) {
  const sql = yield* SqlClient.SqlClient
  const organizationId = randomUUID()
  yield* sql`
    insert into organizations (id, name, plan, settings, created_at)
    values (${organizationId}, 'Brand', 'growth', ${JSON.stringify(settings)}::text::jsonb, now())`
  return { organizationId, mode: "live" } as const
})

/** The same organization in test mode. */
export const inTestMode = (tenant: Tenant): Tenant => ({ ...tenant, mode: "test" })

/** Creates a consumer of the tenant. Returns its id. */
export const aConsumer = Effect.fnUntraced(function* (
  { organizationId, mode }: Tenant,
  row: { readonly type?: "guest" | "authenticated"; readonly [column: string]: unknown } = {}
) {
  const sql = yield* SqlClient.SqlClient
  const id = randomUUID()
  const consumer = { id, organization_id: organizationId, mode, type: "guest", created_at: new Date(1_000), ...row }
  yield* sql`insert into consumers ${sql.insert(consumer)}`
  return id
})

/** Returns whether the sequence admits the consumer. */
export const isAdmitted = (tenant: Tenant, sequenceId: string, consumerId: string) =>
  Effect.gen(function* () {
    const access = yield* SequenceAccess
    return (yield* access.admission(tenant, sequenceId, consumerId)) === "admitted"
  })

/** The configuration of an open queue that an admin admits by hand. */
export const byHand: Queue.Configuration = {
  name: "Line",
  timeZone: "UTC",
  supportsGuest: true,
  admitRate: 0,
  recycleExpiredAdmissions: false,
  loyaltyBiasEnabled: false,
  loyaltyHeadStartSeconds: 60
}

/**
 * Creates a queue directly in the journal, with a row in `places` for each of `places`. Returns its id and its
 * parents' ids.
 */
export const aQueue = Effect.fnUntraced(function* (
  tenant: Tenant,
  options: {
    readonly configuration?: Partial<Queue.Configuration>
    readonly experienceId?: string
    readonly sequenceId?: string
    readonly places?: ReadonlyArray<PlaceRow & { readonly consumerId: string }>
  } = {}
) {
  const journal = yield* Journal
  const experiences = yield* Experiences
  const sequences = yield* Sequences
  const id = randomUUID()
  const experienceId =
    options.experienceId ??
    (yield* experiences.create(tenant, "test", { name: "Drop", timeZone: "UTC", currencyCode: "USD" })).id
  const sequenceId =
    options.sequenceId ?? (yield* sequences.create(tenant, "test", experienceId, { name: "Sale", priority: 0 })).id
  const configuration = { ...byHand, ...options.configuration }
  const places = options.places ?? []
  yield* journal.create([
    {
      identity: { ...tenant, id, kind: "queue", experienceId, sequenceId },
      createdBy: "test",
      commit: {
        mechanismId: id,
        kind: "queue",
        expectedSequence: 0,
        events: [{ _tag: "Configured", at: 1, configuration, by: "test" } as Queue.Event],
        places: [],
        wakeAt: null,
        record: {
          configuration: encodeConfiguration(configuration),
          status: { statusOverride: null, statusOverrideAt: null, statusOverrideBy: null, teardownStatus: null },
          archived: false,
          updatedAt: 1,
          updatedBy: "test"
        }
      }
    }
  ])
  if (places.length > 0) {
    yield* journal.append({
      mechanismId: id,
      kind: "queue",
      expectedSequence: 1,
      events: places.map(({ consumerId, enteredAt }) => ({ _tag: "Entered", at: enteredAt, consumerId })),
      places,
      wakeAt: null
    })
  }
  return { id, experienceId, sequenceId }
})

const encodeConfiguration = (configuration: Queue.Configuration) =>
  Object.fromEntries(
    Object.entries(configuration).map(([name, value]) => [
      name,
      name.endsWith("At") ? new Date(value as number).toISOString() : value
    ])
  )

/** Reads every item of a list, page by page, forward or backward. `between` runs after each page. */
export const walk = Effect.fnUntraced(function* <A, E, R, E2 = never, R2 = never>(
  size: number,
  list: (query: PageQuery<never>) => Effect.Effect<Page<A>, E, R>,
  options: {
    readonly backward?: boolean
    readonly between?: (pages: number) => Effect.Effect<unknown, E2, R2>
  } = {}
) {
  const items: Array<A> = []
  let query: PageQuery<never> = options.backward ? { last: size } : { first: size }
  for (let pages = 1; pages < 1_000; pages++) {
    const { data, pageInfo } = yield* list(query)
    if (options.backward) items.unshift(...data)
    else items.push(...data)
    const cursor = options.backward ? pageInfo.startCursor : pageInfo.endCursor
    if (cursor === null) return items
    query = options.backward ? { last: size, before: cursor } : { first: size, after: cursor }
    if (options.between !== undefined) yield* options.between(pages)
  }
  return yield* Effect.die(new Error("the walk does not end"))
})
