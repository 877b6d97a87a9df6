/**
 * What a gate in the field asks of Usher. Every call has the same short patience, because a visitor may wait for it. One
 * call without an answer says little: under load one of many is late, and a connection may break. So Usher counts as out
 * of reach only if it has answered no other call meanwhile, nor the same one again.
 */
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
  /** For tests. */
  readonly now?: () => number
}

export const patienceMillisDefault = 900

/** A call that ends so much after its patience says that this process had no processor, and nothing about Usher. */
const stalledMillis = 100

/** How often a call is made while Usher answers others, and how often that of a visitor, who waits meanwhile. */
const attemptsMax = 2
const attemptsOfPassMax = 5

/** How long a visitor's name is kept whose answer nobody got, and how many. Usher remembers a name for a minute. */
const unansweredMillis = 45_000
const unansweredMax = 1_000

/** Usher has answered with a refusal. Any error but this one and `CallLate` means that it is out of reach. */
export class CallRefused extends Error {
  readonly status: number
  readonly text: string

  constructor(status: number, text: string) {
    super(`Usher refuses: ${status} ${text}`)
    this.status = status
    this.text = text
  }
}

/** A call has no answer, although Usher answers others, or as far as this process can know. */
export class CallLate extends Error {}

/** A page of ended grants. */
export interface EndedGrants {
  readonly data: ReadonlyArray<{ readonly jti: string; readonly expiresAt: string | null }>
  /** The next `since`. */
  readonly until: string
  /** The next page. */
  readonly next: string | null
}

export type GateCalls = ReturnType<typeof makeCalls>

interface Unanswered {
  readonly of: string
  readonly attempt: string
  readonly until: number
}

interface Answer {
  readonly status: number
  readonly text: string
  readonly etag: string | null
}

/** Usher's "no" to a visitor, which must not open a gate. A wrong key says nothing about the visitor. */
const refusedPass = (error: unknown): PassAnswer => {
  if (error instanceof CallLate) return { status: "ROOM" }
  if (!(error instanceof CallRefused) || error.status === 401) throw error
  if (error.text.includes('"CLOSED"')) return { status: "ENDED" }
  return { status: error.status === 404 ? "REFUSED" : "ROOM" }
}

/** Makes the function that calls Usher, again where that may help. */
const makeCall = (address: GateAddress) => {
  const { url, key, patienceMillis = patienceMillisDefault } = address
  const { fetch: send = (to, init) => fetch(to, init), now = Date.now } = address
  const base = url.replace(/(?<!\/)\/+$/, "")
  let answers = 0

  const attempted = async (path: string, init: RequestInit): Promise<Answer> => {
    const response = await send(base + path, {
      ...init,
      headers: { authorization: `Bearer ${key}`, ...init.headers },
      redirect: "manual",
      signal: AbortSignal.timeout(patienceMillis)
    })
    const { status, headers } = response
    const text = await response.text()
    if (status < 300 || status === 304) return { status, text, etag: headers.get("etag") }
    throw status >= 400 && status < 500 ? new CallRefused(status, text) : new Error(`status ${status}`)
  }

  return async (path: string, init: RequestInit = {}, timesMax = attemptsMax): Promise<Answer> => {
    for (let times = 1; ; times++) {
      const began = now()
      const before = answers
      try {
        const answer = await attempted(path, init)
        answers++
        return answer
      } catch (error) {
        const tookMillis = now() - began
        if (error instanceof CallRefused) answers++
        const isHeard = answers > before || tookMillis > patienceMillis + stalledMillis
        // The answer of a connection that breaks at once may be lost.
        const isSecond = times > 1 || tookMillis > patienceMillis / 3
        if (error instanceof CallRefused || (!isHeard && isSecond)) throw error
        if (times >= timesMax) throw isHeard ? new CallLate(String(error)) : error
      }
    }
  }
}

/**
 * The names of visitors whose answer nobody got. Usher may have let in a visitor who does not know it. The next one from
 * its address, who probably is the same, takes its place.
 */
const makeUnanswered = (now: () => number) => {
  let unanswered: ReadonlyArray<Unanswered> = []
  return {
    /** Returns a name whose answer nobody got, of this queue and address; else the new one. */
    take: (of: string, attempt: string): Unanswered => {
      unanswered = unanswered.filter(({ until }) => until > now())
      const found = unanswered.find((one) => one.of === of)
      unanswered = unanswered.filter((one) => one !== found)
      return found ?? { of, attempt, until: now() + unansweredMillis }
    },
    keep: (named: Unanswered): void => {
      unanswered = [...unanswered.slice(1 - unansweredMax), named]
    }
  }
}

export const makeCalls = (address: GateAddress) => {
  const { gateId, now = Date.now } = address
  const call = makeCall(address)
  const unanswered = makeUnanswered(now)

  const json = async <A>(path: string, init?: RequestInit, timesMax?: number): Promise<A> =>
    JSON.parse((await call(path, init, timesMax)).text) as A

  return {
    /** The gate's record with its tag; undefined if the tag is still right. */
    record: async (etag: string | null) => {
      const answer = await call(`/api/gates/${gateId}`, etag === null ? {} : { headers: { "if-none-match": etag } })
      return answer.status === 304 ? undefined : { record: JSON.parse(answer.text) as GateRecord, etag: answer.etag }
    },

    keys: () => json<KeySet>("/.well-known/jwks.json"),

    /** A page of the ended grants of the gate's queues. `report` says what the gate is and does. */
    ended: (since: string | null, after: string | null, report: string) => {
      const query = new URLSearchParams({ ...(since !== null && { since }), ...(after !== null && { after }) })
      return json<EndedGrants>(`/api/gates/${gateId}/ended?${query}`, { headers: { "usher-gate": report } })
    },

    /** `attempt` names the visitor, so that a repeated call is about the same one. */
    pass: async (queueId: string, attempt: string, clientAddress?: string): Promise<PassAnswer> => {
      const body = clientAddress === undefined ? {} : { clientAddress }
      const named = unanswered.take(`${queueId} ${clientAddress}`, attempt)
      try {
        const sent = posted(body, { "idempotency-key": named.attempt })
        return await json<PassAnswer>(`/api/queues/${queueId}/pass`, sent, attemptsOfPassMax)
      } catch (error) {
        if (!(error instanceof CallRefused)) unanswered.keep(named)
        return refusedPass(error)
      }
    },

    renew: (queueId: string, grants: ReadonlyArray<string>) =>
      json<Renewed & { readonly renewed: number }>(`/api/queues/${queueId}/renew`, posted({ grants }))
  }
}

const posted = (body: object, headers: { readonly [name: string]: string } = {}): RequestInit => ({
  method: "POST",
  headers: { "content-type": "application/json", ...headers },
  body: JSON.stringify(body)
})
