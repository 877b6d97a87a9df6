/**
 * How many consumers have lately entered from one origin, an address or a network. The count decays by half in a fixed
 * time, so it needs no list. A consumer that repeats its entry counts once, if it is one of the last few of the origin.
 */
import type { Millis } from "../values/Time.ts"

/** The half-life of the counts. */
export const halfLifeMillis = 600_000

/** The counts decay in steps of this length, so that the arrivals of one moment cost no power of two. */
const stepMillis = 1_000

/** The last consumers of an address that are known. A household has no more. */
const consumersMax = 4

export interface NetworkEntries {
  count: number
  at: Millis
}

export interface AddressEntries extends NetworkEntries {
  readonly network: NetworkEntries
  /** The last consumers, the latest first. */
  readonly consumerIds: Array<string>
}

export const noNetworkEntries = (at: Millis): NetworkEntries => ({ count: 0, at })

export const noAddressEntries = (network: NetworkEntries, at: Millis): AddressEntries => ({
  count: 0,
  at,
  network,
  consumerIds: []
})

/** The entries of other consumers, from the address and from the other addresses of its network. */
export interface Others {
  readonly addressEntries: number
  readonly networkEntries: number
}

/** Returns the other consumers' entries, and counts this one. Changes both counts. */
export const noteEntry = (address: AddressEntries, consumerId: string, now: Millis): Others => {
  const { network, consumerIds } = address
  decay(address, now)
  decay(network, now)
  const known = consumerIds.indexOf(consumerId)
  const own = known === -1 ? 0 : 1
  const others = {
    addressEntries: Math.max(0, address.count - own),
    networkEntries: Math.max(0, network.count - address.count)
  }
  if (known === -1) {
    address.count++
    network.count++
    consumerIds.unshift(consumerId)
    if (consumerIds.length > consumersMax) consumerIds.pop()
  }
  return others
}

const decay = (entries: NetworkEntries, now: Millis): void => {
  if (now - entries.at < stepMillis) return
  entries.count *= 2 ** ((entries.at - now) / halfLifeMillis)
  entries.at = now
}
