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

/**
 * Sends a request again and again while Usher is out of reach or busy, and solves each challenge. `fetching` sends it
 * once, with more headers.
 */
export async function send<A>(
  fetching: (headers: { readonly [name: string]: string }) => Promise<Response>,
  options: Options = {}
): Promise<A> {
  for (let headers = {}; ;) {
    const reply = await answerTo(() => fetching(headers), options)
    const body = (await reply.json().catch(() => ({}))) as UsherError["body"]
    options.reached?.(true)
    if (reply.ok) return body as A
    const refusal = new UsherError(reply.status, body, askedSeconds(reply))
    const { challenge } = body
    // The solver is loaded when it is needed, which is rare.
    const solution = challenge && (await (await import("./challenge.ts")).solve(JSON.stringify(challenge)))
    if (!solution) throw refusal
    headers = { "x-challenge-solution": solution }
  }
}

/** Returns the first answer that will not become another one soon. */
export async function answerTo(fetching: () => Promise<Response>, { signal, reached }: Options): Promise<Response> {
  for (let seconds = 1; ; seconds = Math.min(pauseSecondsMax, seconds * 2)) {
    signal?.throwIfAborted()
    const reply = await fetching().catch(() => undefined)
    const asked = askedSeconds(reply)
    if (reply && !isToBeRepeated(reply.status, asked)) return reply
    reached?.(false)
    await pause(seconds, signal, asked)
  }
}

/** A wait that is longer than a pause is the caller's decision. */
const isToBeRepeated = (status: number, asked: number): boolean =>
  status === 423 ? asked > 0 && asked <= 2 : (status === 429 || status >= 500) && asked <= pauseSecondsMax
