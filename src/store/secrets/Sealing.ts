/**
 * Sealing of stored secrets: AES-256-GCM with a random nonce. The name of a secret is authenticated with it, so a
 * sealed value cannot be moved to another row.
 */
import { Result } from "effect"
import { createCipheriv, createDecipheriv, createHmac, randomBytes } from "node:crypto"

const algorithm = "aes-256-gcm"
const nonceBytes = 12
const tagBytes = 16

export interface SealingKey {
  /** Names the key in the database. It reveals nothing of the key. */
  readonly id: string
  readonly bytes: Uint8Array
}

/** The keys of this process: one seals, all of them open. */
export interface Keyring {
  /** Undefined if secrets are stored unsealed. */
  readonly current: SealingKey | undefined
  find(keyId: string): SealingKey | undefined
}

/** A secret as it is stored. `sealedBy` is the id of the key; null if the bytes are the secret itself. */
export interface StoredSecret {
  readonly bytes: Uint8Array
  readonly sealedBy: string | null
}

/** Returns the key with its id. */
export const keyOf = (bytes: Uint8Array): SealingKey => ({
  id: createHmac("sha256", bytes).update("usher: id of a sealing key").digest("hex").slice(0, 16),
  bytes
})

/** Returns a keyring. The first key seals. */
export const keyringOf = (keys: ReadonlyArray<SealingKey>): Keyring => ({
  current: keys[0],
  find: (keyId) => keys.find(({ id }) => id === keyId)
})

/** Returns the secret as the keyring stores it: sealed, if it has a key. */
export function toStored({ current }: Keyring, name: string, secret: Uint8Array): StoredSecret {
  return current === undefined
    ? { bytes: secret, sealedBy: null }
    : { bytes: seal(current, name, secret), sealedBy: current.id }
}

/** Returns a stored secret; undefined if the keyring does not have its key, or the bytes were altered. */
export function fromStored(keyring: Keyring, name: string, { bytes, sealedBy }: StoredSecret): Uint8Array | undefined {
  if (sealedBy === null) return bytes
  const key = keyring.find(sealedBy)
  return key === undefined ? undefined : open(key, name, bytes)
}

/** Returns nonce, ciphertext and tag. */
export function seal(key: SealingKey, name: string, secret: Uint8Array): Uint8Array {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, key.bytes, nonce).setAAD(Buffer.from(name))
  return Buffer.concat([nonce, cipher.update(secret), cipher.final(), cipher.getAuthTag()])
}

/** Returns the secret; undefined if the bytes were not sealed with this key under this name. */
export function open(key: SealingKey, name: string, sealed: Uint8Array): Uint8Array | undefined {
  if (sealed.length < nonceBytes + tagBytes) return undefined
  const decipher = createDecipheriv(algorithm, key.bytes, sealed.subarray(0, nonceBytes))
    .setAAD(Buffer.from(name))
    .setAuthTag(sealed.subarray(-tagBytes))
  const text = sealed.subarray(nonceBytes, -tagBytes)
  return Result.getOrUndefined(
    Result.try({ try: () => Buffer.concat([decipher.update(text), decipher.final()]), catch: () => "altered" as const })
  )
}
