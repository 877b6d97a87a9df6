/**
 * The URLs that webhooks may have: `https`, a host name, no user, port 443 or 1024 and above. Inside of the operator's
 * own networks (`WEBHOOK_NETWORKS`) a URL may also use `http`, and an address instead of a name.
 */
import type { IpNetwork } from "effect/net"
import { isIP } from "node:net"
import { isIn } from "./PublicAddress.ts"

/** The lowest port next to 443. Below it are the services of machines. */
const portMin = 1_024

/** Returns what is wrong with a URL; undefined if nothing is. Its host is not resolved here. */
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
