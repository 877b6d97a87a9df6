/** Usher in a browser, or anywhere with `fetch`: the session of a consumer and its way through experiences. */
import { ExperienceStore } from "./experience.ts"
import type { Options } from "./requests.ts"
import type { TokenStorage } from "./storage.ts"
import { Sessions } from "./sessions.ts"
import type { Session, StartedSession } from "./types.ts"

export { UsherError } from "./requests.ts"
export type { ExperienceStore } from "./experience.ts"
export type { Action, Input, ShownPlace, Snapshot, ViewState } from "./view.ts"
export type { TokenStorage } from "./storage.ts"
export type * from "./types.ts"

export interface Settings {
  /** Where consumers reach Usher: `https://usher.example.com`. */
  readonly url: string
  /** Begins with `pk_`. It may be public. */
  readonly publishableKey: string
  /** Default: `localStorage`. */
  readonly storage?: TokenStorage
}

/** An email address or a phone number. */
export type Address = { readonly email: string } | { readonly phone: string; readonly defaultCountry?: string }

export class Usher {
  /** Sends the consumer's requests. */
  declare readonly sessions: Sessions
  readonly #experiences: { [id: string]: ExperienceStore } = {}
  /** By address: the code counts for the request of this device alone. */
  readonly #requestIds: { [address: string]: string } = {}

  constructor({ url, publishableKey, storage }: Settings) {
    this.sessions = new Sessions(url, publishableKey, storage, () => {
      for (const experience of Object.values(this.#experiences)) experience.refresh()
    })
  }

  /** The consumer, if it has a session. */
  get session(): Session | undefined {
    return this.sessions.session
  }

  /** Returns the experience, the same object each time. */
  experience(id: string): ExperienceStore {
    return (this.#experiences[id] ??= new ExperienceStore(this.sessions, id))
  }

  /** Sends a one-time code. */
  async requestCode(address: Address, options: Options = {}): Promise<void> {
    const { requestId } = await this.sessions.request<{ readonly requestId: string }>("/auth/otp/request", {
      ...options,
      method: "POST",
      body: address
    })
    this.#requestIds[JSON.stringify(address)] = requestId
  }

  /** Signs in with the code. A guest keeps its places, unless the address is another consumer's. */
  async verifyCode(
    address: Address,
    code: string,
    options: Options = {},
    requestId = this.#requestIds[JSON.stringify(address)]
  ): Promise<Session> {
    const started = await this.sessions.request<StartedSession>("/auth/otp/verify", {
      ...options,
      method: "POST",
      as: "consumer",
      body: { ...address, code, requestId }
    })
    this.sessions.keep(started)
    return started.session
  }

  /** Ends the session. */
  async signOut(options: Options = {}): Promise<void> {
    await this.sessions.request("/auth/logout", { ...options, method: "POST", as: "consumer" }).catch(() => {})
    this.sessions.forget()
  }
}
