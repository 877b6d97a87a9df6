/** Every list of the Admin API, for the rules of all lists. A new list needs a row in `lists`, and nothing else. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { Sessions } from "../../../../src/auth/sessions/Sessions.ts"
import { Engine } from "../../../../src/engine/Engine.ts"
import { SecurityEvents } from "../../../../src/store/organization/SecurityEvents.ts"
import { ofTenant } from "../../../../src/store/records/Tenancy.ts"
import { aConsumer } from "../../../store/support/recordsFixture.ts"
import { anExperience, aQueue, aSequence, enter } from "../adminFixture.ts"
import { bids, bookings } from "./orderedLists.ts"
import { messages, stoppedAddresses } from "./messageLists.ts"
import { rehearsals } from "./rehearsalList.ts"
import { stockHistory, stocks } from "./stockLists.ts"
import { fonts, pictures } from "./uploadLists.ts"
import {
  byId,
  inserted,
  instant,
  type Key,
  type MakeList,
  name,
  noneFirst,
  noneLast,
  records,
  request,
  sorted
} from "./listRows.ts"

const mechanismSorts = { ...sorted, openAt: ({ openAt }: { readonly openAt: string | null }) => noneFirst(openAt) }

/** The body of a mechanism. Every second one is already open. */
const mechanism = (n: number, sequenceId: string, settings: object) => ({
  name: name(n),
  sequenceId,
  ...(n % 2 === 1 && { openAt: instant(n) }),
  ...settings
})

const mechanisms =
  (path: string, settings: object = {}): MakeList =>
  (as) =>
    Effect.flatMap(aSequence({}, as), ({ id }) => records(path, mechanismSorts, (n) => mechanism(n, id, settings))(as))

const later = "2099-01-01T00:00:00.000Z"

const kinds = {
  queues: { admitRate: 0 },
  draws: { drawAt: later, winnerCount: 1 },
  auctions: { settleAt: later, startPrice: "10" },
  appointments: { slotDurationMinutes: 60, slotsFrom: later, slotsUntil: "2099-01-02T00:00:00.000Z" },
  "timed-releases": {},
  waitlists: {}
}

/** Waitlists, each in a new sequence, because a sequence has one at most. */
const waitlists: MakeList = Effect.fnUntraced(function* (as) {
  const list = yield* records("/waitlists", mechanismSorts, () => ({}))(as)
  return {
    ...list,
    make: (n: number) =>
      Effect.flatMap(aSequence({}, as), ({ id }) => request(as, "POST", "/waitlists", mechanism(n, id, {})))
  }
})

/** The mechanisms of all kinds, one kind after the other. */
const distributions: MakeList = Effect.fnUntraced(function* (as) {
  const { id: sequenceId } = yield* aSequence({}, as)
  const paths = Object.entries(kinds)
  const kindOf = new Map<Key, string>()
  return {
    path: "/distributions",
    sorts: mechanismSorts,
    idOf: byId,
    filter: "type=queue",
    make: Effect.fnUntraced(function* (n) {
      const [path, settings] = paths[n % paths.length]!
      const below = path === "waitlists" ? (yield* aSequence({}, as)).id : sequenceId
      const { id } = yield* request(as, "POST", `/${path}`, mechanism(n, below, settings))
      kindOf.set(id, path)
    }),
    archive: (id) => request(as, "DELETE", `/${kindOf.get(id)}/${id}`)
  }
})

/** Audiences. Every second one is counted when it is created. */
const audiences = records(
  "/audiences",
  {
    ...sorted,
    lastRefreshedAt: ({ lastRefreshedAt }: { readonly lastRefreshedAt: string | null }) => noneFirst(lastRefreshedAt)
  },
  (n) => ({
    name: name(n),
    ...(n % 2 === 1 && { rules: { match: "all", rules: [{ field: "orderCount", op: "gt", value: 0 }] } })
  })
)

const members: MakeList = Effect.fnUntraced(function* (as) {
  const { id } = yield* request(as, "POST", "/audiences", { name: "Friends" })
  const path = `/audiences/${id}/members`
  return {
    path,
    sorts: { addedAt: ({ addedAt }) => addedAt, consumerId: ({ consumerId }) => consumerId },
    idOf: ({ consumerId }) => consumerId,
    filter: "search=row",
    make: () =>
      Effect.flatMap(Effect.orDie(aConsumer(as.tenant)), (consumerId) =>
        request(as, "POST", path, { consumerIds: [consumerId] })
      ),
    archive: (consumerId) => request(as, "DELETE", path, { consumerIds: [consumerId] })
  }
})

/** The sessions of a consumer. They leave the list when they end. */
const sessions: MakeList = Effect.fnUntraced(function* (as) {
  const consumerId = yield* Effect.orDie(aConsumer(as.tenant))
  const path = `/consumers/${consumerId}/sessions`
  return {
    path,
    sorts: { createdAt: sorted.createdAt },
    idOf: byId,
    filter: "type=authenticated",
    make: () => Effect.orDie(Effect.flatMap(Sessions, (started) => started.start({ tenant: as.tenant, consumerId }))),
    archive: (id) => request(as, "DELETE", `${path}/${id}`)
  }
})

