/** A consumer's sessions as both APIs answer them. */
import { Schema } from "effect"
import { SessionType } from "../domain/consumer/Session.ts"
import { Id } from "../domain/values/Ids.ts"
import { SentTimestamp } from "../domain/values/Time.ts"

/** The fields of a session that has not ended, on both APIs. */
export const sessionFields = {
  id: Id,
  type: SessionType,
  createdAt: SentTimestamp,
  lastRefreshedAt: Schema.NullOr(SentTimestamp).annotate({ description: "Null if it was never refreshed." }),
  expiresAt: SentTimestamp.annotate({ description: "The expiry of its last token, unless it is refreshed." })
}

/** The number of sessions that a request has ended. */
export const EndedSessions = Schema.Struct({ ended: Schema.Int }).annotate({ identifier: "EndedSessions" })
