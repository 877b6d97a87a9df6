// oxlint-disable unicorn/no-thenable -- the rules of gates have this field
/**
 * Every kind of record that the Admin API can change or archive, for the rules that apply to all of them. A new kind
 * needs a row in `records`, and nothing else.
 */
import { Effect } from "effect"
import { randomUUID } from "node:crypto"
import { aConsumer } from "../../../store/support/recordsFixture.ts"
import { Admin, anExperience, type Answer, aSequence, type Organization } from "../adminFixture.ts"
import { inDays, mechanismsOfEachKind } from "../experience/aggregateFixture.ts"

/** One record of an organization. */
export interface Made {
  /** The path at which it is changed and archived. */
  readonly path: string
  /** The filter of its list, if the list belongs to a parent record. */
  readonly list: string
  /** The parent record, which can be archived and restored. */
  readonly parent?: string
}

/** A kind of record. */
export interface Kind {
  /** Creates a record with as many related records as it can have. */
  readonly make: (as: Organization) => Effect.Effect<Made, never, Services>
  /** The body of a change. */
  readonly change: object
  /** Absent if the kind is never archived. */
  readonly archives?: "and restores" | "for good"
}

type Services = Effect.Services<ReturnType<typeof anExperience>> | Effect.Services<ReturnType<typeof aConsumer>>

const create = Effect.fnUntraced(function* (as: Organization, path: string, body: object) {
  const { call } = yield* Admin
  const answer = yield* call("POST", path, body, as)
  if (answer.status !== 201) throw new Error(`POST ${path}: ${answer.status} ${answer.text}`)
  return answer.body
})

/** Reads the record at a path as `GET` returns it. A value of an option is read from its option. */
export const shown = Effect.fnUntraced(function* ({ path }: Pick<Made, "path">, as: Organization) {
  const { call } = yield* Admin
  const [optionPath, valueId] = path.split("/values/") as [string, string?]
  const answer = yield* call("GET", optionPath, undefined, as)
  if (valueId === undefined || answer.status !== 200) return answer
  const body = answer.body.values.find(({ id }: { readonly id: string }) => id === valueId)
  return { ...answer, status: body === undefined ? 404 : 200, body } satisfies Answer
})

/** A record without required references. */
const alone = (path: string, body: () => object): Kind["make"] =>
  Effect.fnUntraced(function* (as: Organization) {
    const { id } = yield* create(as, path, body())
    return { path: `${path}/${id}`, list: path }
  })

/** A mechanism in a new sequence. */
const mechanism = (path: string, settings: object): Kind => ({
  make: Effect.fnUntraced(function* (as: Organization) {
    const { id: sequenceId } = yield* aSequence({}, as)
    const { id } = yield* create(as, path, { name: "One", sequenceId, ...settings })
    return { path: `${path}/${id}`, list: path }
  }),
  change: { name: "Another" },
  archives: "for good"
})

/** Creates a product with variants, media and a sync source, and returns these too. */
const aFullProduct = Effect.fnUntraced(function* (as: Organization) {
  const { id: mediaAssetId } = yield* create(as, "/media-assets", { name: "Side" })
  const { id: primarySyncSourceId } = yield* create(as, "/sync-sources", { syncSource: "shop", syncSourceId: "1" })
  const option = yield* create(as, "/variant-options", { name: "Size", values: [{ value: "S" }, { value: "M" }] })
  const variants = option.values.map(({ id: valueId }: { readonly id: string }) => ({
    sku: "SNK",
    primarySyncSourceId,
    options: [{ optionId: option.id, valueId }]
  }))
  const productMediaAssets = [{ mediaAssetId }]
  return yield* create(as, "/products", { name: "Sneaker", primarySyncSourceId, productMediaAssets, variants })
})

const slugged = () => ({
  slug: randomUUID(),
  title: "The opening",
  creativeDocument: {
    schemaVersion: 1,
    editor: "sms-text-v1",
    kind: "announcement-sms",
    body: { textTemplate: "Now" }
  }
})

