/**
 * The keyed digest of a backup. Digests alone show damage, but an attacker who changes a file can change its digests too.
 * Where `SECRETS_KEY` is set, the manifest, with the digests of all tables, has an HMAC.
 */
import { createHmac, timingSafeEqual } from "node:crypto"
import type { Keyring, SealingKey } from "../secrets/Sealing.ts"
import type { Authentication, Introduction, Manifest } from "./Manifest.ts"

type Unauthenticated = Omit<Manifest, "authentication">

/** Returns the manifest with its HMAC, if the keyring has a key. */
export const authenticated = ({ current }: Keyring, manifest: Unauthenticated): Manifest =>
  current === undefined
    ? manifest
    : { ...manifest, authentication: { keyId: current.id, hmacSha256: hmacOf(current, manifest).toString("hex") } }

/** What is known of the origin of a backup. */
export type Origin = "verified" | "altered" | "another key" | "no key"

/** Returns what the keyring tells of the manifest. */
export const originOf = (keyring: Keyring, { authentication, ...manifest }: Manifest): Origin => {
  if (authentication === undefined) return "no key"
  const key = keyring.find(authentication.keyId)
  if (key === undefined) return "another key"
  return isEqual(hmacOf(key, manifest), authentication) ? "verified" : "altered"
}

/** True if the introduction, which a restore reads first, says the same as the manifest. */
export const agrees = (introduction: Introduction, manifest: Manifest): boolean =>
  JSON.stringify(originFields(introduction)) === JSON.stringify(originFields(manifest)) &&
  JSON.stringify(introduction.tables.map(columnsOf)) === JSON.stringify(manifest.tables.map(columnsOf))

const hmacOf = ({ bytes }: SealingKey, manifest: Unauthenticated): Buffer => {
  const key = createHmac("sha256", bytes).update("usher: authentication of backups").digest()
  return createHmac("sha256", key).update(contentOf(manifest)).digest()
}

/** Everything that a restore uses of a manifest, in one order. */
const contentOf = (manifest: Unauthenticated): string =>
  JSON.stringify([
    originFields(manifest),
    manifest.tables.map((table) => [columnsOf(table), table.rows, table.bytes, table.sha256]),
    [manifest.heads.mechanisms, manifest.heads.events]
  ])

const originFields = ({ format, usher, schemaStep, at }: Pick<Manifest, "format" | "usher" | "schemaStep" | "at">) => [
  format,
  usher,
  schemaStep,
  at
]

const columnsOf = ({ name, columns }: Introduction["tables"][number]) => [name, columns]

const isEqual = (expected: Buffer, { hmacSha256 }: Authentication): boolean => {
  const found = Buffer.from(hmacSha256, "hex")
  return found.length === expected.length && timingSafeEqual(found, expected)
}
