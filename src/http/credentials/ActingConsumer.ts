/** The consumer of a request. */
import type { KeyHolder } from "../../auth/keys/ApiKeys.ts"
import type { VerifiedAccess } from "../../auth/tokens/Tokens.ts"
import type { Tenant } from "../../domain/values/Ids.ts"

/** A consumer that acts, or that a server acts for, and the key of the request. */
export interface ActingConsumer {
  readonly holder: KeyHolder
  readonly consumer: {
    readonly tenant: Tenant
    readonly consumerId: string
    readonly isGuest: boolean
    /** The key of the request. */
    readonly keyId: string
    /** The session of the access token. Absent if a server acts for the consumer. */
    readonly sessionId?: string
    /** The secret key as records name it, if a server acts for the consumer. */
    readonly by?: string
  }
}

/** The consumer of an access token that came with a key of its tenant. */
export const actingConsumer = (holder: KeyHolder, access: VerifiedAccess): ActingConsumer => {
  const { consumerId, sessionType, sessionId } = access
  const { tenant, keyId } = holder
  return { holder, consumer: { tenant, consumerId, isGuest: sessionType === "guest", keyId, sessionId } }
}
