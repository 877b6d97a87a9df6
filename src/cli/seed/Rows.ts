/**
 * Rows of sample data: a catalogue, experiences with pages, consumers and their orders. They look like two years of an
 * organization's business. Addresses are on example.com, and there are no phone numbers, so no message reaches a
 * person.
 */
import { randomUUID } from "node:crypto"
import type { Tenant } from "../../domain/values/Ids.ts"
import { below, type Random32 } from "../../domain/values/SeededRandom.ts"
import type { SampleRow } from "../../store/postgres/Samples.ts"

/** Words in a text, between blanks. */
const words = (text: string): ReadonlyArray<string> => text.trim().split(/\s+/)

const firstNames = words(`
  Ada Amara Anna Aylin Ben Carla Chidi Dana Elif Emil Fatima Felix Grace Hana Hugo Ines Ivan Jonas Kemal Lena Liam
  Lucia Mara Mateo Mei Milo Nadia Noah Olga Oscar Priya Rafael Rosa Samir Selma Sofia Tariq Theo Uma Victor Wanda
  Yara Yusuf Zoe`)
const lastNames = words(`
  Adeyemi Almeida Andersen Bauer Becker Bernard Brandt Castillo Chen Costa Demir Dubois Eriksen Fischer Fontana
  Garcia Haddad Hansen Hoffmann Ito Jansen Kaya Keller Khan Kowalski Larsen Lindqvist Lopez Martin Meyer Moreau
  Nakamura Novak Okafor Oliveira Park Petrov Ricci Rossi Sato Schmidt Silva Singh Suzuki Tanaka Vogel Weber Yilmaz
  Zhang`)
const things = words(`
  Sneaker Runner Jacket Hoodie Parka Watch Backpack Cap Poster Vinyl Figure Lamp Camera Guitar Skateboard Bottle`)
const styles = words(`
  Alpine Archive Aurora Classic Coral Dusk Ember Fjord Harbour Indigo Lunar Meridian Mono Nord Onyx Orbit Pacific
  Retro Sable Signal Summit Terra Vega Velvet`)
const occasions = words(`
  Drop Release Restock Preview Anniversary Collaboration Raffle Finale`)

const by = "seed"
const dayMillis = 86_400_000
/** How many days the data reaches back. */
const days = 730

/** Returns the number of records of each kind for a number of consumers. */
export const countsFor = (consumers: number) => ({
  products: Math.min(5_000, Math.max(12, Math.round(consumers / 200))),
  experiences: Math.min(2_000, Math.max(4, Math.round(consumers / 1_000))),
  pages: Math.max(10, Math.round(consumers / 10)),
  consumers
})

/** The number of records of each kind. */
export type Counts = ReturnType<typeof countsFor>

/** The tenant of the rows, and its currency. */
export interface Seller extends Tenant {
  readonly currencyCode: string
}

/**
 * Creates the rows of one tenant, each kind ordered by age, from two years ago to today. `run` keeps the addresses of
 * several runs distinct.
 */
