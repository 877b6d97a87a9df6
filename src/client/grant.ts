/**
 * Keeps visitors without a grant away from a shop's pages, in any runtime with `fetch` and Web Crypto. A grant that a
 * room posts becomes a cookie of the shop; other visitors are sent to the room. It cannot know whether the grant is used
 * elsewhere: before the shop ships, it calls `complete`.
 */
import { formOf, within } from "./forms.ts"
import { type GrantKeys, importKeys, isSignedBy, type KeySet } from "./grantKeys.ts"
import { type ClaimProblem, type GrantClaims, type Mode, partsOf, problemOf } from "./grantRules.ts"

export type { GrantClaims } from "./grantRules.ts"

export interface GuardSettings {
  /** Where consumers reach Usher: `https://usher.example.com`. */
  readonly url: string
  readonly organizationId: string
  /** The mode of the grants. Default: live. */
  readonly mode?: Mode
  /** Returns the experience whose grant the request needs; undefined for a request that needs no grant. */
  readonly protects: (request: Request) => string | undefined
  /** The shop's own origin, where a proxy hides it from `request.url`. */
  readonly origin?: string
  /** For tests: another clock, and another way to read the keys. */
  readonly now?: () => number
  readonly fetch?: (url: string) => Promise<Response>
}

type GrantOutcome =
  | { readonly valid: true; readonly claims: GrantClaims }
  | { readonly valid: false; readonly code: ClaimProblem | "INVALID_TOKEN" }

/** How long the published keys are used. A key that has been removed is no longer believed after this time. */
const keysMillis = 300_000

/** A token with an unknown key has the keys read again, at most this often. */
const rereadMillis = 10_000

/** How long keys are used while Usher is out of reach. */
const staleMillisMax = 3_600_000

/** How long the keys may take to arrive. */
const keysMillisMax = 5_000

export function createGrantGuard(settings: GuardSettings) {
  const { organizationId, mode = "live", protects, now = Date.now, fetch: read = (url) => fetch(url) } = settings
  const usher = settings.url.replace(/(?<!\/)\/+$/, "")
  const check = makeCheck(read, usher, now)
  const isRefused = makeReturnCheck(read, now)

  /** Answers the request by `next` if it has a valid grant or needs none. */
  return async (request: Request, next: (request: Request) => Response | Promise<Response>): Promise<Response> => {
    const experienceId = protects(request)
    if (experienceId === undefined) return next(request)
    const url = new URL(request.url)
    const origin = settings.origin ?? url.origin
    const isLocal = /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:|$)/.test(origin)
    const name = `${isLocal ? "" : "__Host-"}usher-grant-${experienceId}`
    const admits = async (token: string | undefined) =>
      token === undefined ? undefined : check(token, { organizationId, mode, experienceId })
    if ((await admits(cookieIn(request, name)))?.valid) return next(request)
    const posted = new URLSearchParams(await formOf(request)).get("usher_grant") ?? undefined
    const outcome = await admits(posted)
    if (posted !== undefined && outcome?.valid) {
      const { exp } = outcome.claims
      const maxAge = exp === undefined ? "" : `; Max-Age=${Math.max(1, Math.floor(exp - now() / 1000))}`
      const secure = isLocal ? "" : "; Secure"
      return redirected(
        // Two slashes at the beginning would lead to another host.
        url.pathname.replace(/^\/+/, "/") + url.search,
        `${name}=${posted}; Path=/; HttpOnly; SameSite=Lax${secure}${maxAge}`
      )
    }
    const room = `${usher}/e/${encodeURIComponent(experienceId)}`
    if (await isRefused(`${room}/return?to=${encodeURIComponent(origin)}`)) return misconfigured(origin)
    const back = encodeURIComponent(origin + url.pathname + url.search)
    return redirected(`${room}?return=${back}`)
  }
}

/** Without this answer the room and the guard would send the visitor to and fro. */
const misconfigured = (origin: string): Response =>
  new Response(`Usher does not lead back to ${origin}. Allow this shop.`, { status: 500 })

const redirected = (location: string, cookie?: string): Response =>
  new Response(null, {
    status: 303,
    headers: { location, "cache-control": "no-store", ...(cookie !== undefined && { "set-cookie": cookie }) }
  })

const cookieIn = (request: Request, name: string): string | undefined =>
  request.headers
    .get("cookie")
    ?.split(/; */)
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1)

type Read = NonNullable<GuardSettings["fetch"]>

/** Makes the function that checks a token with the published keys. */
const makeCheck = (read: Read, url: string, now: () => number) => {
  let known: { readonly at: number; readonly keys: GrantKeys } | undefined
  let reading: Promise<void> | undefined
  let triedAt = -Infinity

  /** The keys, read at most so long ago. While Usher is out of reach, those that were read last. */
  const keysOf = async (millis: number): Promise<GrantKeys> => {
    const isRecent = known && (now() - known.at < millis || now() - triedAt < rereadMillis)
    if (!isRecent) {
      triedAt = now()
      reading ??= within(keysMillisMax, readKeys(read, url))
        .then((keys) => void (known = { at: now(), keys }))
        .catch(() => {})
        .finally(() => (reading = undefined))
      await reading
    }
    return known && now() - known.at < staleMillisMax ? known.keys : []
  }

  return async (token: string, expected: Parameters<typeof problemOf>[1]): Promise<GrantOutcome> => {
    const parts = partsOf(token)
    if (!parts) return { valid: false, code: "INVALID_TOKEN" }
    const isSigned = async (millis: number) => isSignedBy(await keysOf(millis), parts)
    const isAuthentic = (await isSigned(keysMillis)) || (await isSigned(rereadMillis))
    const claims = isAuthentic ? parts.claims() : undefined
    if (!claims) return { valid: false, code: "INVALID_TOKEN" }
    const code = problemOf(claims, expected, now())
    return code === undefined ? { valid: true, claims } : { valid: false, code }
  }
}

/** Answers that are remembered. A shop has few, unless callers invent names for it. */
const answersMax = 100

/** Makes the question whether a room leads back to this shop. Only a clear no turns visitors away. */
const makeReturnCheck = (read: Read, now: () => number) => {
  const known = new Map<string, { until: number; readonly refused: Promise<boolean> }>()
  return async (address: string): Promise<boolean> => {
    let answer = known.get(address)
    if (answer && now() < answer.until) return answer.refused
    if (known.size >= answersMax) known.clear()
    const refused = within(keysMillisMax, read(address)).then(
      ({ status }) => status === 403,
      () => false
    )
    known.set(address, (answer = { until: now() + keysMillis, refused }))
    // A shop that was refused may have been allowed since.
    if (await refused) answer.until = now() + rereadMillis
    return refused
  }
}

const readKeys = async (read: Read, url: string): Promise<GrantKeys> => {
  const reply = await read(`${url}/.well-known/jwks.json`)
  if (!reply.ok) throw new Error("no keys")
  return importKeys((await reply.json()) as KeySet)
}
