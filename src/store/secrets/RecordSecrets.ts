/**
 * The secrets of records as the database stores them: sealed with `SECRETS_KEY`, each under the id of its record. After
 * a change the former secret is kept until it is no longer valid.
 */
import { Effect } from "effect"
import { fromStored, type Keyring, toStored } from "./Sealing.ts"

/** The column of the present secret, and the id of the key that sealed it. */
export interface SecretColumns {
  readonly secret: Uint8Array
  readonly secret_sealed_by: string | null
}

export interface FormerSecretColumns {
  readonly former_secret: Uint8Array | null
  readonly former_secret_sealed_by: string | null
}

interface Identified {
  readonly id: string
}

/**
 * The functions for the secrets of a kind of record. `usher secrets list` names them `<record>_secret` and
 * `former_<record>_secret`.
 */
export const recordSecrets = (record: string) => {
  const nameOf = (id: string) => `${record}_secret:${id}`
  const formerNameOf = (id: string) => `former_${record}_secret:${id}`

  const presentColumns = (keyring: Keyring, id: string, secret: string): SecretColumns => {
    const { bytes, sealedBy } = toStored(keyring, nameOf(id), Buffer.from(secret, "utf8"))
    return { secret: bytes, secret_sealed_by: sealedBy }
  }

  const formerColumns = (keyring: Keyring, id: string, secret: string): FormerSecretColumns => {
    const { bytes, sealedBy } = toStored(keyring, formerNameOf(id), Buffer.from(secret, "utf8"))
    return { former_secret: bytes, former_secret_sealed_by: sealedBy }
  }

  /** Returns the present secret; undefined if this process cannot open it. */
  const presentOf = (keyring: Keyring, { id, secret, secret_sealed_by }: SecretColumns & Identified) =>
    textOf(fromStored(keyring, nameOf(id), { bytes: secret, sealedBy: secret_sealed_by }))

  /** Returns the former secret; undefined if there is none, or this process cannot open it. */
  const formerOf = (keyring: Keyring, row: FormerSecretColumns & Identified) => {
    if (row.former_secret === null) return undefined
    const stored = { bytes: row.former_secret, sealedBy: row.former_secret_sealed_by }
    return textOf(fromStored(keyring, formerNameOf(row.id), stored))
  }

  /** Returns the present secret. The start has checked that this process can open it, so it was altered if it cannot. */
  const openedPresent = (keyring: Keyring, row: SecretColumns & Identified): Effect.Effect<string> => {
    const secret = presentOf(keyring, row)
    return secret === undefined
      ? Effect.die(new Error(`The secret of the ${record} ${row.id} cannot be opened with SECRETS_KEY`))
      : Effect.succeed(secret)
  }

  return { presentColumns, formerColumns, presentOf, formerOf, openedPresent }
}

const textOf = (bytes: Uint8Array | undefined): string | undefined =>
  bytes === undefined ? undefined : Buffer.from(bytes).toString("utf8")
