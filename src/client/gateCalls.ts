/** What a gate in the field asks of Usher. Every call has the same short patience, because a visitor may wait for it. */
import type { GateRecord, PassAnswer } from "./gate.ts"
import type { Renewed } from "./gateMemory.ts"
import type { KeySet } from "./grantKeys.ts"

export interface GateAddress {
  /** Where consumers reach Usher: `https://usher.example.com`. */
  readonly url: string
  readonly gateId: string
  /** The gate's own key, which begins with `gk_`. */
  readonly key: string
  /** Milliseconds until Usher counts as out of reach. Default: 900. */
  readonly patienceMillis?: number
  /** For tests. */
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>
}

export const patienceMillisDefault = 900

/** Usher has answered with a refusal. Any other error means that it is out of reach. */
export class CallRefused extends Error {
  readonly status: number
  readonly text: string

  constructor(status: number, text: string) {
    super(`Usher refuses: ${status} ${text}`)
    this.status = status
    this.text = text
  }
}

/** A page of ended grants. */
export interface EndedGrants {
  readonly data: ReadonlyArray<{ readonly jti: string; readonly expiresAt: string | null }>
  /** The next `since`. */
  readonly until: string
  /** The next page. */
  readonly next: string | null
}

export type GateCalls = ReturnType<typeof makeCalls>

/** Usher's "no" to a visitor, which must not open a gate. A wrong key says nothing about the visitor. */
const refusedPass = (error: unknown): PassAnswer => {
  if (!(error instanceof CallRefused) || error.status === 401) throw error
  if (error.text.includes('"CLOSED"')) return { status: "ENDED" }
  return { status: error.status === 404 ? "REFUSED" : "ROOM" }
}

/** Repeats a call if its connection breaks at once: the answer may be lost. */
const completed = async <A>(call: () => Promise<A>, soonMillis: number): Promise<A> => {
  const began = performance.now()
  try {
    return await call()
  } catch (error) {
    if (error instanceof CallRefused || performance.now() - began > soonMillis) throw error
    return call()
  }
}

export const makeCalls = (address: GateAddress) => {
  const { url, gateId, key, patienceMillis = patienceMillisDefault } = address
  const { fetch: send = (to, init) => fetch(to, init) } = address
  const base = url.replace(/(?<!\/)\/+$/, "")

  const call = async (path: string, init: RequestInit = {}): Promise<Response> => {
    const response = await send(base + path, {
      ...init,
      headers: { authorization: `Bearer ${key}`, ...init.headers },
      redirect: "manual",
      signal: AbortSignal.timeout(patienceMillis)
    })
    const { status } = response
    if (status < 300 || status === 304) return response
    const text = await response.text()
    throw status >= 400 && status < 500 ? new CallRefused(status, text) : new Error(`status ${status}`)
  }

  const json = async <A>(path: string, init?: RequestInit): Promise<A> => (await (await call(path, init)).json()) as A

  const post = <A>(path: string, body: object, headers: { readonly [name: string]: string } = {}) =>
    json<A>(path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body)
    })

  return {
    /** The gate's record with its tag; undefined if the tag is still right. */
    record: async (etag: string | null) => {
      const response = await call(`/api/gates/${gateId}`, etag === null ? {} : { headers: { "if-none-match": etag } })
      if (response.status === 304) return undefined
      return { record: (await response.json()) as GateRecord, etag: response.headers.get("etag") }
    },

    keys: () => json<KeySet>("/.well-known/jwks.json"),

    /** A page of the ended grants of the gate's queues. `report` says what the gate is and does. */
    ended: (since: string | null, after: string | null, report: string) => {
      const query = new URLSearchParams({ ...(since !== null && { since }), ...(after !== null && { after }) })
      return json<EndedGrants>(`/api/gates/${gateId}/ended?${query}`, { headers: { "usher-gate": report } })
    },

    /** `attempt` names the visitor, so that a repeated call is about the same one. */
    pass: (queueId: string, attempt: string, clientAddress?: string): Promise<PassAnswer> => {
      const body = clientAddress === undefined ? {} : { clientAddress }
      const passed = () => post<PassAnswer>(`/api/queues/${queueId}/pass`, body, { "idempotency-key": attempt })
      return completed(passed, patienceMillis / 3).catch(refusedPass)
    },

    renew: (queueId: string, grants: ReadonlyArray<string>) =>
      post<Renewed & { readonly renewed: number }>(`/api/queues/${queueId}/renew`, { grants })
  }
}
