/**
 * The secrets in the database that can be sealed: the private signing keys, the secrets of the installation, and those
 * of webhooks, receivers and accounts at providers of challenges. Each row says which key sealed it.
 *
 * A value that was stored unsealed is sealed when a server starts with a key. A copy of the database from before keeps
 * the value: only new signing keys make such a copy worthless.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import { StartRefused } from "../../settings/Settings.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { CurrentKeyring } from "./CurrentKeyring.ts"
import { fromStored, type Keyring, type StoredSecret, toStored } from "./Sealing.ts"

/** A secret, without its value. */
export interface ListedSecret {
  /**
   * The kind and the name of a secret, such as `signing_key:<kid>`, `server_secret:<name>` or `webhook_secret:<id>`.
   */
  readonly name: string
  /** The id of the key that sealed it; null if it is stored unsealed. */
  readonly sealedBy: string | null
}

/** A kind of secret: how its rows are listed, read for a change, and written. */
interface Source {
  readonly kind: string
  readonly list: (sql: PgClient.PgClient) => Effect.Effect<ReadonlyArray<Row>, SqlError>
  readonly lock: (sql: PgClient.PgClient, key: string) => Effect.Effect<ReadonlyArray<Row & Stored>, SqlError>
  readonly write: (sql: PgClient.PgClient, key: string, stored: StoredSecret) => Effect.Effect<unknown, SqlError>
}

interface Row {
  readonly key: string
  readonly sealed_by: string | null
}

interface Stored {
  readonly bytes: Uint8Array
}

/** Only private keys that are not sealed have the column `private_key`. */
const privateKeyBytes = "coalesce(sealed_private_key, convert_to(private_key::text, 'UTF8'))"

/** The secrets in a column of records. The column `<column>_sealed_by` names the key. */
const inRecords = (kind: string, table: string, column: string): Source => ({
  kind,
  list: (sql) => sql<Row>`
    select id as key, ${sql(`${column}_sealed_by`)} as sealed_by from ${sql(table)}
    where ${sql(column)} is not null order by id`,
  lock: (sql, key) => sql<Row & Stored>`
    select id as key, ${sql(`${column}_sealed_by`)} as sealed_by, ${sql(column)} as bytes from ${sql(table)}
    where id = ${key} and ${sql(column)} is not null for no key update`,
  write: (sql, key, { bytes, sealedBy }) => sql`
    update ${sql(table)} set ${sql(column)} = ${bytes}, ${sql(`${column}_sealed_by`)} = ${sealedBy} where id = ${key}`
})

const sources: ReadonlyArray<Source> = [
  {
    kind: "signing_key",
    list: (sql) => sql<Row>`select kid as key, sealed_by from signing_keys order by created_at, kid`,
    lock: (sql, key) => sql<Row & Stored>`
      select kid as key, sealed_by, ${sql.literal(privateKeyBytes)} as bytes from signing_keys
      where kid = ${key} for update`,
    write: (sql, key, { bytes, sealedBy }) => sql`
      update signing_keys set private_key = null, sealed_private_key = ${bytes}, sealed_by = ${sealedBy} where kid = ${key}`
  },
  {
    kind: "server_secret",
    list: (sql) => sql<Row>`select name as key, sealed_by from server_secrets order by name`,
    lock: (sql, key) => sql<Row & Stored>`
      select name as key, sealed_by, secret as bytes from server_secrets where name = ${key} for update`,
    write: (sql, key, { bytes, sealedBy }) => sql`
      update server_secrets set secret = ${bytes}, sealed_by = ${sealedBy} where name = ${key}`
  },
  inRecords("webhook_secret", "webhooks", "secret"),
  inRecords("former_webhook_secret", "webhooks", "former_secret"),
  inRecords("receiver_secret", "receivers", "secret"),
  inRecords("former_receiver_secret", "receivers", "former_secret"),
  inRecords("challenge_secret", "organizations", "challenge_secret")
]

