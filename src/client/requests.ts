/** Requests that are repeated until Usher answers. Every operation of a consumer is safe to repeat. */
import { askedSeconds, pause, pauseSecondsMax } from "./follow.ts"

/** Usher has refused a request. */
export class UsherError extends Error {
  declare readonly status: number
  /** Such as `CLOSED`, `BID_TOO_LOW`, `otp_invalid`; else the text of the refusal. */
  declare readonly code: string
  /** The answer, with such fields as `minimumBid`. */
  declare readonly body: { readonly [field: string]: unknown }
  declare readonly retryAfterSeconds: number
  constructor(status: number, body: UsherError["body"], retryAfterSeconds = 0) {
    const code = String(body["code"] ?? body["error"])
    super(code)
    Object.assign(this, { status, code, body, retryAfterSeconds })
  }
}

/** Handles a refusal with one of these statuses as if there were no answer. */
export const orUndefined =
  (...statuses: ReadonlyArray<number>) =>
  (error: unknown): undefined => {
    if (!(error instanceof UsherError) || !statuses.includes(error.status)) throw error
  }

export interface Options {
  readonly signal?: AbortSignal | undefined
  /** Called with false when Usher cannot be reached, and with true when it has answered. */
  readonly reached?: (isReached: boolean) => void
}

/** A longer wait is the caller's decision. */
const retryAfterSecondsMax = 60

/**
 * Sends a request again and again while Usher is out of reach or busy, and solves each challenge. `fetching` sends it
 * once, with more headers.
 */
export async function send<A>(
  fetching: (headers: { readonly [name: string]: string }) => Promise<Response>,
  { signal, reached }: Options = {}
): Promise<A> {
  let headers = {}
  for (let seconds = 1; ; seconds = Math.min(pauseSecondsMax, seconds * 2)) {
    signal?.throwIfAborted()
    const reply = await fetching(headers).catch(() => undefined)
    const asked = askedSeconds(reply)
    if (reply && !isToBeRepeated(reply.status, asked)) {
      const body = await reply.json().catch(() => ({}))
      reached?.(true)
      if (reply.ok) return body as A
      const refusal = new UsherError(reply.status, body as UsherError["body"], asked)
      const { challenge } = refusal.body
      const solution = challenge && (await solved(challenge))
      if (!solution) throw refusal
      headers = { "x-challenge-solution": solution }
    } else {
      reached?.(false)
      await pause(seconds, signal, asked)
    }
  }
}

/** True for an answer that becomes another one soon. */
const isToBeRepeated = (status: number, asked: number): boolean =>
  status === 423 ? asked <= 2 : (status === 429 || status >= 500) && asked <= retryAfterSecondsMax

/** The solver is loaded when it is needed, which is rare. */
const solved = async (challenge: unknown) => (await import("./challenge.ts")).solve(JSON.stringify(challenge))
