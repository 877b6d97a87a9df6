/** The adapters by name. Each checks a request and interprets its events. */
import type { JsonBounds } from "../values/JsonBounds.ts"
import type { Mode } from "../values/Ids.ts"
import type { Millis } from "../values/Time.ts"
import {
  type Adapter,
  type AdapterName,
  batchBounds,
  bodyBounds,
  type InboundRequest,
  type Received,
  type Rejected,
  rejected
} from "./Adapter.ts"
import type { Meaning } from "./Meaning.ts"
import * as SendGrid from "./SendGrid.ts"
import * as StandardWebhooks from "./StandardWebhooks.ts"
import * as Stripe from "./Stripe.ts"
import * as Twilio from "./Twilio.ts"

interface Provider {
  readonly bounds: JsonBounds
  readonly receive: Adapter
  readonly meaningOf: (type: string, body: string) => Meaning
}

const adapters: { readonly [A in AdapterName]: Provider } = {
  stripe: { ...Stripe, bounds: bodyBounds },
  twilio: { ...Twilio, bounds: bodyBounds },
  sendgrid: { ...SendGrid, bounds: batchBounds },
  standard: { ...StandardWebhooks, bounds: bodyBounds }
}

/** Bytes of a request to a receiver of this adapter. A longer one is refused before anything is read from it. */
export const bytesMaxOf = (name: AdapterName): number => adapters[name].bounds.bytesMax

/** What a request to a receiver is checked against. */
export interface Expected {
  /** The present secret, and after a change also the former one. */
  readonly secrets: ReadonlyArray<string>
  /** The receiver's mode. Events that tell another one are refused: play money pays nothing. */
  readonly mode: Mode
}

/** Checks a request. */
export const receive = (
  name: AdapterName,
  request: InboundRequest,
  { secrets, mode }: Expected,
  now: Millis
): Received | Rejected => {
  let outcome: Received | Rejected = rejected("WRONG_SIGNATURE")
  for (const secret of secrets) {
    outcome = adapters[name].receive(request, secret, now)
    if (outcome._tag === "Received") {
      return outcome.events.some((event) => (event.mode ?? mode) !== mode) ? rejected("WRONG_MODE") : outcome
    }
    if (outcome.reason !== "WRONG_SIGNATURE") return outcome
  }
  return outcome
}

/** Returns what an event of the provider means. */
export const meaningOf = (name: AdapterName, type: string, body: string): Meaning =>
  adapters[name].meaningOf(type, body)
