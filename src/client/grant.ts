/**
 * Keeps visitors without a grant away from a shop's pages, in any runtime with `fetch` and Web Crypto. A grant that a
 * room posts becomes a cookie of the shop; other visitors are sent to the room. It cannot know whether the grant is used
 * elsewhere: before the shop ships, it calls `complete`.
 */
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

/** The bytes of a form that are read. A grant is shorter. */
const formLengthMax = 16_384

/** How long a form may take to arrive. */
const formMillisMax = 10_000

/** How long the keys may take to arrive. */
const keysMillisMax = 5_000

export function createGrantGuard(settings: GuardSettings) {
  const { organizationId, mode = "live", protects, now = Date.now } = settings
  const usher = settings.url.replace(/(?<!\/)\/+$/, "")
  const check = makeCheck({ ...settings, url: usher }, now)

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
    const posted = await postedGrant(request)
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
    const back = encodeURIComponent(origin + url.pathname + url.search)
    return redirected(`${usher}/e/${encodeURIComponent(experienceId)}?return=${back}`)
  }
}

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

/** The grant in the form of a room. The answer is a redirect, so nobody else reads the body. */
const postedGrant = async ({ method, headers, body }: Request): Promise<string | undefined> => {
  if (method !== "POST" || !body) return undefined
  if (!/^application\/x-www-form-urlencoded\b/i.test(headers.get("content-type") ?? "")) return undefined
  if (Number(headers.get("content-length") ?? 0) > formLengthMax) return undefined
  const reader = body.getReader()
  const text = await within(formMillisMax, textFrom(reader)).catch(() => undefined)
  // A body that is cancelled would end the connection before the answer.
  reader.releaseLock()
  return new URLSearchParams(text).get("usher_grant") ?? undefined
}

/** The text of a short body; undefined for a longer one. */
const textFrom = async (reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string | undefined> => {
  const decoder = new TextDecoder()
  let text = ""
  for (let length = 0; ;) {
    const { done, value } = await reader.read()
    if (done) return text
    length += value.length
    if (length > formLengthMax) return undefined
    text += decoder.decode(value, { stream: true })
  }
}

/** The outcome of the promise. It fails if that takes longer. */
const within = <A>(millis: number, promise: Promise<A>): Promise<A> => {
  let timer: ReturnType<typeof setTimeout>
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("It took too long.")), millis)
  })
  return Promise.race([promise, late]).finally(() => clearTimeout(timer))
}

type Keys = ReadonlyArray<CryptoKey>

/** Makes the function that checks a token with the published keys. */
const makeCheck = ({ url, fetch: read = (url) => fetch(url) }: GuardSettings, now: () => number) => {
  let known: { readonly at: number; readonly keys: Keys } | undefined
  let reading: Promise<void> | undefined
  let triedAt = -Infinity

  /** The keys, read at most so long ago. While Usher is out of reach, those that were read last. */
  const keysOf = async (millis: number): Promise<Keys> => {
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
    const isSigned = async (keys: Keys) => {
      for (const key of keys) {
        if (await crypto.subtle.verify("Ed25519", key, parts.signature, parts.signed)) return true
      }
      return false
    }
    const isAuthentic = (await isSigned(await keysOf(keysMillis))) || (await isSigned(await keysOf(rereadMillis)))
    const claims = isAuthentic ? parts.claims() : undefined
    if (!claims) return { valid: false, code: "INVALID_TOKEN" }
    const code = problemOf(claims, expected, now())
    return code === undefined ? { valid: true, claims } : { valid: false, code }
  }
}

const readKeys = async (read: (url: string) => Promise<Response>, url: string): Promise<Keys> => {
  const reply = await read(`${url}/.well-known/jwks.json`)
  if (!reply.ok) throw new Error(`The keys of Usher could not be read: ${reply.status}`)
  const { keys } = (await reply.json()) as { readonly keys: ReadonlyArray<JsonWebKey> }
  return Promise.all(
    keys
      .filter(({ crv }) => crv === "Ed25519")
      .map((key) => crypto.subtle.importKey("jwk", key, "Ed25519", false, ["verify"]))
  )
}
