/**
 * The risk of each entry, from facts in this process: the entries of the last minutes by address and by network, the
 * solved challenge, and the age of the account. All of it is in memory, so an entry costs a lookup, some arithmetic and
 * no SQL. Each process counts the entries that it accepts.
 */
import { Context, Effect, Layer } from "effect"
import { createdAtOf } from "../../domain/values/Ids.ts"
import {
  type AddressEntries,
  type NetworkEntries,
  noAddressEntries,
  noNetworkEntries,
  noteEntry
} from "../../domain/risk/RecentEntries.ts"
import { assess, type Risk, type SolvedChallenge } from "../../domain/risk/Risk.ts"
import { SegmentedCache } from "../../domain/values/SegmentedCache.ts"
import * as Time from "../../store/coordination/Time.ts"

/** Least number of addresses whose entries are counted, each for one experience. */
const addressesMax = 100_000

/** The same for networks. */
const networksMax = 50_000

/** An entry that is about to be made. */
export interface Entry {
  readonly experienceId: string
  readonly consumerId: string
  /** The client's address, as it is counted. */
  readonly address: string
  /** Returns the network of the address. Called for the first entry of an address. */
  readonly networkOf: (address: string) => string
  readonly challenge: SolvedChallenge | undefined
}

export class EntryRisks extends Context.Service<
  EntryRisks,
  {
    /** Counts the entry and returns its risk. Undefined if nothing suggests one, and for the machine itself. */
    of(entry: Entry): Risk | undefined
  }
>()("usher/auth/risk/EntryRisks") {
  static readonly layer = Layer.effect(
    EntryRisks,
    Effect.map(Time.serverClock, (clock) => {
      const addresses = new SegmentedCache<AddressEntries>(addressesMax)
      const networks = new SegmentedCache<NetworkEntries>(networksMax)

      const networkEntries = ({ experienceId, address, networkOf }: Entry, now: number): NetworkEntries => {
        const key = `${experienceId} ${networkOf(address)}`
        const known = networks.get(key)
        if (known !== undefined) return known
        const made = noNetworkEntries(now)
        networks.set(key, made)
        return made
      }

      const addressEntries = (entry: Entry, now: number): AddressEntries => {
        const key = `${entry.experienceId} ${entry.address}`
        const known = addresses.get(key)
        if (known !== undefined) return known
        const made = noAddressEntries(networkEntries(entry, now), now)
        addresses.set(key, made)
        return made
      }

      return {
        of: (entry) => {
          if (isLoopback(entry.address)) return undefined
          const now = clock.currentTimeMillisUnsafe()
          const others = noteEntry(addressEntries(entry, now), entry.consumerId, now)
          return assess({
            ...others,
            challenge: entry.challenge,
            accountAgeMillis: now - createdAtOf(entry.consumerId)
          })
        }
      }
    })
  )
}

/** True for the machine itself. `address` is as it is counted. */
const isLoopback = (address: string): boolean => address === "127.0.0.1" || address === "::1" || address === "::"
