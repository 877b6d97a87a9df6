/**
 * Where messages land while there is nobody to deliver them: in memory, the latest thousand, for an operator to read.
 */
import { Clock, Effect } from "effect"
import { sameTenant, type Tenant } from "../domain/values/Ids.ts"
import type { Millis } from "../domain/values/Time.ts"
import type { Outgoing } from "./Message.ts"

/** Messages kept; the oldest is dropped first. */
const messagesMax = 1_000

/** A message that was not sent anywhere. */
export interface Kept extends Outgoing {
  readonly sentAt: Millis
}

export class Outbox {
  readonly #kept: Array<Kept> = []

  put(message: Outgoing): Effect.Effect<void> {
    return Effect.map(Clock.currentTimeMillis, (sentAt) => {
      this.#kept.push({ ...message, sentAt })
      if (this.#kept.length > messagesMax) this.#kept.shift()
    })
  }

  /** The tenant's messages, newest first; of one address, if it is given. */
  read(tenant: Tenant, to: string | undefined): ReadonlyArray<Kept> {
    return this.#kept
      .filter((message) => sameTenant(message.tenant, tenant) && (to === undefined || message.to === to))
      .toReversed()
  }
}
