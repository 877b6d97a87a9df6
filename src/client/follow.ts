/**
 * Follows one place of a consumer: by a stream in one tab of the browser, which tells the others, and by asking while
 * streams fail. Rooms and the client use it.
 */

import { ifAllowed } from "./storage.ts"

/** Where a place is read. */
export interface Source<State> {
  /** Names the place among the tabs of the browser. */
  readonly name: string
  /** Requests the stream. */
  open(signal: AbortSignal): Promise<Response>
  /** Asks for the place once; undefined if it is gone. */
  ask(signal: AbortSignal): Promise<State | undefined>
}

export interface Listener<State> {
  onState(state: State): void
  /** No further event will come: the place has closed, or the credentials have ended, or there is no place. */
  onEnd(reason?: string): void
  onFailure(): void
}

/** Milliseconds without a byte after which a stream is given up. The server sends a comment every 15 seconds. */
const silentMillisMax = 40_000

/** Failed streams after which the place is asked for. From then on it is asked for after each, until one has an event. */
const failuresMax = 3

const pollSecondsMin = 4

/** The longest pause between two attempts. */
export const pauseSecondsMax = 60

/** Failures after which the pauses grow: a restart takes less than a minute, and its visitors see their place at once. */
const soonMax = 15

/** An answer other than the requested one. */
export class Refusal extends Error {
  declare readonly retryAfterSeconds: number
  constructor(reply: Response) {
    super()
    this.retryAfterSeconds = askedSeconds(reply)
  }
}

/** The seconds for which Usher asks to wait; 0 if it does not. */
export const askedSeconds = (reply: Response | undefined): number => Number(reply?.headers.get("retry-after")) || 0

/** Follows the place. Returns the function that stops. */
export function follow<State>(source: Source<State>, listener: Listener<State>): () => void {
  const stop = new AbortController()
  const { signal } = stop
  const channel = ifAllowed(() => new BroadcastChannel(source.name))
  channel?.addEventListener("message", ({ data }: MessageEvent<State>) => listener.onState(data))
  const onState = (state: State) => {
    channel?.postMessage(state)
    listener.onState(state)
  }
  const lead = () => run(source, { ...listener, onState }, signal)
  // The lock is held by one tab. It goes to another when that one closes or is hidden.
  if (channel) alone(source.name, lead, signal).catch(() => {})
  else void lead()
  return () => {
    stop.abort()
    channel?.close()
  }
}

/** Runs alone in all tabs of the browser. Where it has no locks, or denies them, it runs at once. */
export async function alone<A>(name: string, run: () => Promise<A>, signal?: AbortSignal): Promise<A> {
  let isMine = false
  const mine = () => {
    isMine = true
    return run()
  }
  try {
    return (await navigator.locks.request(name, { signal } as LockOptions, mine)) as A
  } catch (error) {
    if (isMine || signal?.aborted) throw error
    return run()
  }
}

async function run<State>(source: Source<State>, listener: Listener<State>, signal: AbortSignal): Promise<void> {
  let isReplaced = false
  for (let failures = 0; !signal.aborted;) {
    try {
      if (failures < failuresMax && !isReplaced) {
        const reason = await stream(source, signal, (state) => {
          failures = 0
          listener.onState(state)
        })
        if (signal.aborted) return
        // Too many streams are open for this visitor: another one would end one of them.
        isReplaced = reason === "REPLACED"
        if (reason && !isReplaced) return listener.onEnd(reason)
        failures += 1
        await pause(1, signal)
      } else {
        const state = await source.ask(signal)
        if (signal.aborted) return
        if (!state) return listener.onEnd()
        listener.onState(state)
        failures = failuresMax - 1
        if (isReplaced) await pause(pollSecondsMin, signal)
      }
    } catch (error) {
      if (signal.aborted) return
      failures += 1
      // Where only streams fail, the state is known.
      if (failures === 2 || failures > failuresMax) listener.onFailure()
      const asked = (error as Partial<Refusal>).retryAfterSeconds
      const later = pollSecondsMin * 2 ** Math.max(0, failures - soonMax)
      await pause(Math.min(pauseSecondsMax, later, 2 ** (failures - 1)), signal, asked)
    }
  }
}

/** Reads the stream until it ends. Returns the reason if no further event will come. */
async function stream<State>(
  source: Source<State>,
  signal: AbortSignal,
  onState: (state: State) => void
): Promise<string | undefined> {
  const cut = new AbortController()
  const onAbort = () => cut.abort()
  signal.addEventListener("abort", onAbort, { signal: cut.signal })
  let timer = setTimeout(onAbort, silentMillisMax)
  try {
    const reply = await source.open(cut.signal)
    if (!reply.ok || !reply.body) throw new Refusal(reply)
    const reader = reply.body.getReader()
    const decoder = new TextDecoder()
    for (let text = ""; ;) {
      const { done, value } = await reader.read()
      if (done) return undefined
      clearTimeout(timer)
      timer = setTimeout(onAbort, silentMillisMax)
      text += decoder.decode(value, { stream: true })
      const events = text.split("\n\n")
      text = events.pop()!
      for (const event of events) {
        const data = /^data: (.*)$/m.exec(event)?.[1]
        if (!data || signal.aborted) continue
        if (/^event: end$/m.test(event)) return (JSON.parse(data) as { readonly reason: string }).reason
        onState(JSON.parse(data) as State)
      }
    }
  } finally {
    clearTimeout(timer)
    onAbort()
  }
}

/**
 * Waits a quarter less or more than these seconds, or until the signal. If Usher has asked for a time, waits that long,
 * or up to half of it longer.
 */
export const pause = (seconds: number, signal?: AbortSignal, asked = 0): Promise<void> =>
  new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer)
      signal?.removeEventListener("abort", done)
      resolve()
    }
    const share = (asked ? 1 : 0.75) + Math.random() / 2
    const timer = setTimeout(done, (asked || seconds) * 1000 * share)
    if (signal?.aborted) done()
    signal?.addEventListener("abort", done)
  })
