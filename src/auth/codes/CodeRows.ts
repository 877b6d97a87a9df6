/**
 * The rows of one-time codes: one for each request. One statement on a row decides each rule.
 *
 * A code has six digits, so a bound on the guesses of a day must hold, however many clients guess. A bound that refuses
 * tries would let strangers lock the owner out. So a short code is made only while the tries that it allows fit into the
 * day's guesses, next to the wrong ones so far and to those that other open codes allow. After that codes are so long
 * that guesses do not count.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { Statement } from "effect/sql"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { ofTenant } from "../../store/records/Tenancy.ts"
import type { CodeAddress } from "../../domain/consumer/Address.ts"

/** How long a code is valid. */
export const codeMinutes = 10

/** Wrong tries after which a code is invalid. */
export const triesMax = 5

/** Guesses at short codes of one address in a day. */
export const guessesMax = 50

/** Digits of a code, and of one that is made while an address has no more guesses. */
const shortDigits = 6
const longDigits = 12

/** A code is used within ten minutes, so a day of guesses concerns the codes of a day and ten minutes. */
export const guessedMinutes = 24 * 60 + codeMinutes

/** Codes that one client may have sent to one address within `windowMinutes`. */
export const codesMax = 5

/** The codes of one client that count for other clients. */
const codesShareMax = 1
const windowMinutes = 10

/** A request for a code, ready to be stored. `client` is a digest of the client's address. */
export interface NewCode {
  readonly id: string
  readonly address: CodeAddress
  readonly client: Uint8Array
  /** Makes a code of so many digits. */
  readonly codeOf: (digits: number) => { readonly code: string; readonly hash: Uint8Array }
  readonly now: Millis
}

const conditions = (sql: PgClient.PgClient) => {
  const keyed = (tenant: Tenant, { channel, value }: CodeAddress) => sql`
    ${ofTenant(sql, tenant, "c")} and c.channel = ${channel} and c.address = ${value}`
  /** Without a request's id, the code that was sent last is the valid one. */
  const latest = (tenant: Tenant, address: CodeAddress) => sql`c.id = (
    select c.id from one_time_codes c where ${keyed(tenant, address)} order by c.sent_at desc, c.id desc limit 1
  )`
  return { keyed, latest }
}

/** Makes the statements. */
export const make = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient

  const { keyed, latest } = conditions(sql)

  /** Stores a code. Returns it with its id, or when the client may request the next one. */
  const insert = Effect.fnUntraced(function* (tenant: Tenant, { id, address, client, codeOf, now }: NewCode) {
    const { organizationId, mode } = tenant
    // Requests for one address wait for each other, so that their number is exact.
    const name = JSON.stringify([organizationId, mode, address.channel, address.value])
    yield* sql`select pg_advisory_xact_lock(hashtextextended(${name}::text, 0))`
    const sent = yield* sql<{ readonly client: Uint8Array; readonly sent_at: Date }>`
      select c.client, c.sent_at from one_time_codes c
      where ${keyed(tenant, address)} and c.sent_at > ${new Date(now - windowMinutes * 60_000)}
      order by c.sent_at`
    const blocking = blockingOf(sent, client)
    if (blocking !== undefined) return { retryAt: blocking.getTime() + windowMinutes * 60_000 }
    // A code has tries with the id of its request, and as long as it is the last one, tries without.
    const isShort = (yield* guessesOf(sql, keyed(tenant, address), now)) + 2 * triesMax <= guessesMax
    const { code, hash } = codeOf(isShort ? shortDigits : longDigits)
    yield* sql`insert into one_time_codes ${sql.insert({
      id,
      organization_id: organizationId,
      mode,
      channel: address.channel,
      address: address.value,
      client,
      hash,
      digits: code.length,
      sent_at: new Date(now),
      expires_at: new Date(now + codeMinutes * 60_000)
    })}`
    return { requestId: id, code }
  }, sql.withTransaction)

  /**
   * Counts a try of this request's code, and uses the code up if it is right. Undefined if no code is valid. `isLast`
   * is true for the wrong try that ends the code.
   */
  const take = Effect.fnUntraced(function* (
    tenant: Tenant,
    shown: { readonly address: CodeAddress; readonly hash: Uint8Array; readonly requestId: string | undefined },
    now: Date
  ) {
    const isRight = sql`c.hash = ${shown.hash}::bytea`
    const { requestId } = shown
    const isMeant = requestId === undefined ? latest(tenant, shown.address) : sql`c.id = ${requestId}`
    const tries = sql.literal(requestId === undefined ? "unbound_tries" : "tries")
    const rows = yield* sql<{ readonly is_right: boolean; readonly tries: number }>`
      update one_time_codes c set
        used_at = case when ${isRight} then ${now}::timestamptz end,
        ${tries} = c.${tries} + case when ${isRight} then 0 else 1 end
      where ${isMeant} and ${keyed(tenant, shown.address)}
        and c.used_at is null and c.expires_at > ${now} and c.tries < ${triesMax} and c.${tries} < ${triesMax}
      returning c.used_at is not null as is_right, c.${tries} as tries`
    return rows[0] && { isRight: rows[0].is_right, isLast: !rows[0].is_right && rows[0].tries >= triesMax }
  })

  return { insert, take }
})

/** Returns the wrong guesses of a day at short codes of an address, and those that its open codes still allow. */
const guessesOf = (sql: PgClient.PgClient, isOfAddress: Statement.Fragment, now: Millis) =>
  Effect.map(
    sql<{ readonly made: number; readonly open: number }>`
      select coalesce(sum(c.tries + c.unbound_tries), 0)::int as made,
        coalesce(sum(greatest(${triesMax} - c.tries, 0)) filter (
          where c.used_at is null and c.expires_at > ${new Date(now)}
        ), 0)::int as open
      from one_time_codes c
      where ${isOfAddress} and c.digits = ${shortDigits} and c.sent_at > ${new Date(now - guessedMinutes * 60_000)}`,
    (rows) => rows[0]!.made + rows[0]!.open
  )

/** Returns the time of the code that must be ten minutes old before the client may have another one. */
function blockingOf(
  sent: ReadonlyArray<{ readonly client: Uint8Array; readonly sent_at: Date }>,
  client: Uint8Array
): Date | undefined {
  const mine = Buffer.from(client).toString("hex")
  const counted: Array<Date> = []
  const byOther = new Map<string, number>()
  for (const { client, sent_at } of sent) {
    const other = Buffer.from(client).toString("hex")
    const count = (byOther.get(other) ?? 0) + 1
    byOther.set(other, count)
    if (other === mine || count <= codesShareMax) counted.push(sent_at)
  }
  return counted.length < codesMax ? undefined : counted[counted.length - codesMax]
}
