/** The consumer's session: its tokens, kept for all tabs of the browser, and one refresh for all of them. */
import { alone } from "./follow.ts"
import { ifAllowed, type StoredValue, storedValue, type TokenStorage } from "./storage.ts"
import { type Options, orUndefined, send } from "./requests.ts"
import type { Session, StartedSession } from "./types.ts"

interface Tokens {
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
  declare readonly url: string
  declare readonly storageKey: string
  readonly #publishableKey: string
  readonly #stored: StoredValue
  readonly #changed: () => void
  #starting: Promise<void> | undefined

  constructor(url: string, publishableKey: string, storage: TokenStorage | undefined, changed: () => void) {
    this.url = new URL(url).origin
    this.#publishableKey = publishableKey
    this.storageKey = `usher ${publishableKey}`
    this.#stored = storedValue(() => storage ?? localStorage, this.storageKey)
    this.#changed = changed
  }

  get session(): Session | undefined {
    return this.#tokens()?.session
  }

  /** Keeps the tokens of a new session. */
  keep(started: StartedSession): void {
    this.#write(started)
    this.#changed()
  }

  /** Removes the tokens. */
  forget(): void {
    this.#stored.set("")
    this.#changed()
  }

  /** Starts a guest session if there is no session. */
  start(options: Options): Promise<void> {
    this.#starting ??= alone(this.storageKey, async () => {
      if (!this.#tokens())
        this.#write(await this.request<StartedSession>("/auth/guest", { ...options, method: "POST" }))
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
    let tokens = call.as === "consumer" ? this.#tokens() : undefined
    if (tokens && tokens.expiresAt - Date.now() < earlyMillis) tokens = await this.#refreshed(tokens, call)
    const reply = await this.#once(path, call, tokens)
    return reply.status === 401 && tokens ? this.#once(path, call, await this.#refreshed(tokens, call)) : reply
  }

  #once(path: string, { method = "GET", body, form, as, headers, signal }: Call, tokens: Tokens | undefined) {
    const init = {
      method,
      signal,
      credentials: "omit",
      headers: {
        ...(as !== "nobody" && { "x-publishable-key": this.#publishableKey }),
        ...(tokens && { authorization: `Bearer ${tokens.accessToken}` }),
        ...(body && { "content-type": "application/json" }),
        ...headers
      },
      body: body ? JSON.stringify(body) : form
    }
    return fetch(`${this.url}${path.startsWith("/e/") ? "" : "/api"}${path}`, init as RequestInit)
  }

  /** Replaces these tokens, unless another tab has. Undefined: the session has ended. */
  #refreshed(stale: Tokens, { signal, reached }: Options): Promise<Tokens | undefined> {
    return alone(this.storageKey, async () => {
      const kept = this.#tokens()
      if (kept?.accessToken !== stale.accessToken) return kept
      // The name is kept first: if the answer is lost, also by closing the page, it gets the same tokens again.
      // A page without encryption cannot draw one.
      const attempt = kept.attempt ?? crypto.randomUUID?.()
      this.#stored.set(JSON.stringify({ ...kept, attempt }))
      const { session, refreshToken } = kept
      const headers = attempt && { "idempotency-key": attempt }
      const call = { signal, reached, method: "POST", body: { refreshToken }, headers } as Call
      const next = await this.request<StartedSession>("/auth/refresh", call).catch(orUndefined(401))
      return next ? this.#write({ ...next, session }) : (this.forget() as undefined)
    })
  }

  #tokens(): Tokens | undefined {
    return ifAllowed(() => JSON.parse(this.#stored.get()) as Tokens)
  }

  #write(started: Pick<Tokens, "session" | "accessToken" | "refreshToken">): Tokens {
    const claims = started.accessToken.split(".")[1]!.replaceAll("-", "+").replaceAll("_", "/")
    const { iat, exp } = JSON.parse(atob(claims)) as { readonly iat: number; readonly exp: number }
    // The device's clock may be wrong, so only the difference counts.
    const tokens = { ...started, expiresAt: Date.now() + (exp - iat) * 1000 }
    this.#stored.set(JSON.stringify(tokens))
    return tokens
  }
}
