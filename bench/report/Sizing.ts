/**
 * What a machine with some cores takes, from what an entry costs. A pure calculation: it assumes that costs stay the same
 * on more cores, and that the load comes from another machine.
 */

/** Processor time of one entry, in microseconds, and the pace of one queue's journal. */
export interface Costs {
  /** All fronts together. An entry passes one of them. */
  readonly frontMicroseconds: number
  /** The process that owns the queue. It decides on one thread. */
  readonly ownerMicroseconds: number
  /** The database with all its processes, if it is on the same machine; otherwise 0. */
  readonly databaseMicroseconds: number
  /** Entries that one queue's commits can write in a second, one statement after another. */
  readonly journalEntriesPerSecond: number
}

export interface Size {
  readonly cores: number
  readonly entriesPerSecond: number
  /** The number of fronts for this rate. */
  readonly fronts: number
  /**
   * What keeps the rate from growing: the owner's thread, the writes of one queue's commits, or the cores. If it is the
   * cores, it is the fronts or the database, whichever uses more of them; more cores help.
   */
  readonly limit: "owner" | "journal" | "fronts" | "database"
}

export const formula =
  "entries/s = min(cores × u / (front + owner + database), u / owner, u × journal), with times in seconds of processor an entry, " +
  "u the utilisation, and journal the entries a second that one queue's commits can write"

/** Returns the largest rate of entries into one queue at which no part is busier than `utilisation`. */
export function sizing(costs: Costs, cores: number, utilisation = 0.7): Size {
  const { frontMicroseconds, ownerMicroseconds, databaseMicroseconds, journalEntriesPerSecond } = costs
  const perCore = utilisation * 1e6
  const rates = {
    cores: (cores * perCore) / (frontMicroseconds + ownerMicroseconds + databaseMicroseconds),
    owner: perCore / ownerMicroseconds,
    journal: utilisation * journalEntriesPerSecond
  }
  const entriesPerSecond = Math.min(rates.cores, rates.owner, rates.journal)
  return {
    cores,
    entriesPerSecond,
    fronts: Math.max(1, Math.ceil((entriesPerSecond * frontMicroseconds) / perCore)),
    limit:
      entriesPerSecond === rates.owner
        ? "owner"
        : entriesPerSecond === rates.journal
          ? "journal"
          : frontMicroseconds >= databaseMicroseconds
            ? "fronts"
            : "database"
  }
}
