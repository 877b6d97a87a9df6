/**
 * The addresses that webhooks may reach. An organization chooses the URL, so without this check its webhooks could read
 * the operator's own network.
 */
import { Result } from "effect"
import { IpNetwork, NetAddress } from "effect/net"

const networks = (...texts: ReadonlyArray<string>) => texts.map((text) => Result.getOrThrow(IpNetwork.fromString(text)))

/** IPv4 ranges that are not globally routable (IANA's registry of special-purpose addresses). */
const reservedIpv4 = networks(
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3"
)

/** The only block of globally routable IPv6 addresses, and the ranges within it that are not. */
const routableIpv6 = networks("2000::/3")
const reservedIpv6 = networks("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20")

/** True if the text is an address of one of the networks. */
export const isIn = (among: ReadonlyArray<IpNetwork.IpNetwork>, text: string): boolean => {
  const address = NetAddress.ipFromString(text)
  return Result.isSuccess(address) && contains(among, address.success)
}

/**
 * True if the text is a globally routable address. IPv6 forms that contain an IPv4 address (mapped, translated,
 * tunnelled) are outside of the routable block or in a reserved range.
 */
export const isPublic = (text: string): boolean => {
  const parsed = NetAddress.ipFromString(text)
  if (Result.isFailure(parsed)) return false
  const address = parsed.success
  return NetAddress.isIpv4Address(address)
    ? !contains(reservedIpv4, address)
    : contains(routableIpv6, address) && !contains(reservedIpv6, address)
}

const contains = (among: ReadonlyArray<IpNetwork.IpNetwork>, address: NetAddress.IpAddress): boolean =>
  among.some((network) => IpNetwork.contains(network, address))
