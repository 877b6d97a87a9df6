/**
 * The commands that mechanisms of every kind have: an admin configures a mechanism, ends it and archives it, and its
 * experience sets its window. A kind declares what differs; {@link decideBy} decides these commands from it and passes
 * the others to the kind.
 */
import { Equal } from "effect"
import type { ExtractTag } from "effect/Types"
import { type ExperienceWindow, type Windowed, withWindow } from "../experience/ExperienceWindow.ts"
import type { Millis } from "../values/Time.ts"
import type { StaffReason } from "./Author.ts"
import * as Configuring from "./Configuring.ts"
import type { Command, Decider, Event, Moment, Refusal } from "./Decider.ts"
import * as Extension from "./extension/Extension.ts"
import * as Lifecycle from "./Lifecycle.ts"
import { Closed, ConfigurationChanged, ConfigurationFixed } from "./Refusals.ts"
import { isClosed as isClosedAt, type MechanismState } from "./State.ts"

/** `by` names the author: an API key, or a person of the dashboard. */
export type Administration<Configuration> =
  | Configure<Configuration>
  /** Sets the window of the mechanism's experience. The same revision, or an earlier one, changes nothing. */
  | { readonly _tag: "SetExperienceWindow"; readonly window: ExperienceWindow; readonly by: string }
  | { readonly _tag: "End"; readonly by: string; readonly reason?: StaffReason | undefined }
  | { readonly _tag: "Archive"; readonly by: string }
  | Extension.Extend

interface Configure<Configuration> {
  readonly _tag: "Configure"
  readonly configuration: Configuration
  /** The configuration that this one was derived from. It has to be the present one. Absent: any may be. */
  readonly from?: Configuration | undefined
  readonly by: string
  /** Of a queue alone: only its events record the reason of a change. */
  readonly reason?: StaffReason | undefined
}

/** A command about one consumer's place; `by` names the author, absent if the consumer did it. */
export interface PlaceCommand<Tag extends string> {
  readonly _tag: Tag
  readonly consumerId: string
  readonly by?: string | undefined
}

/** The same command from an admin, or a shop's server. */
export interface AdminPlaceCommand<Tag extends string> extends PlaceCommand<Tag> {
  readonly by: string
}

/** The commands of a kind that other kinds need not have. */
type OwnCommand<C extends Command> = Exclude<C, { readonly _tag: Administration<unknown>["_tag"] }>

/** The outcome of a command that changes nothing. */
export const unchanged: ReadonlyArray<never> = []

/** Returns the outcome of a command: its events, or a refusal. */
type Decision<State, C extends Command, E extends Event, R extends Refusal> = (
  state: State,
  command: C,
  at: Millis,
  entropy: Moment["entropy"]
) => ReadonlyArray<E> | R

/** The results of commands in one kind. `at` is the instant of the step: never earlier than the last event. */
export interface Rules<Configuration, State, C extends Command, E extends Event, R extends Refusal> {
  /** Returns the outcome of each of the kind's own commands. */
  readonly decisions: {
    readonly [Tag in OwnCommand<C>["_tag"]]: Decision<State, ExtractTag<C, Tag>, E, R>
  }
  /** Whether the mechanism has opened. */
  hasOpened(state: State, at: Millis): boolean
  /** Whether nothing is left to end. Absent: whether it is closed. */
  isOver?(state: State, at: Millis): boolean
  /** Returns the part of the experience's window that applies to the mechanism. Absent: the whole window. */
  windowFor?(state: State, window: ExperienceWindow): ExperienceWindow
  /** Returns a setting that must not change to its value in `next`; undefined if there is none. */
  fixedSetting(state: State, next: NoInfer<Configuration>, at: Millis): string | undefined
  /** Returns the configuration that a change to `next` leads to. Absent: `next` itself. */
  kept?(state: State, next: Configuration, at: Millis): Configuration
  /** Returns the grants that consumers hold and that expire. Absent: the kind makes none. */
  liveGrants?(state: State): ReadonlyArray<Extension.LiveGrant>
  /** Returns the settings that move with the closing. Absent: none. */
  movesWithClosing?(configured: Configuration, millis: Millis): Partial<Configuration>
  /** Returns the events of a later closing. Absent: `Configured`. */
  closingMoved?(state: State, to: Extension.ExtensionBy, by: string, at: Millis): ReadonlyArray<E>
  /** Returns the first events. Absent: `Configured`, as it was sent. */
  created?(command: Configure<Configuration>, at: Millis, entropy: Moment["entropy"]): ReadonlyArray<E>
}

