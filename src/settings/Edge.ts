/**
 * The settings of the edge: its public address, and the limits of callers: connections, live streams, shares of limits.
 */
import { fraction, whole, absent, type Absent, type Definition } from "./Shapes.ts"
import { isLoopback } from "./Loopback.ts"

export const edgeDefinitions = {
  publicUrl: publicUrl("PUBLIC_URL", {
    whenAbsent: "pages link to themselves by path, and messages contain no links to them",
    meaning:
      "The address at which consumers reach the Consumer API's listener. Links in pages and messages begin with it."
  }),
  connectionsMax: whole("CONNECTIONS_MAX", {
    unit: "connections",
    fallback: 25_000,
    least: 16,
    most: 1_000_000,
    meaning:
      "The most open connections of the Consumer API. It also takes at most 70 % of the files that the process may " +
      "open."
  }),
  connectionsPerAddress: whole("CONNECTIONS_PER_ADDRESS", {
    unit: "connections",
    fallback: 1_000,
    least: 1,
    most: 1_000_000,
    meaning:
      "The most open connections of one client address on each API. Proxies in `TRUSTED_PROXIES` have no such limit."
  }),
  streamsPerAddress: whole("STREAMS_PER_ADDRESS", {
    unit: "streams",
    fallback: 1_000,
    least: 1,
    most: 1_000_000,
    meaning: "The most open live streams of one client address in one process, also through a trusted proxy."
  }),
  streamsPerOrganization: whole("STREAMS_PER_ORGANIZATION", {
    unit: "streams",
    fallback: 15_000,
    least: 1,
    most: 1_000_000,
    meaning: "The most open live streams of one organization's consumers in one process."
  }),
  limitAddressShare: fraction("LIMIT_ADDRESS_SHARE", {
    fallback: 0.2,
    least: 0.001,
    meaning:
      "With the public key: the share of an organization's limit with which the requests of client addresses that press " +
      "count for the first requests of others. The rest of the limit is reserved for these in addition. With 1 nothing " +
      "is reserved, and all requests share one limit, also those with the secret key."
  }),
  limitPerAddress: fraction("LIMIT_PER_ADDRESS", {
    fallback: 1,
    least: 0.001,
    meaning:
      "With the public key: the share of each of an organization's limits by the minute that one client address may use. " +
      "An organization without a limit counts by the default plan's."
  }),
  limitPerConsumer: fraction("LIMIT_PER_CONSUMER", { fallback: 1, least: 0.001, meaning: "The same for one consumer." })
}

/** The base of links that leave this service: an origin, and perhaps a path. Trailing slashes are removed. */
export function publicUrl(variable: string, options: Absent): Definition<string | undefined> {
  const shape = "an `https:` URL without user, query and fragment; `http:` only for loopback"
  return {
    ...absent(variable, "URL", shape, options),
    secret: true,
    fallback: undefined,
    parse: (value) => {
      const parsed = /^https?:\/\/[^\s?#@\\]+$/.test(value) ? URL.parse(value) : null
      if (parsed === null) return undefined
      const isAllowed = parsed.protocol === "https:" || isLoopback(parsed.hostname.replace(/^\[|\]$/g, ""))
      return isAllowed ? parsed.href.replace(/(?<!\/)\/+$/, "") : undefined
    }
  }
}
