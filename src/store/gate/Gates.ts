/**
 * The gates of an organization. A gate's key is shown when it is made, and stored as its hash. A trigger tells every
 * process when a gate has changed.
 */
import type { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { type Gate, gateSorts, queueIdsOf, Settings } from "../../domain/gate/Gate.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"
import { type Declaration, each } from "../records/Declaration.ts"
import { listShape } from "../records/Pagination.ts"
import { RecordNotFound } from "../records/RecordNotFound.ts"
import { type Archivable, make, type Readable } from "../records/Records.ts"
import { identityAndStamps, type SettingsRow, stampOf } from "../records/Rows.ts"
import { makeSettingsColumns } from "../records/SettingsColumns.ts"
import { hold } from "../records/Statements.ts"

/** A new key as it is stored. */
export interface StoredKey {
  readonly hash: Uint8Array
  readonly display: string
}

interface Row extends SettingsRow {
  readonly name: string
  readonly key_display: string
  readonly queue_ids: ReadonlyArray<string>
}

const shape = listShape("gates", "g", gateSorts, { createdAt: "timestamptz", name: "text" })

type Sort = keyof typeof shape.sorts

const columns = makeSettingsColumns(Settings, { name: "name" })

const toGate = (row: Row): Gate => ({
  ...identityAndStamps(row),
  ...columns.settingsOf(row),
  keyDisplay: row.key_display
})

const declaration: Declaration<Row, Gate, Sort> = {
  service: "Gates",
  record: "Gate",
  table: "gates",
  alias: "g",
  recordsOf: each(toGate),
  list: { shape, searched: "g.name" }
}

interface Writes {
  /** Creates a gate. Fails if a queue of its rules is unknown. */
  create(
    tenant: Tenant,
    by: string,
    settings: Settings,
    key: StoredKey
  ): Effect.Effect<Gate, RecordNotFound | Unavailable>
  /** Replaces the settings with the result of `revise`. The record is locked. */
  change<E>(
    tenant: Tenant,
    id: string,
    by: string,
    revise: (settings: Settings) => Effect.Effect<Settings, E>
  ): Effect.Effect<Gate, E | RecordNotFound | Unavailable>
  rotateKey(tenant: Tenant, id: string, by: string, key: StoredKey): Effect.Effect<Gate, RecordNotFound | Unavailable>
}

export class Gates extends Context.Service<Gates, Readable<Gate, Sort> & Archivable<Gate, never> & Writes>()(
  "usher/store/gate/Gates"
) {
  static readonly layer = Layer.effect(Gates)(
    Effect.gen(function* () {
      const { sql, statements, change, ...operations } = yield* make(declaration)
      const columnsOf = makeColumnsOf(sql)

      const create = Effect.fn("Gates.create")(
        function* (tenant: Tenant, by: string, settings: Settings, key: StoredKey) {
          const written = yield* columnsOf(tenant, settings)
          const row = yield* statements.insert(tenant, yield* stampOf(by), () => ({ ...written, ...keyColumns(key) }))
          return toGate(row)
        },
        sql.withTransaction,
        orUnavailable
      )

      return {
        ...operations,
        create,
        change: (tenant, id, by, revise) =>
          change(tenant, id, by, (row) =>
            Effect.flatMap(revise(columns.settingsOf(row)), (settings) =>
              orUnavailable(columnsOf(tenant, settings, row.queue_ids))
            )
          ),
        rotateKey: (tenant, id, by, key) => change(tenant, id, by, () => Effect.succeed(keyColumns(key)))
      }
    })
  )
}

const keyColumns = ({ hash, display }: StoredKey) => ({ key_hash: hash, key_display: display })

/** Makes the function that returns the columns of settings, once the queues that the rules newly name are locked. */
const makeColumnsOf = (sql: PgClient.PgClient) =>
  Effect.fnUntraced(function* (tenant: Tenant, settings: Settings, before: ReadonlyArray<string> = []) {
    const queueIds = queueIdsOf(settings.rules)
    const added = queueIds.filter((id) => !before.includes(id))
    const held = yield* hold<{ readonly kind: string }>(sql, tenant, "mechanisms", added, "kind")
    if (held.filter(({ kind }) => kind === "queue").length < added.length) {
      return yield* new RecordNotFound({ record: "Queue" })
    }
    return { ...columns.columnsOf(sql, settings), queue_ids: queueIds }
  })
