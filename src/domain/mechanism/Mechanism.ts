/**
 * The kinds of mechanism. A new kind adds one domain folder and one line to each of the two tables here. Everything else
 * in this file follows from what the kinds declare, and so do the lists and tables of kinds in the rest of the program.
 * `src/ARCHITECTURE.md` lists the other files that name a kind.
 */
import * as Appointment from "../appointment/Appointment.ts"
import * as Auction from "../auction/Auction.ts"
import * as Draw from "../draw/Draw.ts"
import * as Queue from "../queue/Queue.ts"
import * as Stock from "../stock/Stock.ts"
import * as TimedRelease from "../timedRelease/TimedRelease.ts"
import { sameTenant, type Tenant } from "../values/Ids.ts"
import * as Waitlist from "../waitlist/Waitlist.ts"
import type { KindData } from "./Declaration.ts"
import type { Decider } from "./Decider.ts"

/** The rules of each kind. */
export const deciders = {
  queue: Queue.decider,
  draw: Draw.decider,
  auction: Auction.decider,
  appointment: Appointment.decider,
  timed_release: TimedRelease.decider,
  waitlist: Waitlist.decider
} as const

/** What each kind declares as data, in the order in which the APIs name the kinds. */
export const declarations = {
  queue: Queue.declaration,
  draw: Draw.declaration,
  auction: Auction.declaration,
  appointment: Appointment.declaration,
  timed_release: TimedRelease.declaration,
  waitlist: Waitlist.declaration
} as const satisfies { readonly [K in Kind]: KindData }

/** The kinds of mechanism (`type` on `/distributions`). */
export type Kind = keyof typeof deciders

/** The kinds, in the order in which the APIs name them. */
export const kinds = Object.keys(declarations) as ReadonlyArray<Kind>

/** The rules of each kind of actor: the kinds of mechanism, and stocks, which have no consumers. */
export const actorDeciders = { ...deciders, stock: Stock.decider } as const

/** The kinds of actor. */
export type ActorKind = keyof typeof actorDeciders
export const actorKinds = Object.keys(actorDeciders) as ReadonlyArray<ActorKind>

/** The kinds that can sell from a stock. */
export const sellingKinds = kinds.filter((kind) => "units" in deciders[kind])

export const isKind = (name: string): name is Kind => Object.hasOwn(declarations, name)

/** Returns a table of the kinds. */
export const byKind = <A>(valueOf: (kind: Kind) => A): { readonly [K in Kind]: A } =>
  Object.fromEntries(kinds.map((kind) => [kind, valueOf(kind)])) as { readonly [K in Kind]: A }

/** The kinds in words. */
export const kindNames = byKind((kind) => declarations[kind].noun.replace(/^./, (first) => first.toUpperCase()))

/** The kinds of actor in words. */
export const actorNames: { readonly [K in ActorKind]: string } = { ...kindNames, stock: "Stock" }

type Declarations = typeof declarations

/** The kinds whose declaration has these parts. */
type KindsWith<Parts> = { [K in Kind]: Declarations[K] extends Parts ? K : never }[Kind]

const kindsWith = <K extends Kind>(has: (declaration: KindData) => boolean): ReadonlyArray<K> =>
  kinds.filter((kind): kind is K => has(declarations[kind]))

/** The kinds that grant. */
export type GrantingKind = KindsWith<{ readonly grants: readonly [string, ...ReadonlyArray<string>] }>
export const grantingKinds: ReadonlyArray<GrantingKind> = kindsWith(({ grants }) => grants.length > 0)

/** The kinds that grant by an event after the entry, so that a message tells the consumer. */
export type LateGrantKind = {
  [K in GrantingKind]: Declarations[K]["grants"][number] extends Declarations[K]["entries"][number] ? never : K
}[GrantingKind]
export const lateGrantKinds: ReadonlyArray<LateGrantKind> = kindsWith(({ entries, grants }) =>
  grants.some((grant) => !entries.includes(grant))
)

/** True if the entry is the grant. */
export const grantsOnEntry = (kind: Kind): boolean => {
  const { entries, grants }: KindData = declarations[kind]
  return grants.some((grant) => entries.includes(grant))
}

