/** The sessions of consumers, and the claims of their tokens. */
import { Schema } from "effect"
import type { Tenant } from "../values/Ids.ts"
import type { Millis } from "../values/Time.ts"

/** Whether the consumer has signed in. */
export const SessionType = Schema.Literals(["guest", "authenticated"])
export type SessionType = typeof SessionType.Type

/** The session a token belongs to. */
export interface TokenSubject {
  readonly tenant: Tenant
  readonly consumerId: string
  readonly sessionId: string
  readonly sessionType: SessionType
}

/** The claims of an access token. */
export interface VerifiedAccess extends TokenSubject {
  /** When the token ends. */
  readonly expiresAt: Millis
}

/** How the list of sessions of a consumer can be sorted. The first is the default. */
export const sessionSorts = ["createdAt"] as const
