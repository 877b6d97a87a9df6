/** Emails that a consumer asks for: a reminder before an experience opens, and word of a lost lead in an auction. */
import { Schema } from "effect"
import { SentTimestamp } from "../values/Time.ts"
import { text } from "../values/Text.ts"

/** What the consumer is told of. The subject of `REMINDER` is an experience, that of `OUTBID` an auction. */
export const alertTopics = ["REMINDER", "OUTBID"] as const
export type AlertTopic = (typeof alertTopics)[number]

/** Minutes before the opening at which reminders go out. */
export const reminderLeadMinutes = 10

/** Minutes between two emails of an auction to one bidder. */
export const outbidPauseMinutes = 5

/** The language of an email, as a tag. It is English where there are no words in the language. */
export const AlertLanguage = text({ maxLength: 35 })

/** The alert of a consumer in responses. */
export const Alert = Schema.Struct({
  isPossible: Schema.Boolean.annotate({ description: "False if the consumer has no email address." }),
  isWanted: Schema.Boolean,
  since: Schema.NullOr(SentTimestamp).annotate({ description: "When the consumer asked for it; null if it did not." })
}).annotate({ identifier: "Alert" })
export type Alert = typeof Alert.Type