/** The places of a consumer. A place that has ended stays in the list. */
const places: MakeList = Effect.fnUntraced(function* (as) {
  const consumerId = yield* Effect.orDie(aConsumer(as.tenant))
  const engine = yield* Engine
  return {
    path: `/consumers/${consumerId}/places`,
    sorts: { enteredAt: ({ enteredAt }) => enteredAt },
    idOf: ({ distributionId }) => distributionId,
    filter: "active=true",
    make: () =>
      Effect.flatMap(aQueue({}, as), ({ id }) =>
        Effect.orDie(
          engine.send(
            { kind: "queue", id, tenant: as.tenant },
            { _tag: "Enter", consumerId, isGuest: false, loyaltyScore: 0 }
          )
        )
      )
  }
})

/** The deliveries of a webhook. No row is removed before it is old. */
const webhookDeliveries: MakeList = Effect.fnUntraced(function* (as) {
  const { id } = yield* request(as, "POST", "/webhooks", {
    url: "https://shop.example/hooks",
    events: ["distribution.joined"]
  })
  return {
    path: `/webhooks/${id}/deliveries`,
    sorts: { createdAt: sorted.createdAt },
    idOf: byId,
    filter: "status=FAILED",
    make: (n: number) =>
      inserted("webhook_deliveries", {
        webhook_id: id,
        event_id: randomUUID(),
        id: randomUUID(),
        type: "distribution.joined",
        status: "DELIVERED",
        attempts: "[]",
        body: "{}",
        created_at: new Date(instant(n)),
        updated_at: new Date(instant(n))
      })
  }
})

/** The events of a receiver. No row is removed before it is old. */
const receivedEvents: MakeList = Effect.fnUntraced(function* (as) {
  const { id } = yield* request(as, "POST", "/receivers", { adapter: "stripe", secret: "whsec_0123456789" })
  return {
    path: `/receivers/${id}/events`,
    sorts: { receivedAt: ({ receivedAt }) => receivedAt },
    idOf: byId,
    filter: "status=FAILED",
    make: (n: number) =>
      inserted("received_events", {
        receiver_id: id,
        event_id: randomUUID(),
        id: randomUUID(),
        type: "charge.refunded",
        at: new Date(instant(n)),
        received_at: new Date(instant(n)),
        body: "{}",
        status: "DONE",
        attempts: 1,
        outcome: "ORDER_CANCELLED"
      })
  }
})

/** The consumers of a queue. No row is removed: a consumer who leaves stays listed as left. */
const placed: MakeList = Effect.fnUntraced(function* (as) {
  const { id } = yield* aQueue({}, as)
  return {
    path: `/distributions/${id}/consumers`,
    sorts: { enteredAt: ({ enteredAt }) => enteredAt, consumerId: ({ consumerId }) => consumerId },
    idOf: ({ consumerId }) => consumerId,
    filter: "status=QUEUED",
    make: () => Effect.orDie(enter(id, 1, as))
  }
})

/** The recorded events of a queue: one for its creation, and one for each consumer. */
const history: MakeList = Effect.fnUntraced(function* (as) {
  const { id } = yield* aQueue({}, as)
  return {
    path: `/distributions/${id}/history`,
    sorts: { sequence: ({ sequence }) => sequence },
    idOf: ({ sequence }) => sequence,
    filter: "type=Entered",
    make: () => Effect.orDie(enter(id, 1, as))
  }
})

const updated = { updatedAt: ({ updatedAt }: { readonly updatedAt: string }) => updatedAt }

const pages: MakeList = (as) =>
  Effect.flatMap(anExperience({}, as), ({ id }) =>
    records("/experience-pages", { createdAt: sorted.createdAt, title: ({ title }) => title, ...updated }, (n) => ({
      experienceId: id,
      slug: `row-${n}`,
      title: name(n),
      creativeDocument: {
        schemaVersion: 1,
        editor: "sms-text-v1",
        kind: "announcement-sms",
        body: { textTemplate: "Now" }
      }
    }))(as)
  )

/** Variants, each of a new product, because a product has a small maximum number of variants. */
const variants: MakeList = Effect.fnUntraced(function* (as) {
  const list = yield* records("/variants", { createdAt: sorted.createdAt, ...updated }, () => ({}))(as)
  return {
    ...list,
    make: Effect.fnUntraced(function* (n: number) {
      const { id } = yield* request(as, "POST", "/products", { name: name(n) })
      return yield* request(as, "POST", "/variants", { productId: id, sku: name(n) })
    })
  }
})

/** The values of an option, sorted by position. */
const optionValues: MakeList = (as) =>
  Effect.flatMap(request(as, "POST", "/variant-options", { name: "Size" }), ({ id }) => {
    const path = `/variant-options/${id}/values`
    return Effect.map(
      records(path, { sortOrder: ({ sortOrder }) => sortOrder }, (n) => ({ value: `row ${n}` }))(as),
      (list) => ({ ...list, filter: "archived=true" })
    )
  })

