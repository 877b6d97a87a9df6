/**
 * SendGrid: the signed event webhook. ECDSA on the curve P-256 over the time and the body; the secret is the public key
 * that SendGrid shows.
 *
 * A request has a batch of events. SendGrid sends one after about 30 s, or when it reaches 768 kB: the event that fills
 * it comes on top. A refused batch is lost after a day.
 */
import { Option, Result, Schema } from "effect"
import { sha256 } from "../values/Digest.ts"
import { isSignedWithP256 } from "../values/Signatures.ts"
import { storableText, text } from "../values/Text.ts"
import {
  type Adapter,
  batchBounds,
  EventId,
  EventType,
  type InboundEvent,
  jsonOf,
  received,
  rejected,
  toleranceSeconds
} from "./Adapter.ts"
import { type Meaning, type MessageReported, nothing } from "./Meaning.ts"

/**
 * How old a request may be. SendGrid repeats a batch for a day. An older one could have been removed from the log of
 * received events, and would count as new.
 */
export const ageSecondsMax = 3 * 86_400

/** Events of one request. Events of SendGrid have some hundred bytes, so the bound on bytes is met first. */
export const eventsMax = 10_000

/** Checks a request of SendGrid. */
export const receive: Adapter = ({ headers, rawBody }, secret, now) => {
  const signature = headers["x-twilio-email-event-webhook-signature"]
  const time = headers["x-twilio-email-event-webhook-timestamp"]
  if (signature === undefined || time === undefined) return rejected("MISSING_SIGNATURE")
  if (!isSignedWithP256(secret, signature, Buffer.from(time, "utf8"), rawBody)) return rejected("WRONG_SIGNATURE")
  const ageSeconds = now / 1_000 - (/^\d{1,12}$/.test(time) ? Number(time) : Number.NaN)
  if (!(ageSeconds <= ageSecondsMax && ageSeconds >= -toleranceSeconds)) return rejected("NOT_RECENT")
  // Bytes that are no text spoil one event, and not the batch.
  const batch = jsonOf(storableText(rawBody), batchBounds)
  if (!Array.isArray(batch) || batch.length > eventsMax) return rejected("MALFORMED")
  const events = batch.map((item) => eventOf(item, Number(time))).filter((event) => event !== undefined)
  return events.length === 0 && batch.length > 0 ? rejected("MALFORMED") : received(events)
}

const Seconds = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 99_999_999_999 }))

const decodeType = Schema.decodeUnknownOption(Schema.Struct({ event: EventType }))
const decodeId = Schema.decodeUnknownOption(Schema.Struct({ sg_event_id: EventId }))
const decodeTime = Schema.decodeUnknownOption(Schema.Struct({ timestamp: Seconds }))

/**
 * Returns an event of a batch; undefined without a type. Some types have no id: a repeated event is known by its content
 * then. Without a time it has the one of its request.
 */
const eventOf = (item: unknown, sentSeconds: number): InboundEvent | undefined => {
  const type = Option.getOrUndefined(decodeType(item))?.event
  if (type === undefined) return undefined
  const body = JSON.stringify(item)
  const id = Option.getOrUndefined(decodeId(item))?.sg_event_id ?? `sha256-${sha256(body)}`
  const seconds = Option.getOrUndefined(decodeTime(item))?.timestamp ?? sentSeconds
  return { id, type, at: Math.floor(seconds * 1_000), body }
}

const decodeReport = Schema.decodeUnknownResult(
  Schema.Struct({
    email: text({ minLength: 1, maxLength: 320 }),
    "smtp-id": Schema.optionalKey(Schema.String),
    sg_message_id: Schema.optionalKey(Schema.String),
    type: Schema.optionalKey(Schema.String)
  })
)

const statuses: { readonly [event: string]: MessageReported["status"] } = {
  delivered: "DELIVERED",
  bounce: "BOUNCED",
  spamreport: "COMPLAINED"
}

/** Returns what an event means. */
export const meaningOf = (type: string, body: string): Meaning => {
  const status = statuses[type]
  if (status === undefined) return nothing
  const decoded = decodeReport(jsonOf(body, batchBounds))
  if (Result.isFailure(decoded)) return nothing
  const { email, "smtp-id": smtpId, sg_message_id: sendGridId, type: kind } = decoded.success
  // SendGrid adds the name of a filter behind the first point. `blocked` is a soft bounce.
  const messageIds = [smtpId, sendGridId?.split(".", 1)[0]].filter((id) => id !== undefined).map(storableText)
  const isBlocked = kind === "blocked"
  return {
    _tag: "MessageReported",
    channel: "email",
    messageIds,
    status: status === "BOUNCED" && isBlocked ? "FAILED" : status,
    stopped: status === "DELIVERED" || isBlocked ? [] : [email]
  }
}
