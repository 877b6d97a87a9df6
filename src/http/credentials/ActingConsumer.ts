/** The consumer of a request. */
import type { Consumer } from "../../api/Credentials.ts"
import type { KeyHolder } from "../../auth/keys/ApiKeys.ts"
import type { VerifiedAccess } from "../../domain/consumer/Session.ts"

/** A consumer that acts, or that a server acts for, and the key of the request. */
export interface ActingConsumer {
  readonly holder: KeyHolder
  readonly consumer: Consumer
}

/** The consumer of an access token that came with a key of its tenant. */
export const actingConsumer = (holder: KeyHolder, access: VerifiedAccess): ActingConsumer => {
  const { consumerId, sessionType, sessionId } = access
  const { tenant } = holder
  return { holder, consumer: { tenant, consumerId, isGuest: sessionType === "guest", sessionId } }
}