/** Orders, which are never archived. */
const orders: MakeList = Effect.fnUntraced(function* (as) {
  const consumerId = yield* Effect.orDie(aConsumer(as.tenant))
  const sorts = {
    createdAt: sorted.createdAt,
    ...updated,
    total: ({ total }: { readonly total: string }) => Number(total)
  }
  const bodyOf = (n: number) => ({ consumerId, status: "PAID", total: `${9 + (n % 4)}.50` })
  const { archive: _, ...list } = yield* records("/orders", sorts, bodyOf)(as)
  return { ...list, filter: "status=PAID" }
})

/** Security events, each of another consumer. They are never archived. */
const securityEvents: MakeList = (as) =>
  Effect.succeed({
    path: "/security-events",
    sorts: { at: ({ at }) => at },
    idOf: byId,
    filter: "type=sign_in",
    make: Effect.fnUntraced(function* () {
      const events = yield* SecurityEvents
      yield* events.record(as.tenant, { type: "sign_in", consumerId: randomUUID() })
      yield* Effect.orDie(events.flush)
    })
  })

/** The audit log, emptied of what made the organization. An event of another tenant is not among it. */
const auditLog: MakeList = Effect.fnUntraced(function* (as) {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.orDie(sql`delete from tenant_events where ${ofTenant(sql, as.tenant)}`)
  return {
    path: "/audit-log",
    sorts: { sequence: ({ sequence }) => sequence },
    idOf: ({ sequence }) => sequence,
    filter: "type=product.created",
    make: (n) => request(as, "POST", "/products", { name: name(n) })
  }
})

/** A list that neither grows nor shrinks has no row below: a mode always has two keys. */
export const unchanging: ReadonlyArray<string> = ["/api-keys"]

/** The lists, keyed by their rows. */
export const lists: { readonly [rows: string]: MakeList } = {
  experiences: records("/experiences", { ...sorted, openAt: ({ openAt }) => noneLast(openAt) }, (n) => ({
    name: name(n),
    ...(n % 2 === 1 && { openAt: instant(n) })
  })),
  sequences: (as) =>
    Effect.flatMap(anExperience({}, as), ({ id }) =>
      records("/sequences", { ...sorted, priority: ({ priority }) => priority }, (n) => ({
        name: name(n),
        experienceId: id,
        priority: (n % 4) - 2
      }))(as)
    ),
  queues: mechanisms("/queues", kinds.queues),
  draws: mechanisms("/draws", kinds.draws),
  auctions: mechanisms("/auctions", kinds.auctions),
  appointments: mechanisms("/appointments", kinds.appointments),
  "timed releases": mechanisms("/timed-releases", kinds["timed-releases"]),
  waitlists,
  distributions,
  "distribution consumers": placed,
  "appointment bookings": bookings,
  "auction bids": bids,
  "distribution history": history,
  audiences,
  "audience members": members,
  "variant options": records("/variant-options", sorted, (n) => ({ name: name(n), values: [{ value: "S" }] })),
  "variant option values": optionValues,
  "sync sources": records("/sync-sources", { createdAt: sorted.createdAt }, (n) => ({
    syncSource: name(n),
    syncSourceId: `${n}`
  })),
  webhooks: records("/webhooks", { createdAt: sorted.createdAt, url: ({ url }) => url }, (n) => ({
    url: `https://shop.example/${name(n)}`,
    events: ["distribution.joined"]
  })),
  "webhook deliveries": webhookDeliveries,
  receivers: records("/receivers", { createdAt: sorted.createdAt }, (n) => ({
    adapter: "stripe",
    secret: "whsec_0123456789",
    description: name(n)
  })),
  "received events": receivedEvents,
  rehearsals,
  stocks,
  "stock history": stockHistory,
  gates: records("/gates", sorted, (n) => ({ name: name(n), hosts: ["shop.example"], rules: [] })),
  people: records("/people", { createdAt: sorted.createdAt, email: ({ email }) => email }, (n) => ({
    email: `person-${n}@example.com`,
    name: name(n),
    role: "viewer"
  })),
  "media assets": records("/media-assets", sorted, (n) => ({ name: name(n) })),
  products: records("/products", { ...sorted, ...updated }, (n) => ({ name: name(n) })),
  variants,
  "experience pages": pages,
  "consumer sessions": sessions,
  "consumer places": places,
  consumers: records(
    "/consumers",
    {
      createdAt: sorted.createdAt,
      email: ({ email }) => email ?? "",
      fullName: ({ fullName }) => fullName ?? "",
      lastOrderAt: ({ lastOrderAt }) => noneFirst(lastOrderAt),
      totalOrderValue: ({ totalOrderValue }) => Number(totalOrderValue)
    },
    (n) => ({ externalId: `row ${n}`, ...(n % 2 === 1 && { email: `row${n}@example.com`, fullName: name(n) }) })
  ),
  orders,
  "audit log": auditLog,
  "security events": securityEvents,
  messages,
  "stopped addresses": stoppedAddresses,
  pictures,
  fonts
}
