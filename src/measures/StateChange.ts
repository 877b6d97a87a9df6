/**
 * The stable names of state changes in the log. Texts of log entries may change; programs that read logs use `event`.
 * A state that lasts is logged when it begins and when it ends, not at every request that meets it.
 */
import { Effect } from "effect"

/** Each name with its description. */
export const stateChanges = {
  "api.listening": "A port accepts requests.",
  "process.draining": "`/ready` answers 503; the process is about to stop.",
  "database.lost": "The heartbeat could not be written.",
  "database.back": "The heartbeat is written again.",
  "journal.failing": "Commits fail. Logged once a second while they do.",
  "places.refused": "The database refuses places that follow from a journal. Lists show the former ones.",
  "mechanism.failed": "An actor failed for another reason than the database, and is rebuilt.",
  "mechanism.parked": "A mechanism failed too often, and waits for an operator.",
  "owners.lost": "No node owns mechanisms; a front answers 503.",
  "owners.back": "A node owns mechanisms again.",
  "redis.lost": "Rate limits are counted by this process alone.",
  "redis.back": "Rate limits are shared again.",
  "invalidations.lost": "No notifications come from the other processes; the database is read instead.",
  "beacon.lost": "Draws wait for the randomness beacon.",
  "beacon.back": "The randomness beacon answers again.",
  "webhook.disabled": "The webhook gets no more events.",
  "message.lost": "A message was not delivered to its consumer.",
  "order.needs_attention": "A payment or a refund needs a person's decision.",
  "connections.cut": "A listener has cut connections.",
  "request.failed": "An answer was a 5xx."
} as const

export type StateChange = keyof typeof stateChanges

/** Gives the log entries of an effect the name of the change, and more annotations. */
export const annotated = (event: StateChange, more: { readonly [name: string]: unknown } = {}) =>
  Effect.annotateLogs({ event, ...more })
