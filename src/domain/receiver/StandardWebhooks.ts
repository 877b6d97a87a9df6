/**
 * Any sender that follows Standard Webhooks. The headers may begin with `svix-` instead of `webhook-`, as those of its
 * first service do. Usher understands reports about email.
 */
import { Result, Schema } from "effect"
import { hmacSha256Of, isSameBytes } from "../values/Signatures.ts"
import { keyOf } from "../values/SigningSecret.ts"
import { storableText, text } from "../values/Text.ts"
import { type Adapter, EventId, EventType, isRecent, jsonOf, received, rejected, textOf } from "./Adapter.ts"
import { type Meaning, type MessageReported, nothing } from "./Meaning.ts"

const signaturesMax = 20

/** Addresses of one message that are read. */
const addressesMax = 50

/** Checks a request. A secret that begins with `whsec_` is Base64, of any other the bytes are the key. */
export const receive: Adapter = ({ headers, rawBody }, secret, now) => {
  const headerOf = (name: string) => headers[`webhook-${name}`] ?? headers[`svix-${name}`]
  const [id, time, signatures] = [headerOf("id"), headerOf("timestamp"), headerOf("signature")]
  if (id === undefined || time === undefined || signatures === undefined) return rejected("MISSING_SIGNATURE")
  const expected = hmacSha256Of(keyOf(secret), `${id}.${time}.`, rawBody)
  const isSigned = signatures
    .split(" ", signaturesMax)
    .some((one) => one.startsWith("v1,") && isSameBytes(expected, one.slice("v1,".length), "base64"))
  if (!isSigned) return rejected("WRONG_SIGNATURE")
  if (!isRecent(time, now)) return rejected("NOT_RECENT")
  const body = textOf(rawBody)
  const event = decodeEvent({ id, body: jsonOf(body) })
  if (body === undefined || Result.isFailure(event)) return rejected("MALFORMED")
  return received([{ id, type: event.success.body.type, at: Number(time) * 1_000, body }])
}

const decodeEvent = Schema.decodeUnknownResult(Schema.Struct({ id: EventId, body: Schema.Struct({ type: EventType }) }))

const isAddress = Schema.is(text({ minLength: 1, maxLength: 320 }))

const decodeReport = Schema.decodeUnknownResult(
  Schema.Struct({
    data: Schema.Struct({
      email_id: Schema.optionalKey(Schema.String),
      message_id: Schema.optionalKey(Schema.String),
      to: Schema.Union([Schema.String, Schema.Array(Schema.Unknown)]),
      bounce: Schema.optionalKey(Schema.Struct({ type: Schema.optionalKey(Schema.String) }))
    })
  })
)

const statuses: { readonly [type: string]: MessageReported["status"] } = {
  "email.delivered": "DELIVERED",
  "email.bounced": "BOUNCED",
  "email.complained": "COMPLAINED"
}

/** The kinds of bounces after which a message can never arrive. A sender that names none means these. */
const hardBounces = new Set(["permanent", "hard"])

/** Returns what an event means. */
export const meaningOf = (type: string, body: string): Meaning => {
  const status = statuses[type]
  if (status === undefined) return nothing
  const decoded = decodeReport(jsonOf(body))
  if (Result.isFailure(decoded)) return nothing
  const { email_id, message_id, to, bounce } = decoded.success.data
  const addresses = [to].flat().filter(isAddress).slice(0, addressesMax)
  if (addresses.length === 0) return nothing
  const isSoft = status === "BOUNCED" && !hardBounces.has(bounce?.type?.toLowerCase() ?? "hard")
  return {
    _tag: "MessageReported",
    channel: "email",
    messageIds: [message_id, email_id].filter((id) => id !== undefined).map(storableText),
    status: isSoft ? "FAILED" : status,
    stopped: status === "DELIVERED" || isSoft ? [] : addresses
  }
}