/** The kinds, keyed by name. */
export const records: { readonly [kind: string]: Kind } = {
  experience: {
    make: Effect.fnUntraced(function* (as: Organization) {
      const { id: productId } = yield* aFullProduct(as)
      const sequences = [{ name: "Members", ...mechanismsOfEachKind() }, { name: "Everybody" }]
      const { id } = yield* create(as, "/experiences", { name: "Drop", products: [{ productId }], sequences })
      return { path: `/experiences/${id}`, list: "/experiences" }
    }),
    change: { name: "Another", products: [] },
    archives: "and restores"
  },
  "experience page": {
    make: Effect.fnUntraced(function* (as: Organization) {
      const { id: experienceId } = yield* anExperience({}, as)
      const { id } = yield* create(as, "/experience-pages", { ...slugged(), experienceId })
      const list = `/experience-pages?experienceId=${experienceId}`
      return { path: `/experience-pages/${id}`, list, parent: `/experiences/${experienceId}` }
    }),
    change: { title: "Another" },
    archives: "and restores"
  },
  sequence: {
    make: Effect.fnUntraced(function* (as: Organization) {
      const { id: experienceId } = yield* anExperience({}, as)
      const { id } = yield* create(as, "/sequences", { name: "Members", experienceId, ...mechanismsOfEachKind() })
      const list = `/sequences?experienceId=${experienceId}`
      return { path: `/sequences/${id}`, list, parent: `/experiences/${experienceId}` }
    }),
    change: { name: "Another", priority: 3 },
    archives: "and restores"
  },
  queue: mechanism("/queues", { admitRate: 0 }),
  draw: mechanism("/draws", { drawAt: inDays(2), winnerCount: 1 }),
  auction: mechanism("/auctions", { settleAt: inDays(2), startPrice: "10" }),
  appointment: mechanism("/appointments", { slotDurationMinutes: 60, slotsFrom: inDays(1), slotsUntil: inDays(2) }),
  "timed release": mechanism("/timed-releases", {}),
  waitlist: mechanism("/waitlists", {}),
  audience: {
    make: alone("/audiences", () => ({
      name: "Friends",
      rules: { match: "all", rules: [{ field: "orderCount", op: "gt", value: 0 }] }
    })),
    change: { name: "Family" },
    archives: "and restores"
  },
  consumer: {
    make: alone("/consumers", () => ({ email: `${randomUUID()}@example.com`, externalId: randomUUID() })),
    change: { fullName: "Ann" },
    archives: "and restores"
  },
  order: {
    make: Effect.fnUntraced(function* (as: Organization) {
      const consumerId = yield* Effect.orDie(aConsumer(as.tenant))
      const { id } = yield* create(as, "/orders", {
        consumerId,
        total: "9.50",
        items: [{ name: "Sneaker", quantity: 1, unitPrice: "9.50" }]
      })
      return { path: `/orders/${id}`, list: "/orders" }
    }),
    change: { status: "PAID" }
  },
  product: {
    make: (as) => Effect.map(aFullProduct(as), ({ id }) => ({ path: `/products/${id}`, list: "/products" })),
    change: { name: "Boot", metadata: { season: "winter" } },
    archives: "and restores"
  },
  variant: {
    make: (as) =>
      Effect.map(aFullProduct(as), ({ id, variants }) => ({
        path: `/variants/${variants[0].id}`,
        list: `/variants?productId=${id}`,
        parent: `/products/${id}`
      })),
    change: { sku: "BT", price: "10" },
    archives: "and restores"
  },
  "media asset": {
    make: alone("/media-assets", () => ({ name: "Side", altText: "From the side" })),
    change: { name: "Front" },
    archives: "and restores"
  },
  webhook: {
    make: alone("/webhooks", () => ({ url: "https://shop.example/hooks", events: ["distribution.joined"] })),
    change: { description: "Joined" },
    archives: "and restores"
  },
  receiver: {
    make: alone("/receivers", () => ({ adapter: "stripe", secret: "whsec_0123456789" })),
    change: { description: "Till" },
    archives: "and restores"
  },
  stock: {
    make: Effect.fnUntraced(function* (as: Organization) {
      const { id: productId } = yield* create(as, "/products", { name: "Shoe" })
      const { id: variantId } = yield* create(as, "/variants", { productId, inventoryQuantity: 3 })
      const { id: sequenceId } = yield* aSequence({}, as)
      const { id: distributionId } = yield* create(as, "/queues", { name: "One", sequenceId, admitRate: 0 })
      const takers = [{ distributionId, upTo: 2 }]
      const { id } = yield* create(as, "/stocks", { name: "Pairs", variantIds: [variantId], takers })
      return { path: `/stocks/${id}`, list: "/stocks" }
    }),
    change: { name: "Another", lowAt: 2 },
    archives: "for good"
  },
  gate: {
    make: Effect.fnUntraced(function* (as: Organization) {
      const { id: sequenceId } = yield* aSequence({}, as)
      const { id: queueId } = yield* create(as, "/queues", { name: "One", sequenceId, admitRate: 0 })
      const rules = [{ when: { pathPrefix: "/checkout" }, then: { queueId } }]
      const { id } = yield* create(as, "/gates", { name: "Shop", hosts: ["shop.example"], rules })
      return { path: `/gates/${id}`, list: "/gates" }
    }),
    change: { name: "Another", rules: [] },
    archives: "and restores"
  },
  person: {
    make: alone("/people", () => ({ email: `${randomUUID()}@example.com`, role: "viewer" })),
    change: { role: "operator" },
    archives: "and restores"
  },
  "sync source": {
    make: alone("/sync-sources", () => ({ syncSource: "shop", syncSourceId: "1" })),
    change: { syncStatus: "SUCCESS" },
    archives: "and restores"
  },
  "variant option": {
    make: alone("/variant-options", () => ({ name: "Size", values: [{ value: "S" }, { value: "M" }] })),
    change: { name: "Width" },
    archives: "and restores"
  },
  "variant option value": {
    make: Effect.fnUntraced(function* (as: Organization) {
      const { id, values } = yield* create(as, "/variant-options", { name: "Size", values: [{ value: "S" }] })
      const parent = `/variant-options/${id}`
      return { path: `${parent}/values/${values[0].id}`, list: `${parent}/values`, parent }
    }),
    change: { displayValue: "Small" },
    archives: "and restores"
  }
}
