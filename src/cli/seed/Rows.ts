/**
 * The rows of sample data: a catalogue, experiences with pages, consumers and what they have ordered. They look like an
 * organization of two years' standing. Addresses are of example.com, and nobody has a phone number: nothing that is done
 * with them reaches a person.
 */
import { randomUUID } from "node:crypto"
import type { Tenant } from "../../domain/Ids.ts"
import { below, type Random32 } from "../../domain/SeededRandom.ts"
import type { SampleRow } from "../../store/Samples.ts"
import { firstNames, lastNames, occasions, styles, things } from "./Words.ts"

const by = "seed"
const dayMillis = 86_400_000
/** How far back the data reaches. */
const days = 730

/** How many of each there are for so many consumers. */
export const countsFor = (consumers: number) => ({
  products: Math.min(5_000, Math.max(12, Math.round(consumers / 200))),
  experiences: Math.min(2_000, Math.max(4, Math.round(consumers / 1_000))),
  pages: Math.max(10, Math.round(consumers / 10)),
  consumers
})

/** Makes rows of one tenant; `run` keeps the addresses of several runs apart. */
export const makeRows = (tenant: Tenant, random: Random32, run: string, now: number) => {
  const one = <A>(of: ReadonlyArray<A>): A => of[below(random, of.length)]!
  const some = (most: number): number => below(random, most + 1)
  const moment = (): string => new Date(now - below(random, days) * dayMillis - below(random, dayMillis)).toISOString()
  const stamps = (at: string) => ({ created_at: at, created_by: by, updated_at: at, updated_by: by, archived: false })
  const owned = { organization_id: tenant.organizationId, mode: tenant.mode }
  const cents = (amount: number): string => (amount / 100).toFixed(2)

  const product = (): { readonly product: SampleRow; readonly variant: SampleRow } => {
    const at = moment()
    const id = randomUUID()
    const variantId = randomUUID()
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

  const experience = (): { readonly experience: SampleRow; readonly sequence: SampleRow } => {
    const at = moment()
    const id = randomUUID()
    const name = `${one(styles)} ${one(things)} ${one(occasions)}`
    const sequence = { id: randomUUID(), ...owned, experience_id: id, name: "General sale", record: { priority: 0 } }
    return {
      experience: { id, ...owned, name, record: { timeZone: "UTC", currencyCode: "EUR" }, ...stamps(at) },
      sequence: { ...sequence, ...stamps(at) }
    }
  }

  const page = (experienceId: string, number: number): SampleRow => {
    const at = moment()
    const title = `${one(styles)} ${one(things)}: ${one(occasions)}`
    const isPublished = some(2) > 0
    return {
      id: randomUUID(),
      ...owned,
      experience_id: experienceId,
      slug: `${title.toLowerCase().replaceAll(/[^a-z]+/g, "-")}-${run}-${number.toString(36)}`,
      title,
      status: isPublished ? "PUBLISHED" : "DRAFT",
      creative_document: {
        schemaVersion: 1,
        kind: "announcement-email",
        editor: "email-components-v1",
        body: { subjectTemplate: title, nodes: [{ type: "heading", level: 1, content: title }] }
      },
      record: {},
      published_at: isPublished ? at : null,
      last_published_at: isPublished ? at : null,
      ...stamps(at)
    }
  }

  /** A consumer with what it has ordered: most have ordered nothing. */
  const consumer = (number: number): { readonly consumer: SampleRow; readonly orders: ReadonlyArray<SampleRow> } => {
    const [first, last] = [one(firstNames), one(lastNames)]
    const at = moment()
    const id = randomUUID()
    const totals = Array.from({ length: Math.max(0, some(9) - 6) }, () => 1_900 + some(60_000))
    const orders = totals.map((total, order) => orderOf(id, total, `${run}-${number.toString(36)}-${order}`))
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
        total_order_value: cents(totals.reduce((sum, total) => sum + total, 0)),
        last_order_at: orders.map(({ placed_at }) => placed_at as string).reduce<string | null>(later, null),
        created_at: at,
        created_by: by,
        updated_at: at,
        updated_by: by,
        archived: false
      },
      orders
    }
  }

  const orderOf = (consumerId: string, totalCents: number, name: string): SampleRow => {
    const at = moment()
    return {
      id: randomUUID(),
      ...owned,
      consumer_id: consumerId,
      external_id: name,
      status: one(["PAID", "FULFILLED"]),
      currency_code: "EUR",
      total: cents(totalCents),
      record: { items: [{ quantity: 1, unitPrice: cents(totalCents) }] },
      placed_at: at,
      paid_at: at,
      ...stamps(at)
    }
  }

  return { product, experience, page, consumer }
}

const later = (a: string | null, b: string): string => (a === null || b > a ? b : a)
