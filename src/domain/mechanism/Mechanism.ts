/**
 * The closed union of the mechanisms: for each kind, its commands, views and refusals. A new kind adds one domain
 * folder and one line in each of the two tables here.
 */
import * as Appointment from "../appointment/Appointment.ts"
import * as Auction from "../auction/Auction.ts"
import type { Kind, MechanismIdentity } from "./Decider.ts"
import * as Draw from "../draw/Draw.ts"
import { sameTenant, type Tenant } from "../values/Ids.ts"
import * as Queue from "../queue/Queue.ts"
import * as TimedRelease from "../timedRelease/TimedRelease.ts"
import * as Waitlist from "../waitlist/Waitlist.ts"

/** The types of each kind; `Facts` if it publishes any. */
export interface Mechanisms {
  readonly queue: {
    readonly Configuration: Queue.Configuration
    readonly Command: Queue.Command
    readonly Refusal: Queue.Refusal
    readonly View: Queue.View
    readonly Facts: Queue.Facts
  }
  readonly draw: {
    readonly Configuration: Draw.Configuration
    readonly Command: Draw.Command
    readonly Refusal: Draw.Refusal
    readonly View: Draw.View
    readonly Facts: Draw.Facts
  }
  readonly auction: {
    readonly Configuration: Auction.Configuration
    readonly Command: Auction.Command
    readonly Refusal: Auction.Refusal
    readonly View: Auction.View
    readonly Facts: Auction.Facts
  }
  readonly appointment: {
    readonly Configuration: Appointment.Configuration
    readonly Command: Appointment.Command
    readonly Refusal: Appointment.Refusal
    readonly View: Appointment.View
    readonly Facts: Appointment.Facts
  }
  readonly timed_release: {
    readonly Configuration: TimedRelease.Configuration
    readonly Command: TimedRelease.Command
    readonly Refusal: TimedRelease.Refusal
    readonly View: TimedRelease.View
    readonly Facts: TimedRelease.Facts
  }
  readonly waitlist: {
    readonly Configuration: Waitlist.Configuration
    readonly Command: Waitlist.Command
    readonly Refusal: Waitlist.Refusal
    readonly View: Waitlist.View
  }
}

/** The rules of each kind. */
export const deciders = {
  queue: Queue.decider,
  draw: Draw.decider,
  auction: Auction.decider,
  appointment: Appointment.decider,
  timed_release: TimedRelease.decider,
  waitlist: Waitlist.decider
} as const

/** The kinds in words. */
export const kindNames: { readonly [K in Kind]: string } = {
  queue: "Queue",
  draw: "Draw",
  auction: "Auction",
  appointment: "Appointment",
  timed_release: "Timed release",
  waitlist: "Waitlist"
}

/** Identifies one mechanism of one tenant. A mechanism of another tenant is not found. */
export interface MechanismRef<K extends Kind> {
  readonly kind: K
  readonly id: string
  readonly tenant: Tenant
  /** Also finds the mechanism while it is archived and not torn down. Absent: an archived one is not found. */
  readonly includesArchived?: true
}

/** True if the caller names this mechanism by its kind and tenant. The caller has found it by its id. */
export const isOf = (identity: MechanismIdentity, { kind, tenant }: MechanismRef<Kind>): boolean =>
  identity.kind === kind && sameTenant(tenant, identity)

export type ConfigurationOf<K extends Kind> = Mechanisms[K]["Configuration"]
export type StateOf<K extends Kind> = ReturnType<(typeof deciders)[K]["initial"]>
export type CommandOf<K extends Kind> = Mechanisms[K]["Command"]
export type RefusalOf<K extends Kind> = Mechanisms[K]["Refusal"]
export type ViewOf<K extends Kind> = Mechanisms[K]["View"]
export type FactsOf<K extends Kind> = Mechanisms[K] extends { readonly Facts: infer Facts } ? Facts : undefined

/** A command that concerns one consumer's place. */
export type ConsumerCommand<K extends Kind> = Extract<CommandOf<K>, { readonly consumerId: string }>

/** A command that concerns the mechanism itself. */
export type AdminCommand<K extends Kind> = Exclude<CommandOf<K>, { readonly consumerId: string }>

/** How the list of mechanisms can be sorted. The first is the default. */
export const mechanismSorts = ["createdAt", "name", "openAt"] as const

/** How the list of events of a mechanism can be sorted. The first is the default. */
export const historySorts = ["sequence"] as const
