/**
 * The closed union of the mechanisms: kind → what it takes, answers and refuses. Adding a mechanism is one domain file
 * and one line in each of the two tables here.
 */
import type { Kind } from "./Decider.ts"
import type { Tenant } from "./Ids.ts"
import * as Queue from "./Queue.ts"

/** The types of each kind. */
export interface Mechanisms {
  readonly queue: {
    readonly Configuration: Queue.Configuration
    readonly Command: Queue.Command
    readonly Refusal: Queue.Refusal
    readonly View: Queue.View
  }
}

/** The rules of each kind. */
export const deciders = {
  queue: Queue.decider
} as const

/** The kinds that have a decider. */
export type LiveKind = keyof Mechanisms & Kind

/** True if mechanisms of this kind can live here. */
export const isLiveKind = (kind: Kind): kind is LiveKind => Object.hasOwn(deciders, kind)

/** Names one mechanism, for one tenant: a mechanism of another tenant is not found. */
export interface MechanismRef<K extends LiveKind> {
  readonly kind: K
  readonly id: string
  readonly tenant: Tenant
}

export type ConfigurationOf<K extends LiveKind> = Mechanisms[K]["Configuration"]
export type CommandOf<K extends LiveKind> = Mechanisms[K]["Command"]
export type RefusalOf<K extends LiveKind> = Mechanisms[K]["Refusal"]
export type ViewOf<K extends LiveKind> = Mechanisms[K]["View"]

/** A command that concerns one consumer's place. */
export type ConsumerCommand<K extends LiveKind> = Extract<CommandOf<K>, { readonly consumerId: string }>

/** A command that concerns the mechanism itself. */
export type AdminCommand<K extends LiveKind> = Exclude<CommandOf<K>, { readonly consumerId: string }>
