/**
 * The order totals of consumers: the number of orders, their sum in each currency and the date of the latest one. The
 * consumer's row stores them. The sum in the organization's currency has its own column, which sorts and compares
 * consumers. A change of that currency recomputes it. Cancelled orders do not count.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { Fragment } from "effect/sql/Statement"
import type { Tenant } from "../../domain/values/Ids.ts"
import { defaultCurrencyCode } from "../../domain/values/Locale.ts"
import { totalOf } from "../../domain/consumer/Order.ts"
import { type OrderTotals, recounted, type Worth } from "../../domain/consumer/OrderTotals.ts"
import { CurrentBounds } from "../postgres/BoundedClient.ts"
import { notification } from "../coordination/Invalidations.ts"
import { type Row, settingsOf } from "./OrderRows.ts"
import { tellConsumersChanged, tellMembersRemoved } from "../experience/SequenceAccess.ts"
import { ofOrganization, ofTenant } from "../records/Tenancy.ts"

/** The time limit for recomputing an organization's consumers, in milliseconds. */
const restatingMillisMax = 120_000

/** A consumer's totals, and the currency that compares it with others. */
export interface HeldTotals {
  readonly totals: OrderTotals
  readonly currencyCode: string
}

/**
 * Locks the tenant's consumer `c` that meets the condition, and returns its totals. Returns undefined if there is none.
 * The lock makes concurrent orders of one consumer count one after another.
 */
export const held = Effect.fnUntraced(function* (sql: PgClient.PgClient, tenant: Tenant, fits: Fragment) {
  // The organization is locked first, as in `restate`. Another lock order could deadlock.
  const organizations = yield* sql<{ readonly currency_code: string | null }>`
    select settings ->> 'currencyCode' as currency_code from organizations where id = ${tenant.organizationId} for share`
  const consumers = yield* sql<{ readonly order_totals: OrderTotals }>`
    select c.order_totals from consumers c
    where ${ofTenant(sql, tenant, "c")} and ${fits} for no key update`
  const found: HeldTotals | undefined = consumers[0] && {
    totals: consumers[0].order_totals,
    currencyCode: organizations[0]?.currency_code ?? defaultCurrencyCode
  }
  return found
})

/** Replaces an order's previous contribution to its consumer's totals with its new one, and notifies every process. */
export const recount = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  { totals, currencyCode }: HeldTotals,
  before: Row | undefined,
  now: Row
) {
  const [was, is] = [worthOf(before), worthOf(now)]
  if (isSame(was, is) && (is === null || before?.placed_at.getTime() === now.placed_at.getTime())) return
  const next = recounted(totals, was, is)
  yield* sql`
    update consumers set
      order_count = order_count + ${(is === null ? 0 : 1) - (was === null ? 0 : 1)}::int,
      order_totals = ${sql.json(next)},
      total_order_value = ${next[currencyCode] ?? "0"}::numeric,
      last_order_at = (
        select max(placed_at) from orders where consumer_id = consumers.id and status <> 'CANCELLED'
      )
    where id = ${now.consumer_id}`
  yield* tellConsumersChanged(sql, [now.consumer_id])
  yield* sql`
    select ${notification(sql, "consumer", sql`organization_id || ' ' || mode || ' ' || id`)}
    from consumers where id = ${now.consumer_id}`
})

/** Recomputes the organization's consumer totals in another currency. The caller has locked the organization. */
export const restate = Effect.fnUntraced(function* (
  sql: PgClient.PgClient,
  organizationId: string,
  currencyCode: string = defaultCurrencyCode
) {
  const bounds = yield* CurrentBounds
  yield* sql`select set_config('statement_timeout', ${`${restatingMillisMax}`}, true)`
  yield* sql`
    update consumers set total_order_value = coalesce((order_totals ->> ${currencyCode}::text)::numeric, 0)
    where ${ofOrganization(sql, organizationId)} and order_totals <> '{}'`.pipe(
    Effect.provideService(CurrentBounds, { ...bounds, statementMillis: restatingMillisMax })
  )
  yield* tellMembersRemoved(sql)
})

/** Returns the order's contribution to its consumer's totals. Null if it does not count. */
const worthOf = (order: Row | undefined): Worth | null =>
  order === undefined || order.status === "CANCELLED"
    ? null
    : { currencyCode: order.currency_code, total: totalOf(settingsOf(order)) }

const isSame = (a: Worth | null, b: Worth | null): boolean =>
  a?.currencyCode === b?.currencyCode && a?.total === b?.total
