/** Which security events get a row of their own. An attacker decides how many different ones there are. */
import type { SecurityEventType } from "../../domain/organization/SecurityEvent.ts"
import type { Tenant } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"

/** Milliseconds in which events that agree are one row. */
export const bucketMillis = 3_600_000

/** Different events of one kind and tenant that a process writes in an hour. Further ones count without client. */
export const namedMax = 1_000

/** The same for all kinds and tenants together. It bounds the memory for it. */
const namedOfAllMax = 20_000

/** The kinds that an attacker can cause at any rate. */
const floodTypes: ReadonlySet<SecurityEventType> = new Set([
  "lock_out",
  "code_flood",
  "sms_refused",
  "challenge_refused",
  "rate_limited"
])

/** Makes the function that answers whether an event gets a row of its own in this hour. */
export const makeNaming = () => {
  const named = new Set<string>()
  const counts = new Map<string, number>()
  let bucket = 0
  return ({ organizationId, mode }: Tenant, type: SecurityEventType, key: string, now: Millis): boolean => {
    // Only the owner of an account or a key can cause the others.
    if (!floodTypes.has(type)) return true
    if (Math.floor(now / bucketMillis) !== bucket) {
      bucket = Math.floor(now / bucketMillis)
      named.clear()
      counts.clear()
    }
    if (named.has(key)) return true
    const kind = `${organizationId} ${mode} ${type}`
    const count = counts.get(kind) ?? 0
    if (count >= namedMax || named.size >= namedOfAllMax) return false
    named.add(key)
    counts.set(kind, count + 1)
    return true
  }
}
