/**
 * How refresh tokens follow each other.
 *
 * A session is a family of refresh tokens, of which only the latest is valid. The session stores its hash. A consumer
 * may still send the token that was just replaced, because two tabs refresh at once or a response is lost. For
 * `repeatSeconds` that token returns the same successor, in every process. A token that is older, or sent later, was
 * copied. Then the session ends, because the server cannot distinguish the consumer from the thief. A client that names
 * its attempt gets the same successor for as long as that was not used: only its own repetition has that name.
 *
 * To return the successor again, a process signs it again. The session therefore stores when the successor was issued
 * and when it expires. It does not store the successor's id: with the id and the signing keys, a copy of the database
 * could forge every refresh token. The id is derived from the id of the replaced token, which only its holder has, and
 * from a salt, which only the session has. Each refresh draws a new salt, so a token leads only to its direct
 * successor. For a named attempt the salt is derived from the name, so the stored salt also tells the same attempt from
 * another. If the signing key is rotated within `repeatSeconds`, the repeated token has the same id and another
 * signature; both are valid.
 */
import type { PgClient } from "@effect/sql-pg"
import { createHmac, hash, randomBytes } from "node:crypto"
import type { Millis } from "../../domain/values/Time.ts"
import { notification } from "../../store/coordination/Invalidations.ts"
import { ofTenant } from "../../store/records/Tenancy.ts"
import type { Lifetimes } from "../tokens/TokenLifetimes.ts"
import type { TokenSubject } from "../../domain/consumer/Session.ts"
import { type EndedSession, endOfSession } from "./Revocations.ts"

/** How long the token that was just replaced returns its successor. */
const repeatSeconds = 10

const saltBytes = 16

/** Makes the function that replaces the presented token, unless that has happened; or ends the session. No row: no session. */
export const makeTurn =
  (sql: PgClient.PgClient) =>
  ({ tenant, sessionId, tokenId, attempt, lifetime, ...turning }: Turning) => {
    const now = new Date(turning.now)
    const salt = attempt === undefined ? randomBytes(saltBytes) : saltOf(tokenId, attempt)
    const shownHash = hashOf(tokenId)
    const accessExpiresAt = new Date(turning.accessExpiresAt)
    const expiresAt = new Date((Math.floor(turning.now / 1000) + lifetime.refresh) * 1000)
    const repeatsSince = new Date(turning.now - repeatSeconds * 1000)
    const isCurrent = sql`s.refresh_hash = ${shownHash}::bytea`
    // The salt of a refresh without a name is drawn again each time, and so is never equal.
    const isRepeat = sql`(s.replaced_hash = ${shownHash}::bytea
      and (s.refreshed_at > ${repeatsSince}::timestamptz or s.successor_salt = ${salt}::bytea))`
    return sql<TurnedRow>`
      with turned as (
        update sessions s set
          refresh_hash = case when ${isCurrent} then ${hashOf(successorOf(tokenId, salt))}::bytea else s.refresh_hash end,
          replaced_hash = case when ${isCurrent} then s.refresh_hash else s.replaced_hash end,
          refreshed_at = case when ${isCurrent} then ${now}::timestamptz else s.refreshed_at end,
          successor_salt = case when ${isCurrent} then ${salt}::bytea else s.successor_salt end,
          expires_at = case when ${isCurrent} then ${expiresAt}::timestamptz else s.expires_at end,
          access_expires_at = case when ${isCurrent} or ${isRepeat}
            then greatest(s.access_expires_at, ${accessExpiresAt}::timestamptz) else s.access_expires_at end,
          revoked_at = case when ${isCurrent} or ${isRepeat} then null else ${now}::timestamptz end
        where s.id = ${sessionId} and ${ofTenant(sql, tenant, "s")}
          and s.revoked_at is null and s.expires_at > ${now}
          and exists (select from consumers c where c.id = s.consumer_id and not c.archived)
        returning s.*
      )
      select turned.*,
        case when revoked_at is not null then ${notification(sql, "session", endOfSession(sql, sql`turned`))} end as notified
      from turned`
  }

interface Turning extends TokenSubject {
  /** The `jti` of the presented token. */
  readonly tokenId: string
  /** The client's name for this refresh and its repetitions. */
  readonly attempt: string | undefined
  readonly now: Millis
  readonly lifetime: Lifetimes
  readonly accessExpiresAt: Millis
}

/** A session after a refresh token was presented. The last two are null if it ends before its first refresh. */
export interface TurnedRow extends EndedSession {
  readonly revoked_at: Date | null
  readonly expires_at: Date
  readonly refreshed_at: Date | null
  readonly successor_salt: Uint8Array | null
}

/** Returns what a session stores of a refresh token's `jti`. */
export const hashOf = (tokenId: string) => hash("sha256", tokenId, "buffer")

/** The salt of a named attempt to replace the token with this id. */
const saltOf = (tokenId: string, attempt: string) =>
  createHmac("sha256", tokenId).update(`attempt ${attempt}`).digest().subarray(0, saltBytes)

/** Returns the `jti` of a refresh token's successor. */
export const successorOf = (tokenId: string, salt: Uint8Array) =>
  createHmac("sha256", tokenId).update(salt).digest("base64url")