/** Returns the function that decides all commands of a kind. */
export const decideBy = <
  Configuration extends Windowed,
  State extends MechanismState<Configuration>,
  C extends Command,
  E extends Event,
  R extends Refusal
>(
  rules: Rules<Configuration, State, C, E, R>
): Decider<Configuration, State, C, E, R, unknown>["decide"] => {
  const { decisions } = rules
  return (state, sent, { now, entropy }) => {
    const at = Math.max(state.lastAt, now)
    const command = sent as Administration<Configuration> | OwnCommand<C>
    switch (command._tag) {
      case "Configure":
      case "SetExperienceWindow":
      case "End":
      case "Archive":
      case "Extend":
        // Each kind has the events and the refusals that these commands lead to.
        return administer(rules, state, command as Administration<Configuration>, at, entropy) as ReadonlyArray<E> | R
      default: {
        // The decision of a tag takes the commands of that tag.
        const decide = decisions[command._tag as OwnCommand<C>["_tag"]] as Decision<State, C, E, R>
        return decide(state, sent, at, entropy)
      }
    }
  }
}

const administer = <
  Configuration extends Windowed,
  State extends MechanismState<Configuration>,
  C extends Command,
  E extends Event,
  R extends Refusal
>(
  rules: Rules<Configuration, State, C, E, R>,
  state: State,
  command: Administration<Configuration>,
  at: Millis,
  entropy: Moment["entropy"]
) => {
  const { by } = command
  const isClosed = isClosedAt(state, at)
  const isOver = () => rules.isOver?.(state, at) ?? isClosed
  switch (command._tag) {
    case "Configure": {
      if (state.sequence === 0) return rules.created?.(command, at, entropy) ?? Configuring.first(command, at)
      if (isClosed) return new Closed()
      const isStale = command.from !== undefined && !Equal.equals(command.from, state.configured)
      if (isStale) return new ConfigurationChanged()
      const next = withWindow(command.configuration, state.configured.experienceWindow)
      const setting = rules.fixedSetting(state, next, at)
      if (setting !== undefined) return new ConfigurationFixed({ setting })
      return Configuring.configured(state, rules.kept?.(state, next, at) ?? next, command, at)
    }
    case "SetExperienceWindow": {
      const window = rules.windowFor?.(state, command.window) ?? command.window
      return Configuring.setWindow(state, { window, by }, { isClosed, hasOpened: rules.hasOpened(state, at) }, at)
    }
    case "End":
      return Lifecycle.end(isOver(), by, at, command.reason)
    case "Archive":
      return Lifecycle.archive(state, isOver(), by, at)
    case "Extend":
      return [
        ...(isClosed || command.after !== undefined ? [] : moveClosing(rules, state, command, at)),
        ...Extension.extendGrants(command, rules.liveGrants?.(state) ?? [], at)
      ]
  }
}

const moveClosing = <
  Configuration extends Windowed,
  State extends MechanismState<Configuration>,
  C extends Command,
  E extends Event,
  R extends Refusal
>(
  { closingMoved, movesWithClosing }: Rules<Configuration, State, C, E, R>,
  state: State,
  { to, by }: Extension.Extend,
  at: Millis
) => {
  if (closingMoved !== undefined) return closingMoved(state, to, by, at)
  const moved = Extension.withLaterClosing(state.configured, state.configuration.closeAt, to, movesWithClosing)
  return moved === undefined ? unchanged : Configuring.configured(state, moved, { by }, at)
}
