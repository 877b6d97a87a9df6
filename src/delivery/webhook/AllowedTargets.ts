/**
 * The URLs and addresses that webhooks may reach. An organization chooses the URL, so without these checks its webhooks
 * could read the operator's own network.
 */
import { Result } from "effect"
import { IpNetwork, NetAddress } from "effect/net"
import { isIP } from "node:net"

/** The lowest port next to 443. Below it are the services of machines. */
const portMin = 1_024

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

/**
 * Returns what is wrong with a URL; undefined if nothing is: `https`, a host name, no user, port 443 or 1024 and above.
 * Inside of the operator's own networks (`WEBHOOK_NETWORKS`) a URL may also use `http`, and an address instead of a name.
 * The host is not resolved here.
 */
export const problemOf = (text: string, networks: ReadonlyArray<IpNetwork.IpNetwork>): string | undefined => {
  const url = URL.parse(text)
  if (url === null) return "a URL"
  const address = url.hostname.replace(/^\[|\]$/g, "")
  const isOwn = isIP(address) !== 0 && isIn(networks, address)
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isOwn)) return "an https URL"
  if (url.username !== "" || url.password !== "") return "a URL without user and password"
  if (isIP(address) !== 0 && !isOwn) return "a URL with a host name"
  const port = url.port === "" ? 443 : Number(url.port)
  if (port !== 443 && port < portMin) return `a URL with port 443 or a port from ${portMin} on`
  return undefined
}

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
