/**
 * How large an installation a drop needs. One hot queue has one owner, which uses one core; fronts and the database use as
 * many as there are. The processor time of each request decides which of the three is full first.
 */

/** The share of its cores that a part uses at most, so that short waves do not queue. */
export const utilization = 0.7

/** How often a waiting consumer asks for its place, in seconds. */
export const pollSeconds = 20

/** The length of the rush, in seconds: all shoppers come within it. */
const rushSeconds = 60

/** Processor time in microseconds. */
export interface Costs {
  /** At a front: a new consumer's session, its entry into the owner's queue, and each look at its place. */
  readonly sessionMicros: number
  readonly entryMicros: number
  readonly statusMicros: number
  /** At the owner of the queue: an entry, and a look. */
  readonly ownerEntryMicros: number
  readonly ownerStatusMicros: number
  /** In the database: a new consumer with its session and entry. A look costs it nothing. */
  readonly databaseMicros: number
}

export type Part = "fronts" | "owner" | "database"

/** What a number of shoppers in the first minute needs. */
export interface Size {
  /** Fronts with a core each. */
  readonly fronts: number
  /** Share of the owner's core. More than the utilization is too much for one queue. */
  readonly ownerCores: number
  readonly databaseCores: number
}

/** What an installation of some cores takes. */
export interface Capacity {
  /** The most shoppers in the first minute. */
  readonly shoppers: number
  /** The part that is full first. */
  readonly limit: Part
  readonly fronts: number
  readonly databaseCores: number
}

/**
 * Returns the processor time of one shopper in the first minute for each part. Shoppers come evenly, so each asks for half
 * a minute on average.
 */
const shareOf = (costs: Costs): Readonly<Record<Part, number>> => {
  const looks = rushSeconds / 2 / pollSeconds
  return {
    fronts: costs.sessionMicros + costs.entryMicros + looks * costs.statusMicros,
    owner: costs.ownerEntryMicros + looks * costs.ownerStatusMicros,
    database: costs.databaseMicros
  }
}
