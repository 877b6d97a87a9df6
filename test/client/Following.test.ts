/** How a page follows its place, and repeats its requests, while streams and answers fail. Time is the test's. */
import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { follow, Refusal } from "../../src/client/follow.ts"
import { send } from "../../src/client/requests.ts"

interface Attempt {
  readonly kind: "stream" | "question" | "request"
  readonly atMillis: number
}

type Answer = (signal: AbortSignal) => Promise<Response> | Response

/** A stream that sends these texts, and then nothing. */
const silent =
  (...texts: ReadonlyArray<string>): Answer =>
  (signal) =>
    new Response(
      new ReadableStream<Uint8Array>({
        start: (controller) => {
          for (const text of texts) controller.enqueue(new TextEncoder().encode(text))
          signal.addEventListener("abort", () => controller.error(signal.reason))
        }
      })
    )

const refused =
  (retryAfterSeconds?: number): Answer =>
  () =>
    new Response("", {
      status: 503,
      headers: retryAfterSeconds === undefined ? {} : { "retry-after": `${retryAfterSeconds}` }
    })

const cut: Answer = () => Promise.reject(new TypeError("Failed to fetch"))

/** Lets time pass until there are so many attempts. */
const until = async (attempts: ReadonlyArray<Attempt>, count: number) => {
  while (attempts.length < count) await vi.advanceTimersToNextTimerAsync()
}

/** Seconds between one attempt and the next. */
const pauses = (attempts: ReadonlyArray<Attempt>): ReadonlyArray<number> =>
  attempts.slice(1).map(({ atMillis }, index) => (atMillis - attempts[index]!.atMillis) / 1_000)

const stops: Array<() => void> = []
let places = 0

/** Follows a place whose streams and questions have these answers. */
const following = (stream: Answer, question: Answer) => {
  const attempts: Array<Attempt> = []
  const heard: Array<unknown> = []
  const asked = (kind: Attempt["kind"]) => attempts.push({ kind, atMillis: Date.now() })
  const stop = follow<unknown>(
    {
      name: `place ${++places}`,
      open: async (signal) => {
        asked("stream")
        return stream(signal)
      },
      ask: async (signal) => {
        asked("question")
        const reply = await question(signal)
        if (!reply.ok) throw new Refusal(reply)
        return reply.json()
      }
    },
    {
      onState: (state) => heard.push(state),
      onEnd: (reason) => heard.push(`ended ${reason}`),
      onFailure: () => heard.push("failed")
    }
  )
  stops.push(stop)
  return { attempts, heard, kinds: () => attempts.map(({ kind }) => kind).join(" ") }
}

const event = `data: {"status":"QUEUED"}\n\n`
const known: Answer = () => Response.json({ status: "QUEUED" })

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date"] })
  vi.spyOn(Math, "random").mockReturnValue(0.5)
})
afterEach(() => {
  for (const stop of stops.splice(0)) stop()
  vi.restoreAllMocks()
  vi.useRealTimers()
})

describe("a page that follows its place", () => {
  it("gives up a stream that is silent for 40 seconds, from its request on and from its last byte on", async () => {
    for (const answer of [silent(), silent(event), silent(event, ": still here\n\n")]) {
      const { attempts, kinds } = following(answer, known)
      await until(attempts, 2)
      assert.deepStrictEqual([kinds(), pauses(attempts)], ["stream stream", [41]])
    }
  })

  it("keeps a stream on which the server says every 15 seconds that it is there", async () => {
    const { attempts, heard } = following(
      (signal) =>
        new Response(
          new ReadableStream<Uint8Array>({
            start: (controller) => {
              const say = () => {
                if (signal.aborted) return
                controller.enqueue(new TextEncoder().encode(": still here\n\n"))
                setTimeout(say, 15_000)
              }
              say()
            }
          })
        ),
      known
    )
    await until(attempts, 1)
    await vi.advanceTimersByTimeAsync(3_600_000)
    assert.deepStrictEqual([attempts.length, heard], [1, []])
  })

  it("asks for its state after three failed streams, then streams again, and asks after each that fails", async () => {
    const { attempts, heard, kinds } = following(cut, known)
    await until(attempts, 7)
    assert.strictEqual(kinds(), "stream stream stream question stream question stream")
    // The visitor reads that the connection is interrupted until the state is known.
    assert.deepStrictEqual(heard.slice(0, 3), ["failed", { status: "QUEUED" }, { status: "QUEUED" }])
    assert.deepStrictEqual(pauses(attempts), [1, 2, 4, 0, 4, 0])
  })

  it("asks for ever while nothing answers: soon for a minute, then up to 60 seconds apart", async () => {
    const { attempts, heard, kinds } = following(cut, cut)
    await until(attempts, 30)
    assert.match(kinds(), /^stream stream stream( question){27}$/)
    const soon = [1, 2, ...Array<number>(13).fill(4)]
    assert.deepStrictEqual(pauses(attempts), [...soon, 8, 16, 32, ...Array<number>(11).fill(60)])
    assert.isTrue(heard.every((what) => what === "failed"))
  })

  it("waits a quarter less or more, so that not all come back at once", async () => {
    for (const [chance, share] of [
      [0, 0.75],
      [1, 1.25]
    ] as const) {
      vi.spyOn(Math, "random").mockReturnValue(chance)
      const { attempts } = following(cut, cut)
      await until(attempts, 20)
      assert.deepStrictEqual(
        [pauses(attempts)[0], pauses(attempts)[2], pauses(attempts)[18]],
        [share, 4 * share, 60 * share]
      )
    }
  })

  it("never asks before the time that a refusal names", async () => {
    for (const [chance, seconds] of [
      [0, 30],
      [1, 45]
    ] as const) {
      vi.spyOn(Math, "random").mockReturnValue(chance)
      const { attempts } = following(refused(30), refused(30))
      await until(attempts, 6)
      assert.deepStrictEqual(pauses(attempts), Array<number>(5).fill(seconds))
    }
  })
})

describe("a request of a client", () => {
  /** Sends a request until it is answered, and returns its attempts. */
  const sent = async (...answers: ReadonlyArray<Answer>) => {
    const attempts: Array<Attempt> = []
    const reached: Array<boolean> = []
    const answer = send(
      async () => {
        attempts.push({ kind: "request", atMillis: Date.now() })
        return answers[attempts.length - 1]!(new AbortController().signal)
      },
      { reached: (isReached) => reached.push(isReached) }
    )
    await until(attempts, answers.length)
    return { attempts, reached, answer: await answer }
  }

  it("is repeated for ever, 1 second later at first and 60 in the end", async () => {
    const { attempts, reached, answer } = await sent(...Array<Answer>(10).fill(cut), known)
    assert.deepStrictEqual(answer, { status: "QUEUED" })
    assert.deepStrictEqual(pauses(attempts), [1, 2, 4, 8, 16, 32, 60, 60, 60, 60])
    assert.deepStrictEqual(reached, [...Array<boolean>(10).fill(false), true])
  })

  it("is not repeated before the time that a refusal names", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0)
    assert.deepStrictEqual(pauses((await sent(refused(30), refused(), known)).attempts), [30, 1.5])
  })
})
