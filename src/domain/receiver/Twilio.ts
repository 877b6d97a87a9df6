/**
 * Twilio: `X-Twilio-Signature`, HMAC-SHA1 of the URL and the sorted fields of the form. It signs no time, so a repeated
 * request is known by its event alone.
 */
import { hmacSha1Of, isSameBytes } from "../values/Signatures.ts"
import { type Adapter, bodyBounds, received, rejected, textOf } from "./Adapter.ts"
import { type Meaning, type MessageStatus, nothing } from "./Meaning.ts"

/** Fields of one form. */
const fieldsMax = 1_000

/** Characters of an id that Twilio gives. */
const idPattern = /^[A-Za-z0-9]{1,64}$/

/** Checks a request of Twilio. */
export const receive: Adapter = ({ headers, url, rawBody }, secret, now) => {
  const signature = headers["x-twilio-signature"]
  if (signature === undefined) return rejected("MISSING_SIGNATURE")
  const body = rawBody.length > bodyBounds.bytesMax ? undefined : textOf(rawBody)
  if (body === undefined) return rejected("MALFORMED")
  const fields = fieldsOf(body)
  if (fields === undefined) return rejected("MALFORMED")
  const signed = signedText(fields)
  const isSigned = spellingsOf(url).some((one) => isSameBytes(hmacSha1Of(secret, one, signed), signature, "base64"))
  if (!isSigned) return rejected("WRONG_SIGNATURE")
  const id = fields.get("MessageSid") ?? fields.get("SmsSid") ?? ""
  const status = statusOf(fields)
  if (!idPattern.test(id) || !/^[a-z_]{1,32}$/.test(status)) return rejected("MALFORMED")
  return received([{ id: `${id}.${status}`, type: `message.${status}`, at: now, body }])
}

const statusOf = (fields: URLSearchParams): string =>
  (fields.get("MessageStatus") ?? fields.get("SmsStatus") ?? "received").toLowerCase()

/** Returns the fields; undefined if they are too many. Counted before they are parsed. */
const fieldsOf = (body: string): URLSearchParams | undefined => {
  let count = 1
  for (let at = body.indexOf("&"); at !== -1; at = body.indexOf("&", at + 1)) if (++count > fieldsMax) return undefined
  return new URLSearchParams(body)
}

/** Names and values, sorted by name. A value of a repeated field counts once. */
const signedText = (fields: URLSearchParams): string =>
  [...new Set(fields.keys())]
    .toSorted()
    .flatMap((name) => [...new Set(fields.getAll(name))].toSorted().map((value) => name + value))
    .join("")

/** The URL as it was called, and without and with its standard port: Twilio signs either. */
const spellingsOf = (url: string): ReadonlyArray<string> => {
  const [start = "", scheme, host, port = ""] = /^(https?:\/\/)([^/?#:[]+|\[[^\]]*\])(:\d+)?/.exec(url) ?? []
  if (scheme === undefined) return [url]
  const rest = url.slice(start.length)
  const standard = scheme === "https://" ? ":443" : ":80"
  return [url, port === "" ? `${scheme}${host}${standard}${rest}` : `${scheme}${host}${rest}`]
}

const reported: { readonly [status: string]: MessageStatus } = {
  delivered: "DELIVERED",
  read: "READ",
  failed: "FAILED",
  undelivered: "FAILED"
}

/** The words that opt out and in, as Twilio understands them. */
const stopWords = new Set(["STOP", "STOPALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT", "REVOKE", "OPTOUT"])
const startWords = new Set(["START", "YES", "UNSTOP"])

/** Returns what an event means. */
export const meaningOf = (type: string, body: string): Meaning => {
  const fields = new URLSearchParams(body)
  const status = reported[type.slice("message.".length)]
  if (status !== undefined) {
    const messageIds = [...new Set([fields.get("MessageSid"), fields.get("SmsSid")])].filter(
      (id) => id !== null && idPattern.test(id)
    ) as ReadonlyArray<string>
    return { _tag: "MessageReported", channel: "phone", messageIds, status, stopped: [] }
  }
  return type === "message.received" ? answerOf(fields) : nothing
}

/** The meaning of a consumer's message. With Twilio's own opt-out words, Twilio reports it itself. */
const answerOf = (fields: URLSearchParams): Meaning => {
  const address = fields.get("From") ?? ""
  const word = (fields.get("OptOutType") ?? fields.get("Body") ?? "").trim().toUpperCase()
  if (!/^\+\d{5,15}$/.test(address)) return nothing
  if (stopWords.has(word)) return { _tag: "OptedOut", channel: "phone", address }
  return startWords.has(word) ? { _tag: "OptedIn", channel: "phone", address } : nothing
}
