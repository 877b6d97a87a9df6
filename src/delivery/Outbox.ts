/** Holds the latest thousand messages in memory while a channel has no provider, for the operator to read. */
import { Clock, Effect } from "effect"
import { sameTenant, type Tenant } from "../domain/values/Ids.ts"
import type { Millis } from "../domain/values/Time.ts"
import type { Outgoing } from "./Message.ts"

/** Limit of stored messages. The oldest is dropped first. */
const messagesMax = 1_000

/** A message that was stored instead of sent. */
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

  /** Returns the messages that the tenant may read, newest first, optionally only those to one address. */
  read(tenant: Tenant, to: string | undefined): ReadonlyArray<Kept> {
    const isIts = ({ tenant: sender, shownTo }: Kept) => {
      const reader = sender ?? shownTo
      return reader !== undefined && sameTenant(reader, tenant)
    }
    return this.#kept.filter((message) => isIts(message) && (to === undefined || message.to === to)).toReversed()
  }
}
