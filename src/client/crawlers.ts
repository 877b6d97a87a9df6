/**
 * Which crawler a visitor is. A `User-Agent` proves nothing, so the name of its address must lie in the operator's domain,
 * and that name must lead back to the address: only the operator can make both.
 */
import { addressIn } from "./addresses.ts"
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

/** Makes the function that returns the crawler which the user agent names, if the address is one of it. */
export const makeCrawlers = (names: Names | undefined = namesOfNode(), now: () => number = Date.now) => {
  const findings = new Map<string, Finding>()
  let lookups = 0

  const found = async (address: string): Promise<ReadonlyArray<string>> => {
    const known = findings.get(address)
    if (known !== undefined && now() < known.until) return known.crawlers
    if (names === undefined || lookups >= lookupsMax) return []
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
    const plain = claimed === undefined || address === undefined ? undefined : addressIn(address)
    if (claimed === undefined || plain === undefined) return undefined
    return (await found(plain)).includes(claimed) ? claimed : undefined
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
  const addresses = await (address.includes(":") ? names.resolve6(name) : names.resolve4(name))
  return addresses.some((one) => addressIn(one) === address)
}

/** As much of Node as is used. Its modules are not imported, so that the types of this package do not need Node's. */
interface Node {
  getBuiltinModule?(name: "node:dns/promises"): {
    readonly Resolver: new (options: { readonly timeout: number; readonly tries: number }) => Names
  }
}

/** Node's resolver. Without one, before Node 20.16, nobody is verified. */
const namesOfNode = (): Names | undefined => {
  const { process } = globalThis as { readonly process?: Node }
  const dns = process?.getBuiltinModule?.("node:dns/promises")
  return dns && new dns.Resolver({ timeout: 400, tries: 1 })
}