export const makeRows = (seller: Seller, random: Random32, run: string, now: number, counts: Counts) => {
  const { currencyCode } = seller
  const one = <A>(of: ReadonlyArray<A>): A => of[below(random, of.length)]!
  const some = (most: number): number => below(random, most + 1)
  /** Returns a random moment since `at`. */
  const momentSince = (at: number): number => at + Math.floor((below(random, dayMillis) / dayMillis) * (now - at))
  /** Returns the creation time of record `number` out of `of`. */
  const momentOf = (number: number, of: number): number => now - Math.ceil(days * dayMillis * (1 - number / of))
  const stamps = (at: number) => {
    const moment = new Date(at).toISOString()
    return { created_at: moment, created_by: by, updated_at: moment, updated_by: by, archived: false }
  }
  const owned = { organization_id: seller.organizationId, mode: seller.mode }
  const cents = (amount: number): string => (amount / 100).toFixed(2)

  const product = (number: number): { readonly product: SampleRow; readonly variant: SampleRow } => {
    const at = momentOf(number, counts.products)
    const id = idOf(at)
    const variantId = idOf(at)
    const name = `${one(styles)} ${one(things)} ${some(99)}`
    const handle = name.toLowerCase().replaceAll(" ", "-")
    const record = { handle, description: `The ${name}, made in small numbers.` }
    const variant = {
      sku: `${handle}-${some(9_999)}`,
      price: cents(1_900 + some(60_000)),
      inventoryQuantity: some(500),
      inventoryPolicy: "deny"
    }
    return {
      product: { id, ...owned, name, record, default_variant_id: variantId, ...stamps(at) },
      variant: { id: variantId, ...owned, product_id: id, sku: variant.sku, record: variant, ...stamps(at) }
    }
  }

  const experience = (number: number): { readonly experience: SampleRow; readonly sequence: SampleRow } => {
    const at = momentOf(number, counts.experiences)
    const id = idOf(at)
    const name = `${one(styles)} ${one(things)} ${one(occasions)}`
    const sequence = { id: idOf(at), ...owned, experience_id: id, name: "General sale", record: { priority: 0 } }
    return {
      experience: { id, ...owned, name, record: { timeZone: "UTC", currencyCode }, ...stamps(at) },
      sequence: { ...sequence, ...stamps(at) }
    }
  }

  const page = (experienceId: string, number: number): SampleRow => {
    const at = momentOf(number, counts.pages)
    const title = `${one(styles)} ${one(things)}: ${one(occasions)}`
    const publishedAt = some(2) > 0 ? new Date(at).toISOString() : null
    return {
      id: idOf(at),
      ...owned,
      experience_id: experienceId,
      slug: `${title.toLowerCase().replaceAll(/[^a-z]+/g, "-")}-${run}-${number.toString(36)}`,
      title,
      status: publishedAt === null ? "DRAFT" : "PUBLISHED",
      creative_document: {
        schemaVersion: 1,
        kind: "announcement-email",
        editor: "email-components-v1",
        body: { subjectTemplate: title, nodes: [{ type: "heading", level: 1, content: title }] }
      },
      record: {},
      published_at: publishedAt,
      last_published_at: publishedAt,
      ...stamps(at)
    }
  }

  /** Creates a consumer with its orders. Most consumers have none. */
  const consumer = (number: number): { readonly consumer: SampleRow; readonly orders: ReadonlyArray<SampleRow> } => {
    const [first, last] = [one(firstNames), one(lastNames)]
    const at = momentOf(number, counts.consumers)
    const id = idOf(at)
    const totals = Array.from({ length: Math.max(0, some(9) - 6) }, () => 1_900 + some(60_000))
    const ordered = cents(totals.reduce((sum, total) => sum + total, 0))
    const orders = totals.map((total, order) => orderOf(id, at, total, `${run}-${number.toString(36)}-${order}`))
    return {
      consumer: {
        id,
        ...owned,
        type: "authenticated",
        email: `${first}.${last}.${run}-${number.toString(36)}@example.com`.toLowerCase(),
        full_name: `${first} ${last}`,
        external_id: `${run}-${number.toString(36)}`,
        loyalty_balance: some(2_000),
        attributes: {
          city: one(["Berlin", "Lagos", "Lisbon", "London", "Osaka", "Paris", "Seoul"]),
          size: 36 + some(10)
        },
        order_count: orders.length,
        total_order_value: ordered,
        order_totals: totals.length === 0 ? {} : { [currencyCode]: ordered },
        last_order_at: orders.map(({ placed_at }) => placed_at as string).reduce<string | null>(later, null),
        ...stamps(at)
      },
      orders
    }
  }

  const orderOf = (consumerId: string, since: number, totalCents: number, name: string): SampleRow => {
    const at = momentSince(since)
    const placedAt = new Date(at).toISOString()
    return {
      id: idOf(at),
      ...owned,
      consumer_id: consumerId,
      external_id: name,
      status: one(["PAID", "FULFILLED"]),
      currency_code: currencyCode,
      total: cents(totalCents),
      record: { items: [{ quantity: 1, unitPrice: cents(totalCents) }] },
      placed_at: placedAt,
      paid_at: placedAt,
      ...stamps(at)
    }
  }

  return { product, experience, page, consumer }
}

/** Returns a UUID of version 7, with the given time and random bits. */
const idOf = (at: number): string => {
  const millis = at.toString(16).padStart(12, "0")
  return `${millis.slice(0, 8)}-${millis.slice(8)}-7${randomUUID().slice(15)}`
}

const later = (a: string | null, b: string): string => (a === null || b > a ? b : a)
