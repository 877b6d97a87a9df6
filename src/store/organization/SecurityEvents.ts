/**
 * Records security events, and lists them. Recording costs no SQL: events gather in memory, events that agree are
 * counted together, and once a second one statement writes them. A crash loses the events of that second. A flood is
 * one row an hour for each client address, with a count.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, type Scope } from "effect"
import { SecureRandom } from "effect/crypto"
import { createHash } from "node:crypto"
import {
  type Details,
  type NewSecurityEvent,
  type SecurityEventType,
  securityEventSorts
} from "../../domain/organization/SecurityEvent.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import { type Millis, toText } from "../../domain/values/Time.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { makeEventList } from "../records/Lists.ts"
import { listShape, type Page, type PageQuery, type PageRefused, type Period } from "../records/Pagination.ts"
import * as Time from "../coordination/Time.ts"

/** Different events that gather in memory until they are written. Further ones count without client and consumer. */
export const gatheredMax = 1_000

/** Milliseconds between two writes. */
const writeMillis = 1_000

export interface SecurityEvent {
  readonly id: string
  readonly type: SecurityEventType
  readonly consumerId: string | null
  readonly clientAddress: string | null
  readonly details: Details
  /** How often it happened from `at` to `lastAt`. */
  readonly count: number
  readonly at: Millis
  readonly lastAt: Millis
}

export interface SecurityEventFilter extends Period {
  readonly type?: SecurityEventType | undefined
  readonly consumerId?: string | undefined
  readonly clientAddress?: string | undefined
}

export const shape = listShape("security-events", "e", securityEventSorts, {
  at: { expression: "e.first_at", type: "timestamptz" }
})

export class SecurityEvents extends Context.Service<
  SecurityEvents,
  {
    /** Records an event. It is written within a second. Never fails. */
    record(tenant: Tenant, event: NewSecurityEvent): Effect.Effect<void>
    /** Returns a page of the tenant's events. */
    list(
      tenant: Tenant,
      query: PageQuery<"at"> & SecurityEventFilter
    ): Effect.Effect<Page<SecurityEvent>, PageRefused | Unavailable>
    /** Writes what has gathered. The service does so itself once a second, and when it ends. */
    readonly flush: Effect.Effect<void, Unavailable>
  }
>()("usher/store/organization/SecurityEvents") {
  static readonly layer = Layer.effect(SecurityEvents)(
    Effect.gen(function* () {
      const list = yield* makeEventList(shape, toEvent, {
        service: "SecurityEvents",
        table: "security_events",
        alias: "e",
        fields: "e.*, e.count::float8 as total",
        columns: { type: "e.type", consumerId: "e.consumer_id", clientAddress: "e.client_address" },
        at: "e.first_at"
      })

      return { list, ...(yield* makeRecording) }
    })
  )
}

interface Row {
  readonly id: string
  readonly type: SecurityEventType
  readonly consumer_id: string | null
  readonly client_address: string | null
  readonly details: Details
  readonly total: number
  readonly first_at: Date
  readonly last_at: Date
}

const toEvent = (row: Row): SecurityEvent => ({
  id: row.id,
  type: row.type,
  consumerId: row.consumer_id,
  clientAddress: row.client_address,
  details: row.details,
  count: row.total,
  at: row.first_at.getTime(),
  lastAt: row.last_at.getTime()
})

/** Events that agree, until they are written. */
interface Gathered {
  readonly tenant: Tenant
  readonly event: NewSecurityEvent
  readonly bucket: Millis
  /** The fields that equal events share. */
  readonly text: string
  readonly firstAt: Millis
  lastAt: Millis
  count: number
}

/** Makes the functions that record and write, and writes once a second. */
const makeRecording: Effect.Effect<
  Pick<SecurityEvents["Service"], "record" | "flush">,
  never,
  PgClient.PgClient | SecureRandom.SecureRandom | Scope.Scope
> = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const random = yield* SecureRandom.SecureRandom
  let gathered = new Map<string, Gathered>()
  const isNamed = makeNaming()

  const add = (entry: Gathered, key: string) => {
    const known = gathered.get(key)
    if (known === undefined) gathered.set(key, entry)
    else {
      known.count += entry.count
      known.lastAt = Math.max(known.lastAt, entry.lastAt)
    }
  }

  const record = (tenant: Tenant, event: NewSecurityEvent) =>
    Effect.map(Time.serverNow, (now) => {
      const exact = gatheredOf(tenant, event, now)
      const hasRoom = gathered.has(exact.key) || gathered.size < gatheredMax
      if (hasRoom && isNamed(tenant, event.type, exact.key, now)) return add(exact.entry, exact.key)
      // A flood from many addresses at once: it is counted, without naming them. The number of kinds bounds these rows.
      const rough = gatheredOf(tenant, { type: event.type, details: { isCombined: true } }, now)
      if (gathered.has(rough.key) || gathered.size < gatheredMax * 2) add(rough.entry, rough.key)
    })

  const write = makeWrite(sql, random)

  const flush = Effect.suspend(() => {
    if (gathered.size === 0) return Effect.void
    const entries = gathered
    gathered = new Map()
    return Effect.tapError(orUnavailable(write([...entries.values()])), () =>
      // They are written with the next ones, as far as there is room.
      Effect.sync(() => {
        for (const [key, entry] of entries) if (gathered.size < gatheredMax) add(entry, key)
      })
    )
  })

  const quietly = Effect.catchCause(flush, (cause) => Effect.logWarning("Security events could not be written", cause))
  yield* Effect.addFinalizer(() => quietly)
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(writeMillis), quietly)))
  return { record, flush }
})

/** Makes the function that writes events in one statement. */
const makeWrite = (sql: PgClient.PgClient, random: SecureRandom.SecureRandom["Service"]) =>
  Effect.fnUntraced(function* (entries: ReadonlyArray<Gathered>) {
    const rows = yield* Effect.forEach(entries, ({ tenant, event, ...entry }) =>
      Effect.map(random.uuidV7(), (id) => ({
        id,
        organization_id: tenant.organizationId,
        mode: tenant.mode,
        type: event.type,
        consumer_id: event.consumerId ?? null,
        client_address: event.clientAddress ?? null,
        details: event.details ?? {},
        count: entry.count,
        first_at: toText(entry.firstAt),
        last_at: toText(entry.lastAt),
        bucket: toText(entry.bucket),
        fingerprint: createHash("sha256").update(entry.text).digest("hex")
      }))
    )
    yield* sql`
      insert into security_events as e (id, organization_id, mode, type, consumer_id, client_address, details, count,
        first_at, last_at, bucket, fingerprint)
      select id, organization_id, mode, type, consumer_id, client_address, details, count, first_at, last_at, bucket,
        decode(fingerprint, 'hex')
      from jsonb_to_recordset(${sql.json(rows)}) as r (id uuid, organization_id uuid, mode text, type text,
        consumer_id uuid, client_address text, details jsonb, count bigint, first_at timestamptz, last_at timestamptz,
        bucket timestamptz, fingerprint text)
      on conflict (organization_id, mode, bucket, fingerprint) do update set
        count = e.count + excluded.count, last_at = greatest(e.last_at, excluded.last_at)`
  })

/** Returns the event with the key that equal events of the same hour share. */
function gatheredOf(tenant: Tenant, event: NewSecurityEvent, now: Millis) {
  const details = Object.entries(event.details ?? {}).toSorted(([a], [b]) => (a < b ? -1 : 1))
  const text = JSON.stringify([event.type, event.consumerId ?? null, event.clientAddress ?? null, details])
  const bucket = Math.floor(now / bucketMillis) * bucketMillis
  const key = `${tenant.organizationId} ${tenant.mode} ${bucket} ${text}`
  return { key, entry: { tenant, event, bucket, text, firstAt: now, lastAt: now, count: 1 } satisfies Gathered }
}

/** Milliseconds in which events that agree are one row. */
export const bucketMillis = 3_600_000

/** Different events of one kind and tenant that a process writes in an hour. Further ones count without client. */
export const namedMax = 1_000

/** The same for all kinds and tenants together. It bounds the memory for it. */
const namedOfAllMax = 20_000

/** The kinds that an attacker can cause at any rate. */
const floodTypes: ReadonlySet<SecurityEventType> = new Set([
  "lock_out",
  "code_flood",
  "sms_refused",
  "challenge_refused",
  "rate_limited"
])

/** Makes the function that answers whether an event gets a row of its own in this hour. */
export const makeNaming = () => {
  const named = new Set<string>()
  const counts = new Map<string, number>()
  let bucket = 0
  return ({ organizationId, mode }: Tenant, type: SecurityEventType, key: string, now: Millis): boolean => {
    // Only the owner of an account or a key can cause the others.
    if (!floodTypes.has(type)) return true
    if (Math.floor(now / bucketMillis) !== bucket) {
      bucket = Math.floor(now / bucketMillis)
      named.clear()
      counts.clear()
    }
    if (named.has(key)) return true
    const kind = `${organizationId} ${mode} ${type}`
    const count = counts.get(kind) ?? 0
    if (count >= namedMax || named.size >= namedOfAllMax) return false
    named.add(key)
    counts.set(kind, count + 1)
    return true
  }
}
