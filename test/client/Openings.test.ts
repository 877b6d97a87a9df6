/** How clients ask for an opening: all of them see it at once, and each asks at a moment of its own. */
import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { Usher } from "../../src/client/client.ts"

const id = "0192f0c1-7e57-7000-8000-000000000000"

/** A client of an experience whose queue opens after this time: when it asks after the opening, and what it shows. */
const waiting = async ({ chance = 0, untilMillis = 10_000, cachedMillis = 0 }) => {
  vi.spyOn(Math, "random").mockReturnValue(chance)
  const opening = Date.now() + untilMillis
  const asked: Array<number> = []
  vi.stubGlobal("fetch", async (url: string) => {
    const afterMillis = Date.now() - opening
    if (afterMillis >= 0) asked.push(afterMillis)
    const isOpen = afterMillis >= cachedMillis
    const times = { openAt: new Date(opening).toISOString(), closeAt: null }
    const lifecycle = isOpen ? "open" : "scheduled"
    const queue = { id, kind: "queue", name: "Front door", supportsGuest: true, lifecycle, ...times }
    const none = { draws: [], auctions: [], appointments: [], timedReleases: [], waitlist: null }
    return Response.json(
      url.endsWith("/live")
        ? { now: new Date().toISOString(), mechanisms: [queue] }
        : { sequences: [{ name: "Everyone", queues: [queue], ...none }] }
    )
  })
  const usher = new Usher({ url: "https://usher.example.com", publishableKey: "pk_live_1" })
  const store = usher.experience(id)
  const states: Array<string> = []
  const stop = store.subscribe(() => states.push(store.getSnapshot().state))
  await vi.advanceTimersByTimeAsync(untilMillis + 5_000)
  stop()
  return { asked, states: [...new Set(states)] }
}

beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] }))
afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

describe("clients at an opening", () => {
  it("ask over two seconds, when caches are a second old", async () => {
    for (const [chance, firstMillis] of [
      [0, 1_100],
      [0.5, 2_100],
      [1, 3_100]
    ] as const) {
      const { asked, states } = await waiting({ chance })
      assert.strictEqual(asked[0], firstMillis)
      assert.deepStrictEqual(states, ["scheduled", "enterable"])
    }
  })

  it("ask again if they were told of the time before by a cache", async () => {
    const { asked, states } = await waiting({ untilMillis: 19_500, cachedMillis: 1_000 })
    assert.deepStrictEqual([...new Set(asked)], [600, 1_100])
    assert.deepStrictEqual(states, ["scheduled", "enterable"])
  })
})
