/**
 * Which crawler a visitor is. A `User-Agent` proves nothing, so the name of its address must lie in the operator's domain,
 * and that name must lead back to the address: only the operator can make both.
 */
import { Resolver } from "node:dns/promises"
import { BlockList, isIP } from "node:net"
import { within } from "./forms.ts"

/** The domains in which the addresses of each crawler have their names, as the operators document them. */
const domains: { readonly [crawler: string]: ReadonlyArray<string> } = {
  googlebot: [".googlebot.com", ".google.com"],
  bingbot: [".search.msn.com"],
  applebot: [".applebot.apple.com"],
  duckduckbot: [".duckduckgo.com"]
}

const agentPattern = /googlebot|bingbot|applebot|duckduckbot/i

/** Addresses whose finding is remembered. The oldest is forgotten first. */
export const findingsMax = 10_000

/** A crawler keeps its addresses for weeks. Others may become crawlers, or the name server was away. */
const keptMillis = { verified: 3_600_000, unverified: 300_000 }

/** Addresses that are looked up at the same time. Further ones count as unverified. */
export const lookupsMax = 20

const patienceMillis = 800

/** Names of one address that are looked up. */
const namesMax = 3

/** As much of a resolver of Node as is used. */
export interface Names {
  reverse(address: string): Promise<ReadonlyArray<string>>
  resolve4(name: string): Promise<ReadonlyArray<string>>
  resolve6(name: string): Promise<ReadonlyArray<string>>
}

interface Finding {
  readonly crawlers: ReadonlyArray<string>
  readonly until: number
}

export type Crawlers = ReturnType<typeof makeCrawlers>

/** Makes the function that returns the crawler which the user agent names, if the address is one of it. */
export const makeCrawlers = (names: Names = new Resolver({ timeout: 400, tries: 1 }), now: () => number = Date.now) => {
  const findings = new Map<string, Finding>()
  let lookups = 0

  const found = async (address: string): Promise<ReadonlyArray<string>> => {
    const known = findings.get(address)
    if (known !== undefined && now() < known.until) return known.crawlers
    if (lookups >= lookupsMax) return []
    lookups++
    const crawlers = (await within(patienceMillis, crawlersAt(names, address)).catch(() => undefined)) ?? []
    lookups--
    findings.delete(address)
    for (const oldest of findings.keys()) {
      if (findings.size < findingsMax) break
      findings.delete(oldest)
    }
    findings.set(address, { crawlers, until: now() + keptMillis[crawlers.length > 0 ? "verified" : "unverified"] })
    return crawlers
  }

  return async (userAgent: string | undefined, address: string | undefined): Promise<string | undefined> => {
    const claimed = agentPattern.exec((userAgent ?? "").slice(0, 1_000))?.[0].toLowerCase()
    if (claimed === undefined || address === undefined || isIP(address) === 0) return undefined
    return (await found(address)).includes(claimed) ? claimed : undefined
  }
}

const crawlersAt = async (names: Names, address: string): Promise<ReadonlyArray<string>> => {
  const crawlers: Array<string> = []
  for (const name of (await names.reverse(address)).slice(0, namesMax)) {
    const lower = name.toLowerCase().replace(/\.$/, "")
    const fitting = Object.keys(domains).filter((crawler) => domains[crawler]!.some((domain) => lower.endsWith(domain)))
    if (fitting.length > 0 && (await leadsBack(names, lower, address))) crawlers.push(...fitting)
  }
  return crawlers
}

const leadsBack = async (names: Names, name: string, address: string): Promise<boolean> => {
  const isNew = isIP(address) === 6
  const addresses = await (isNew ? names.resolve6(name) : names.resolve4(name))
  const list = new BlockList()
  for (const one of addresses) list.addAddress(one, isNew ? "ipv6" : "ipv4")
  return list.check(address, isNew ? "ipv6" : "ipv4")
}
