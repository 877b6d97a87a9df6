/** When a gate takes Usher for out of reach, on the clock of the test and with an Usher of the test. */
import { assert, describe, it } from "@effect/vitest"
import { CallLate, makeCalls } from "../../src/client/gateCalls.ts"

const patienceMillis = 900

type Reply = "answer" | "refusal" | "error" | "break" | "late" | "stalled"

/** How long each reply takes. A stalled one ends later than its patience: this process had no processor. */
const millis: { readonly [R in Reply]: number } = {
  answer: 10,
  refusal: 10,
  error: 10,
  break: 10,
  late: patienceMillis,
  stalled: 3 * patienceMillis
}

/** Calls to an Usher that replies as listed, in turn, and then answers. `meanwhile` runs during the first reply. */
const anUsher = (...replies: ReadonlyArray<Reply>) => {
  const state = { clock: 0, sent: [] as Array<string | null>, meanwhile: async () => {} }
  const left = [...replies]
  const send = async (_url: string, init: RequestInit) => {
    state.sent.push(new Headers(init.headers).get("idempotency-key"))
    const reply = left.shift() ?? "answer"
    const { meanwhile } = state
    state.meanwhile = async () => {}
    await meanwhile()
    state.clock += millis[reply]
    if (reply === "break") throw new TypeError("fetch failed")
    if (reply === "late" || reply === "stalled") throw new DOMException("no answer", "TimeoutError")
    const status = { answer: 200, refusal: 403, error: 503 }[reply]
    return Response.json({ status: "QUEUED", roomUrl: "https://usher.example/e/drop" }, { status })
  }
  const address = { url: "https://usher.example", gateId: "gate-1", key: "gk_live_1" }
  const calls = makeCalls({ ...address, patienceMillis, fetch: send, now: () => state.clock })
  const pass = (visitor = "visitor-1", address?: string) => calls.pass("queue-1", visitor, address)
  return { calls, state, pass }
}

/** What a call gives, or the name of its error. */
const given = (call: Promise<unknown>) =>
  call.then(
    (answer) => (answer as { readonly status?: string }).status,
    (error: unknown) => (error instanceof CallLate ? "late" : "away")
  )

describe("a call of a gate", () => {
  it.each(["break", "error"] as const)("is made again under the same name after one %s", async (reply) => {
    const { pass, state } = anUsher(reply)
    assert.strictEqual((await pass()).status, "QUEUED")
    assert.deepStrictEqual(state.sent, ["visitor-1", "visitor-1"])
  })

  it.each([["break", "break"], ["error", "error"], ["late"]] as const)(
    "without an answer means that Usher is away if it answers nothing else: %s",
    async (...replies) => {
      const { pass, state } = anUsher(...replies)
      assert.strictEqual(await given(pass()), "away")
      assert.isAtMost(state.clock, 1_000)
    }
  )

  it.each(["break", "error", "late"] as const)("is made again while Usher answers others: %s", async (reply) => {
    for (const other of ["answer", "refusal"] as const) {
      const { calls, pass, state } = anUsher(reply, other)
      state.meanwhile = () => calls.keys().then(assert.ok, assert.ok)
      assert.strictEqual((await pass()).status, "QUEUED")
      assert.deepStrictEqual(state.sent, ["visitor-1", null, "visitor-1"])
    }
  })

  it("leads its visitor to the room where Usher never answers about this one, but others", async () => {
    const replies = Array.from({ length: 5 }, () => ["late", "answer"] as const).flat()
    const { calls, pass, state } = anUsher(...replies)
    const again = async () => {
      await calls.keys()
      state.meanwhile = again
    }
    state.meanwhile = again
    assert.strictEqual((await pass()).status, "ROOM")
    assert.strictEqual(state.sent.filter((one) => one === "visitor-1").length, 5)
  })

  it("gives a place that nobody knows of to the next visitor from the same address, while Usher remembers it", async () => {
    const { pass, state } = anUsher("late", "late", "late")
    for (const visitor of ["one", "two"]) assert.strictEqual(await given(pass(visitor, "203.0.113.7")), "away")
    assert.strictEqual(await given(pass("three", "203.0.113.8")), "away")
    await pass("four", "203.0.113.7")
    await pass("five", "203.0.113.7")
    state.clock += 45_000
    await pass("six", "203.0.113.8")
    assert.deepStrictEqual(state.sent, ["one", "one", "three", "one", "five", "six"])
  })

  it("says nothing about Usher while this process had no processor", async () => {
    const { pass, state } = anUsher("stalled")
    assert.strictEqual((await pass()).status, "QUEUED")
    assert.lengthOf(state.sent, 2)
    assert.strictEqual(await given(anUsher("stalled", "stalled").calls.keys()), "late")
  })
})