/** The kinds in which consumers select a variant. */
export const selectingKinds = kindsWith(({ selectsVariant }) => selectsVariant === true)

/** The kinds whose places an organization can deny. */
export type DeniableKind = KindsWith<{ readonly isDeniable: true }>
export const deniableKinds: ReadonlyArray<DeniableKind> = kindsWith(({ isDeniable }) => isDeniable === true)

/** The kinds that can be ended after they have closed. */
export const endableClosedKinds = kindsWith(({ isEndableClosed }) => isEndableClosed === true)

/** The kinds that can lead to an order: their places can be completed. */
export type OrderableKind = KindsWith<{ readonly statuses: { readonly COMPLETED: string } }>
export const orderableKinds: ReadonlyArray<OrderableKind> = kindsWith(({ statuses }) => "COMPLETED" in statuses)

/** The kinds of which a sequence has at most one. */
export type SingleKind = KindsWith<{ readonly singleField: string }>
export const isSingle = (kind: Kind): kind is SingleKind => "singleField" in declarations[kind]

/** The field of a sequence that holds its mechanisms of a kind. */
export type FieldOf<K extends Kind> = Declarations[K] extends { readonly singleField: infer Field extends string }
  ? Field
  : Declarations[K]["group"]

/** The fields of a sequence that hold its mechanisms. */
export const fieldOf = byKind((kind): string => {
  const { group, singleField = group }: KindData = declarations[kind]
  return singleField
}) as { readonly [K in Kind]: FieldOf<K> }

/** The types of a kind, from its decider. */
type TypesOf<D> =
  D extends Decider<
    infer Configuration,
    infer State,
    infer Command,
    infer _Event,
    infer Refusal,
    infer View,
    infer Facts
  >
    ? { Configuration: Configuration; State: State; Command: Command; Refusal: Refusal; View: View; Facts: Facts }
    : never

/** An interface, so that a kind that is not known yet keeps its types apart. */
interface Mechanisms extends Readonly<{ [K in ActorKind]: TypesOf<(typeof actorDeciders)[K]> }> {}

export type ConfigurationOf<K extends ActorKind> = Mechanisms[K]["Configuration"]
export type StateOf<K extends ActorKind> = Mechanisms[K]["State"]
export type CommandOf<K extends ActorKind> = Mechanisms[K]["Command"]
export type RefusalOf<K extends ActorKind> = Mechanisms[K]["Refusal"]
export type ViewOf<K extends ActorKind> = Mechanisms[K]["View"]
export type FactsOf<K extends ActorKind> = Mechanisms[K]["Facts"]

/** A command that concerns one consumer's place. */
export type ConsumerCommand<K extends ActorKind> = Extract<CommandOf<K>, { readonly consumerId: string }>

/** A command that concerns the mechanism itself. */
export type AdminCommand<K extends ActorKind> = Exclude<CommandOf<K>, { readonly consumerId: string }>

/** A mechanism's identity, as stored next to its events. It never changes. A stock belongs to no experience. */
export interface MechanismIdentity<K extends ActorKind = Kind> extends Tenant {
  readonly id: string
  readonly kind: K
  readonly experienceId: ParentOf<K>
  readonly sequenceId: ParentOf<K>
}

type ParentOf<K extends ActorKind> = K extends "stock" ? undefined : string

/** Identifies one mechanism of one tenant. A mechanism of another tenant is not found. */
export interface MechanismRef<K extends ActorKind> {
  readonly kind: K
  readonly id: string
  readonly tenant: Tenant
  /** Also finds the mechanism while it is archived and not torn down. Absent: an archived one is not found. */
  readonly includesArchived?: true
}

/** True if the caller names this mechanism by its kind and tenant. The caller has found it by its id. */
export const isOf = (identity: MechanismIdentity<ActorKind>, { kind, tenant }: MechanismRef<ActorKind>): boolean =>
  identity.kind === kind && sameTenant(tenant, identity)

/** How the list of mechanisms can be sorted. The first is the default. */
export const mechanismSorts = ["createdAt", "name", "openAt"] as const

/** How the list of events of a mechanism can be sorted. The first is the default. */
export const historySorts = ["sequence"] as const