const listRows = Effect.gen(function* () {
  const sql = yield* PgClient.PgClient
  const found = yield* Effect.forEach(sources, (source) =>
    Effect.map(source.list(sql), (rows) => rows.map((row) => ({ source, ...row })))
  )
  return found.flat()
})

/** Returns all secrets that can be sealed, without their values. */
export const list = listRows.pipe(
  Effect.map((rows) => rows.map(({ source, key, sealed_by }) => listed(source, key, sealed_by))),
  orUnavailable
)

/**
 * Seals every secret with the current key that is unsealed or that a former key has sealed. Each has its own
 * transaction, so an interrupted run can be repeated. Calls `progress` after each. Returns how many it sealed.
 */
export const sealAll = Effect.fnUntraced(function* (
  progress: (done: number, total: number, secret: ListedSecret) => Effect.Effect<void>
) {
  const sql = yield* PgClient.PgClient
  const keyring = yield* CurrentKeyring
  const { current } = keyring
  if (current === undefined) return 0
  const pending = (yield* listRows).filter(({ sealed_by }) => sealed_by !== current.id)
  for (const [index, { source, key }] of pending.entries()) {
    yield* sql.withTransaction(sealOne(sql, keyring, source, key))
    yield* progress(index + 1, pending.length, listed(source, key, current.id))
  }
  return pending.length
}, orUnavailable)

const sealOne = Effect.fnUntraced(function* (sql: PgClient.PgClient, keyring: Keyring, source: Source, key: string) {
  // Another process may have sealed or removed it meanwhile.
  const [row] = yield* source.lock(sql, key)
  if (row === undefined || row.sealed_by === keyring.current?.id) return
  const secret = fromStored(keyring, `${source.kind}:${key}`, { bytes: row.bytes, sealedBy: row.sealed_by })
  if (secret === undefined) return yield* unreadable(`${source.kind}:${key}`, row.sealed_by)
  yield* source.write(sql, key, toStored(keyring, `${source.kind}:${key}`, secret))
})

/** Refuses the start if a secret was sealed with a key that this process does not have. */
export const refuseUnreadable = Effect.gen(function* () {
  const keyring = yield* CurrentKeyring
  const unknown = (yield* list).find(({ sealedBy }) => sealedBy !== null && keyring.find(sealedBy) === undefined)
  if (unknown !== undefined) return yield* unreadable(unknown.name, unknown.sealedBy)
})

/** Seals unsealed secrets, or warns that a copy of the database contains them. For a serving process. */
export const layerSealed = Layer.effectDiscard(
  Effect.gen(function* () {
    yield* refuseUnreadable
    const { current } = yield* CurrentKeyring
    if (current === undefined) return yield* Effect.logWarning(warning)
    const unsealed = (yield* list).some(({ sealedBy }) => sealedBy === null)
    const sealed = unsealed ? yield* sealAll(() => Effect.void) : 0
    if (sealed > 0) yield* Effect.logInfo(`Sealed ${sealed} secrets of the database with the key ${current.id}`)
  })
)

/** Refuses a database with secrets that this process cannot read. For a command. */
export const layerReadable = Layer.effectDiscard(refuseUnreadable)

const warning =
  "SECRETS_KEY is not set. A copy of the database, such as a dump or a backup, contains the keys that sign tokens and " +
  "grants, and the secrets behind one-time codes, access codes, cursors, webhooks, receivers and traffic between nodes: " +
  "its reader can forge all of them. It also contains the secret keys of providers of challenges. " +
  "Set SECRETS_KEY, or SECRETS_KEY_FILE."

const listed = ({ kind }: Source, key: string, sealedBy: string | null): ListedSecret => ({
  name: `${kind}:${key}`,
  sealedBy
})

const unreadable = (name: string, keyId: string | null) =>
  Effect.fail(
    new StartRefused({
      message:
        `The database's secret ${name} was sealed with the key ${keyId}, which SECRETS_KEY does not have. Set SECRETS_KEY, or ` +
        "SECRETS_KEY_FILE, to the key of this database. After a change of the key, keep the former one behind it until `usher secrets seal` " +
        "has ended."
    })
  )
