/**
 * The type of every adapter: a pure function that checks one request of a provider, and returns the events in it. An
 * adapter parses nothing before the signature and the bounds of the body have been checked.
 */
import { Result, Schema } from "effect"
import { exceededBy, type JsonBounds } from "../values/JsonBounds.ts"
import type { Mode } from "../values/Ids.ts"
import { text } from "../values/Text.ts"
import type { Millis } from "../values/Time.ts"

/** The providers. `standard` is any sender that follows Standard Webhooks. */
export const AdapterName = Schema.Literals(["stripe", "twilio", "sendgrid", "standard"])
export type AdapterName = typeof AdapterName.Type

/** The bounds of a request's body. Providers with one event in each request document no maximum, and send some kB. */
export const bodyBounds: JsonBounds = { bytesMax: 262_144, depthMax: 32, valuesMax: 50_000 }

/** The bounds of a body with a batch of events. */
export const batchBounds: JsonBounds = { bytesMax: 1_048_576, depthMax: 32, valuesMax: 200_000 }

/** Seconds by which the time of a request may differ from the clock, if its provider signs again before each attempt. */
export const toleranceSeconds = 300

/** A request as it arrived. The names of the headers are in lower case. */
export interface InboundRequest {
  readonly headers: { readonly [name: string]: string | undefined }
  /** The URL that the provider called. */
  readonly url: string
  readonly rawBody: Uint8Array
}

/** An event of a provider. */
export interface InboundEvent {
  /** The same for every attempt of the provider. */
  readonly id: string
  readonly type: string
  /** When it happened, by the provider's clock. */
  readonly at: Millis
  /** The event as text, from the request's body. */
  readonly body: string
  /** The provider's mode, if the event tells it. */
  readonly mode?: Mode
}

/** Why a request is not accepted. */
export type RejectedReason = "MISSING_SIGNATURE" | "WRONG_SIGNATURE" | "NOT_RECENT" | "MALFORMED" | "WRONG_MODE"

export type Received = { readonly _tag: "Received"; readonly events: ReadonlyArray<InboundEvent> }
export type Rejected = { readonly _tag: "Rejected"; readonly reason: RejectedReason }

/** Checks a request. `now` is in milliseconds since the epoch. */
export type Adapter = (request: InboundRequest, secret: string, now: Millis) => Received | Rejected

/** A request whose events are accepted. */
export const received = (events: ReadonlyArray<InboundEvent>): Received => ({ _tag: "Received", events })

/** A request that is refused. */
export const rejected = (reason: RejectedReason): Rejected => ({ _tag: "Rejected", reason })

export const EventId = text({ minLength: 1, maxLength: 255 })

export const EventType = text({ minLength: 1, maxLength: 100 })

/** True if the Unix seconds, as text, are within the tolerance. */
export const isRecent = (seconds: string | undefined, now: Millis): seconds is string =>
  seconds !== undefined && /^\d{1,12}$/.test(seconds) && Math.abs(now / 1_000 - Number(seconds)) <= toleranceSeconds

/** Returns a body as text; undefined if it is not UTF-8, or contains a NUL. */
export const textOf = (bytes: Uint8Array): string | undefined => {
  const text = Result.getOrUndefined(Result.try({ try: () => utf8.decode(bytes), catch: () => "not text" as const }))
  return text?.includes("\u0000") === true ? undefined : text
}

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** Returns the value of a JSON text; undefined if it is none, or exceeds the bounds. */
export const jsonOf = (text: string | undefined, bounds: JsonBounds = bodyBounds): unknown => {
  if (text === undefined || text.length > bounds.bytesMax || exceededBy(text, bounds) !== undefined) return undefined
  return Result.getOrUndefined(Result.try({ try: (): unknown => JSON.parse(text), catch: () => "not JSON" as const }))
}
