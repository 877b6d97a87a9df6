/**
 * What each command leads to: events, none if it changes nothing, or a refusal. Deadlines count as they stand at `now`,
 * whether or not their events were applied yet.
 */
import { Equal } from "effect"
import type { Moment } from "../Decider.ts"
import * as Life from "../Life.ts"
import { Closed, ConfigurationFixed, WrongStatus } from "../Refusals.ts"
import type { Millis } from "../Time.ts"
import { bid, full, shut } from "./Bidding.ts"
import { type Configuration, terms } from "./Configuration.ts"
import type { Event } from "./Event.ts"
import type { Command, Refusal } from "./Protocol.ts"
import { isClosed, type State, statusAsOf } from "./State.ts"

type Outcome = ReadonlyArray<Event> | Refusal
type CommandOf<Tag extends Command["_tag"]> = Extract<Command, { readonly _tag: Tag }>

const unchanged: ReadonlyArray<Event> = []

export const decide = (state: State, command: Command, { now, entropy }: Moment): Outcome => {
  const at = Math.max(state.lastAt, now)
  switch (command._tag) {
    case "Configure":
      return configure(state, command, at, entropy)
    case "End":
      return Life.end(isClosed(state, at), command.by, at)
    case "Archive":
      return Life.archive(state, isClosed(state, at), command.by, at)
    case "Enter":
      return enter(state, command, at)
    case "Bid":
      return bid(state, command, at)
    case "Deny":
      return deny(state, command, at)
    case "Complete":
      return complete(state, command, at)
  }
}

const configure = (
  state: State,
  { configuration, by }: CommandOf<"Configure">,
  at: Millis,
  entropy: Moment["entropy"]
): Outcome => {
  if (state.sequence === 0) return [{ _tag: "Configured", at, configuration, by, handleSalt: entropy() }]
  if (isClosed(state, at)) return new Closed()
  if ((state.configuration.openAt ?? 0) > at) return configured(state, configuration, by, at)
  const changed = terms.find((setting) => !isKept(state, configuration, setting))
  if (changed !== undefined) return new ConfigurationFixed({ setting: changed })
  const { closeAt, settleAt } = state.configuration
  return configured(state, { ...configuration, closeAt, settleAt }, by, at)
}

const configured = (state: State, configuration: Configuration, by: string, at: Millis): Outcome =>
  Equal.equals(configuration, state.configuration) ? unchanged : [{ _tag: "Configured", at, configuration, by }]

/** An admin may not know yet of the last bids that moved a time: what it was since it was set counts as the same. */
const isKept = ({ configuration, configured }: State, wanted: Configuration, setting: keyof Configuration): boolean =>
  setting === "closeAt" || setting === "settleAt"
    ? configured[setting] <= wanted[setting] && wanted[setting] <= configuration[setting]
    : wanted[setting] === configuration[setting]

const enter = (state: State, { consumerId }: CommandOf<"Enter">, at: Millis): Outcome => {
  if (state.places.has(consumerId)) return unchanged
  return shut(state, at) ?? full(state) ?? [{ _tag: "Entered", at, consumerId }]
}

const deny = (state: State, { consumerId, reason }: CommandOf<"Deny">, at: Millis): Outcome => {
  const status = statusOf(state, consumerId, at)
  if (status === "DENIED") return unchanged
  if (status === "NOT_BID" || status === "LOST" || status === "COMPLETED") return new WrongStatus({ status })
  const denied: Event = { _tag: "Denied", at, consumerId, reason }
  const next = state.behind.first
  return status === "WINNING" && next?.status === "OUTBID"
    ? [denied, { _tag: "Reinstated", at, consumerId: next.consumerId }]
    : [denied]
}

const complete = (state: State, { consumerId }: CommandOf<"Complete">, at: Millis): Outcome => {
  const status = statusOf(state, consumerId, at)
  if (status === "COMPLETED") return unchanged
  return status === "WON" ? [{ _tag: "Completed", at, consumerId }] : new WrongStatus({ status })
}

const statusOf = (state: State, consumerId: string, at: Millis) => {
  const place = state.places.get(consumerId)
  return place === undefined ? "NOT_BID" : statusAsOf(state, place, at)
}
