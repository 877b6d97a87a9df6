/** The consumer's session: its tokens, kept for all tabs of the browser, and one refresh for all of them. */
import { locks } from "./follow.ts"
import { type Options, orUndefined, send } from "./requests.ts"
import type { Session, StartedSession } from "./types.ts"

/** Where tokens are kept: `localStorage`, or something like it. */
export interface TokenStorage {
  getItem(key: string): string | null
  setItem(key: string, value: string): void
  removeItem(key: string): void
}

interface Kept {
  readonly session: Session
  readonly accessToken: string
  readonly refreshToken: string
  /** By this device's clock, in milliseconds. */
  readonly expiresAt: number
  /** The name of a refresh that awaits its answer. */
  readonly attempt?: string
}

export interface Call extends Options {
  readonly method?: string
  readonly body?: object
  /** A body of another kind. */
  readonly form?: URLSearchParams
  /**
   * The credentials that are sent besides the key: the consumer's, if it has a session. For `nobody` the key is not
   * sent either.
   */
  readonly as?: "nobody" | "consumer"
  readonly headers?: { readonly [name: string]: string }
}

/** A token is refreshed before it expires. */
const earlyMillis = 30_000

export class Sessions {
  readonly url: string
  readonly storageKey: string
  readonly #publishableKey: string
  readonly #storage: TokenStorage
  readonly #changed: () => void
  #starting: Promise<void> | undefined

  constructor(url: string, publishableKey: string, storage: TokenStorage | undefined, changed: () => void) {
    this.url = new URL(url).origin
    this.#publishableKey = publishableKey
    this.storageKey = `usher ${publishableKey}`
    this.#storage = storage ?? browserStorage()
    this.#changed = changed
  }

  get session(): Session | undefined {
    return this.#kept()?.session
  }

  /** Keeps the tokens of a new session. */
  keep(started: StartedSession): void {
    this.#write(started)
    this.#changed()
  }

  /** Removes the tokens. */
  forget(): void {
    this.#storage.removeItem(this.storageKey)
    this.#changed()
  }

  /** Starts a guest session if there is no session. */
  start(options: Options): Promise<void> {
    this.#starting ??= this.#locked(async () => {
      if (!this.#kept()) this.#write(await this.request<StartedSession>("/auth/guest", { ...options, method: "POST" }))
    }).finally(() => (this.#starting = undefined))
    return this.#starting
  }

  /** Sends a request to the API until it is answered. */
  request<A>(path: string, call: Call = {}): Promise<A> {
    return send<A>((headers) => this.fetch(path, { ...call, headers: { ...call.headers, ...headers } }), call)
  }

  /**
   * Sends a request to the API once. If the session's access token is no longer accepted, sends it again with the next
   * token, or without one.
   */
  async fetch(path: string, call: Call): Promise<Response> {
    let kept = call.as === "consumer" ? this.#kept() : undefined
    if (kept && kept.expiresAt - Date.now() < earlyMillis) kept = await this.#refreshed(kept.accessToken, call)
    const reply = await this.#once(path, call, kept?.accessToken)
    if (reply.status !== 401 || !kept) return reply
    const next = await this.#refreshed(kept.accessToken, call)
    return this.#once(path, call, next?.accessToken)
  }

  #once(path: string, { method = "GET", body, form, as, headers, signal }: Call, token: string | undefined) {
    return fetch(`${this.url}${path.startsWith("/e/") ? "" : "/api"}${path}`, {
      method,
      signal: signal ?? null,
      credentials: "omit",
      headers: {
        ...(as !== "nobody" && { "x-publishable-key": this.#publishableKey }),
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body && { "content-type": "application/json" }),
        ...headers
      },
      body: body ? JSON.stringify(body) : (form ?? null)
    })
  }

  /** Replaces this access token, unless another tab has. Undefined: the session has ended. */
  #refreshed(stale: string, { signal, reached }: Options): Promise<Kept | undefined> {
    return this.#locked(async () => {
      const kept = this.#kept()
      if (kept?.accessToken !== stale) return kept
      // The name is kept first: if the answer is lost, also by closing the page, it gets the same tokens again.
      const attempt = kept.attempt ?? crypto.randomUUID()
      this.#storage.setItem(this.storageKey, JSON.stringify({ ...kept, attempt }))
      const { session, refreshToken } = kept
      const headers = { "idempotency-key": attempt }
      const call = { signal, reached, method: "POST", body: { refreshToken }, headers } as Call
      const next = await this.request<StartedSession>("/auth/refresh", call).catch(orUndefined(401))
      if (next) return this.#write({ ...next, session })
      this.forget()
      return undefined
    })
  }

  /** Runs alone in all tabs of the browser, where it has locks. Without, the name of the refresh keeps two of them equal. */
  #locked<A>(run: () => Promise<A>): Promise<A> {
    return (locks()?.request(this.storageKey, run) as Promise<A> | undefined) ?? run()
  }

  #kept(): Kept | undefined {
    try {
      return JSON.parse(this.#storage.getItem(this.storageKey) ?? "") as Kept
    } catch {
      return undefined
    }
  }

  #write({ session, accessToken, refreshToken }: Pick<StartedSession, "session" | "accessToken" | "refreshToken">) {
    const { iat, exp } = JSON.parse(atob(accessToken.split(".")[1]!.replaceAll("-", "+").replaceAll("_", "/"))) as {
      readonly iat: number
      readonly exp: number
    }
    // The device's clock may be wrong, so only the difference counts.
    const kept: Kept = { session, accessToken, refreshToken, expiresAt: Date.now() + (exp - iat) * 1000 }
    this.#storage.setItem(this.storageKey, JSON.stringify(kept))
    return kept
  }
}

/** `localStorage`; without it the tokens are lost with the page. */
const browserStorage = (): TokenStorage => {
  try {
    const { localStorage } = globalThis
    localStorage.getItem("usher")
    return localStorage
  } catch {
    const kept = new Map<string, string>()
    return {
      getItem: (key) => kept.get(key) ?? null,
      setItem: (key, value) => void kept.set(key, value),
      removeItem: (key) => void kept.delete(key)
    }
  }
}
