/**
 * The secret keys of organizations' accounts at providers of challenges, as the database stores them: sealed with
 * `SECRETS_KEY`, each under the id of its organization. They are in columns of their own, so no copy of the settings has
 * them.
 */
import { fromStored, type Keyring, toStored } from "../secrets/Sealing.ts"

/** The kind of secret, as `usher secrets list` names it. */
const kind = "challenge_secret"

/** The columns of the secret key, and the id of the key that sealed it. Null if there is none. */
export interface ChallengeSecretColumns {
  readonly challenge_secret: Uint8Array | null
  readonly challenge_secret_sealed_by: string | null
}

/** Returns the columns of a secret key. */
export const columnsOf = (
  keyring: Keyring,
  organizationId: string,
  secretKey: string | undefined
): ChallengeSecretColumns => {
  if (secretKey === undefined) return { challenge_secret: null, challenge_secret_sealed_by: null }
  const { bytes, sealedBy } = toStored(keyring, `${kind}:${organizationId}`, Buffer.from(secretKey, "utf8"))
  return { challenge_secret: bytes, challenge_secret_sealed_by: sealedBy }
}

/** Returns the secret key; undefined if there is none, or this process cannot open it. */
export const secretKeyOf = (
  keyring: Keyring,
  organizationId: string,
  { challenge_secret: bytes, challenge_secret_sealed_by: sealedBy }: ChallengeSecretColumns
): string | undefined => {
  if (bytes === null) return undefined
  const secretKey = fromStored(keyring, `${kind}:${organizationId}`, { bytes, sealedBy })
  return secretKey === undefined ? undefined : Buffer.from(secretKey).toString("utf8")
}
