/**
 * A consumer as a row of `consumers`, and the settings that an admin changes.
 */
import { ofText, toText } from "../../domain/values/Amount.ts"
import type { Consumer, ConsumerType, Settings } from "../../domain/consumer/Consumer.ts"
import type { OrderTotals } from "../../domain/consumer/OrderTotals.ts"

/** The columns that an admin changes. */
export const settable = [
  "email",
  "phone",
  "full_name",
  "name",
  "external_id",
  "loyalty_balance",
  "attributes",
  "metadata"
] as const

/** Returns the settings as columns. Unset ones are undefined. */
export const columnsOf = (settings: Settings): { readonly [C in (typeof settable)[number]]: unknown } => ({
  email: settings.email,
  phone: settings.phone,
  full_name: settings.fullName,
  name: settings.name,
  external_id: settings.externalId,
  loyalty_balance: toText(settings.loyaltyBalance),
  attributes: settings.attributes,
  metadata: settings.metadata
})

export interface Row {
  readonly id: string
  readonly organization_id: string
  readonly type: ConsumerType
  readonly email: string | null
  readonly phone: string | null
  readonly full_name: string | null
  readonly name: string | null
  readonly external_id: string | null
  readonly loyalty_balance: string
  readonly attributes: NonNullable<Settings["attributes"]> | null
  readonly metadata: NonNullable<Settings["metadata"]> | null
  readonly order_count: number
  readonly total_order_value: string
  readonly order_totals: OrderTotals
  readonly last_order_at: Date | null
  readonly created_at: Date
  readonly created_by: string | null
  readonly updated_at: Date | null
  readonly updated_by: string | null
  readonly archived: boolean
}

export const settingsOf = (row: Row): Settings => ({
  loyaltyBalance: ofText(row.loyalty_balance),
  ...(row.email !== null && { email: row.email }),
  ...(row.phone !== null && { phone: row.phone }),
  ...(row.full_name !== null && { fullName: row.full_name }),
  ...(row.name !== null && { name: row.name }),
  ...(row.external_id !== null && { externalId: row.external_id }),
  ...(row.attributes !== null && { attributes: row.attributes }),
  ...(row.metadata !== null && { metadata: row.metadata })
})

export const toConsumer = (row: Row): Consumer => {
  const itself = `consumer:${row.id}`
  const createdBy = row.created_by ?? itself
  return {
    id: row.id,
    organizationId: row.organization_id,
    type: row.type,
    email: row.email,
    phone: row.phone,
    fullName: row.full_name,
    name: row.name,
    externalId: row.external_id,
    loyaltyBalance: ofText(row.loyalty_balance),
    attributes: row.attributes,
    metadata: row.metadata,
    orderCount: row.order_count,
    totalOrderValue: valueOf(row),
    totalOrderValues: row.order_totals,
    lastOrderAt: row.last_order_at?.getTime() ?? null,
    createdAt: row.created_at.getTime(),
    createdBy,
    updatedAt: (row.updated_at ?? row.created_at).getTime(),
    updatedBy: row.updated_by ?? (row.updated_at === null ? createdBy : itself),
    archived: row.archived
  }
}

/**
 * Returns the total in the notation of its currency. The column pads it with zeros, so an equal stored total is
 * preferred.
 */
const valueOf = ({ total_order_value, order_totals }: Row): string => {
  const value = ofText(total_order_value)
  return Object.values(order_totals).find((total) => ofText(total) === value) ?? toText(value)
}
