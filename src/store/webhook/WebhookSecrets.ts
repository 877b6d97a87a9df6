/**
 * The secrets of webhooks as the database stores them: sealed with `SECRETS_KEY`, each under the id of its webhook. After
 * a rotation the former secret is kept until the overlap ends.
 */
import { Effect } from "effect"
import { fromStored, type Keyring, toStored } from "../secrets/Sealing.ts"

/** The kinds of secrets, as `usher secrets list` names them. */
export const presentKind = "webhook_secret"
export const formerKind = "former_webhook_secret"

/** The column of the present secret, and the id of the key that sealed it. */
export interface SecretColumns {
  readonly secret: Uint8Array
  readonly secret_sealed_by: string | null
}

/** The columns of the former secret. */
export interface FormerSecretColumns {
  readonly former_secret: Uint8Array | null
  readonly former_secret_sealed_by: string | null
}

/** Returns the columns of a present secret. */
export const presentColumns = (keyring: Keyring, id: string, secret: string): SecretColumns => {
  const { bytes, sealedBy } = toStored(keyring, `${presentKind}:${id}`, Buffer.from(secret, "utf8"))
  return { secret: bytes, secret_sealed_by: sealedBy }
}

/** Returns the columns of a former secret. */
export const formerColumns = (keyring: Keyring, id: string, secret: string): FormerSecretColumns => {
  const { bytes, sealedBy } = toStored(keyring, `${formerKind}:${id}`, Buffer.from(secret, "utf8"))
  return { former_secret: bytes, former_secret_sealed_by: sealedBy }
}

/** Returns the present secret; undefined if this process cannot open it. */
export const presentOf = (
  keyring: Keyring,
  { id, secret, secret_sealed_by }: SecretColumns & { readonly id: string }
): string | undefined => {
  const stored = { bytes: secret, sealedBy: secret_sealed_by }
  return textOf(fromStored(keyring, `${presentKind}:${id}`, stored))
}

/** Returns the former secret; undefined if there is none, or this process cannot open it. */
export const formerOf = (
  keyring: Keyring,
  { id, former_secret, former_secret_sealed_by }: FormerSecretColumns & { readonly id: string }
): string | undefined => {
  if (former_secret === null) return undefined
  const stored = { bytes: former_secret, sealedBy: former_secret_sealed_by }
  return textOf(fromStored(keyring, `${formerKind}:${id}`, stored))
}

/** Returns the present secret. The start has checked that this process can open it, so it was altered if it cannot. */
export const openedPresent = (
  keyring: Keyring,
  row: SecretColumns & { readonly id: string }
): Effect.Effect<string> => {
  const secret = presentOf(keyring, row)
  return secret === undefined
    ? Effect.die(new Error(`The secret of the webhook ${row.id} cannot be opened with SECRETS_KEY`))
    : Effect.succeed(secret)
}

const textOf = (bytes: Uint8Array | undefined) =>
  bytes === undefined ? undefined : Buffer.from(bytes).toString("utf8")
