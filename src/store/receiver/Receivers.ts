/**
 * The receivers of an organization. The id of a receiver is part of the URL that a provider calls, so it is random. Its
 * secret comes from the provider, and is never shown.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { SecureRandom } from "effect/crypto"
import type { AdapterName } from "../../domain/receiver/Adapter.ts"
import { pathOf, type Receiver, receiverSorts, secretOverlapHours, Settings } from "../../domain/receiver/Receiver.ts"
import type { Mode, Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { type Declaration, each } from "../records/Declaration.ts"
import { listShape } from "../records/Pagination.ts"
import { type Archivable, type Changeable, make, type Readable } from "../records/Records.ts"
import { identityAndStamps, type SettingsRow, stampOf } from "../records/Rows.ts"
import { makeSettingsColumns } from "../records/SettingsColumns.ts"
import { CurrentKeyring } from "../secrets/CurrentKeyring.ts"
import { type FormerSecretColumns, recordSecrets, type SecretColumns } from "../secrets/RecordSecrets.ts"
import type { Keyring } from "../secrets/Sealing.ts"

/** A receiver as a request to its path finds it. */
export interface AddressedReceiver {
  readonly id: string
  readonly tenant: Tenant
  readonly adapter: AdapterName
  /** The URL that the provider calls, if an admin has named it. */
  readonly url: string | undefined
  /** The present secret, and after it the former one while it is valid. */
  readonly secrets: ReadonlyArray<string>
}

interface Operations {
  create(tenant: Tenant, by: string, settings: Settings, secret: string): Effect.Effect<Receiver, Unavailable>
  /** Returns the receiver with this id, of any tenant; undefined if there is none, or it is archived. */
  addressed(id: string, now: Millis): Effect.Effect<AddressedReceiver | undefined, Unavailable>
}

interface Row extends SettingsRow, SecretColumns, FormerSecretColumns {
  readonly adapter: Settings["adapter"]
  readonly former_secret_until: Date | null
}

const shape = listShape("receivers", "r", receiverSorts, { createdAt: "timestamptz" })

type Sort = keyof typeof shape.sorts

const columns = makeSettingsColumns(Settings, { adapter: "adapter", description: "description" })

/** The secrets of receivers. After a change the former one is accepted for a day. */
const secrets = recordSecrets("receiver")

const toReceiver = (row: Row): Receiver => ({
  ...identityAndStamps(row),
  ...columns.shownOf(row),
  path: pathOf(row.id),
  formerSecretUntil: row.former_secret_until?.getTime() ?? null
})

const declaration: Declaration<Row, Receiver, Sort> = {
  service: "Receivers",
  record: "Receiver",
  table: "receivers",
  alias: "r",
  recordsOf: each(toReceiver),
  list: { shape, searched: "(r.adapter || ' ' || coalesce(r.description, ''))" }
}

/** The operations and statements that receivers share with other records. */
const base = make(declaration)

export class Receivers extends Context.Service<
  Receivers,
  /** A `change` with a secret replaces the present one. */
  Readable<Receiver, Sort> & Changeable<Receiver, Settings, never, string> & Archivable<Receiver, never> & Operations
>()("usher/store/receiver/Receivers") {
  static readonly layer = Layer.effect(Receivers)(
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const random = yield* SecureRandom.SecureRandom
      const keyring = yield* CurrentKeyring
      const { statements, change, ...operations } = yield* base

      const create = Effect.fn("Receivers.create")(function* (
        tenant: Tenant,
        by: string,
        settings: Settings,
        secret: string
      ) {
        const columnsFor = (id: string) => ({
          ...columns.columnsOf(sql, settings),
          ...secrets.presentColumns(keyring, id, secret)
        })
        const id = yield* random.uuidV4()
        return yield* statements.show(yield* statements.insert(tenant, yield* stampOf(by), columnsFor, id))
      }, orUnavailable)

      const addressed = Effect.fn("Receivers.addressed")(function* (id: string, now: Millis) {
        const [row] = yield* sql<Row & { readonly mode: Mode }>`
          select * from receivers where id = ${id} and not archived`
        return row && toAddressed(keyring, row, now)
      }, orUnavailable)

      return {
        ...operations,
        create,
        change: (tenant, id, by, revise, secret) =>
          change(tenant, id, by, (row, { now }) =>
            Effect.map(
              secret === undefined ? Effect.succeed({}) : replaced(keyring, row, secret, now.getTime()),
              (changed) => ({ ...columns.columnsOf(sql, revise(columns.settingsOf(row))), ...changed })
            )
          ),
        addressed
      }
    })
  )
}

/** Returns the columns of a receiver with a new secret. The former one stays valid for a while. */
const replaced = (keyring: Keyring, row: Row, secret: string, now: Millis) =>
  Effect.map(secrets.openedPresent(keyring, row), (former) => ({
    ...secrets.presentColumns(keyring, row.id, secret),
    ...secrets.formerColumns(keyring, row.id, former),
    former_secret_until: new Date(now + secretOverlapHours * 3_600_000)
  }))

const toAddressed = (keyring: Keyring, row: Row & { readonly mode: Mode }, now: Millis): AddressedReceiver => {
  const isOverlap = row.former_secret_until !== null && row.former_secret_until.getTime() > now
  const accepted = [secrets.presentOf(keyring, row), isOverlap ? secrets.formerOf(keyring, row) : undefined]
  return {
    id: row.id,
    tenant: { organizationId: row.organization_id, mode: row.mode },
    adapter: row.adapter,
    url: columns.settingsOf(row).url,
    secrets: accepted.filter((secret) => secret !== undefined)
  }
}
