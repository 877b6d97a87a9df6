import { assert, describe, it } from "@effect/vitest"
import * as Lifecycle from "../../../src/domain/mechanism/Lifecycle.ts"

const after = (...events: ReadonlyArray<Lifecycle.LifecycleEvent>): Lifecycle.LifecycleState => {
  const life = Lifecycle.newLifecycle()
  for (const event of events) Lifecycle.evolveLifecycle(life, event)
  return life
}

const window = { openAt: 100, closeAt: 200 }

describe("A mechanism's lifecycle", () => {
  it("is scheduled before its window, open in it, settling after it, and closed when it is torn down", () => {
    assert.strictEqual(Lifecycle.lifecycle(after(), window, 99), "scheduled")
    assert.strictEqual(Lifecycle.lifecycle(after(), window, 100), "open")
    assert.strictEqual(Lifecycle.lifecycle(after(), window, 199), "open")
    assert.strictEqual(Lifecycle.lifecycle(after(), window, 200), "settling")
    const closed: Lifecycle.LifecycleEvent = { _tag: "Closed", at: 200 }
    assert.strictEqual(Lifecycle.lifecycle(after(closed), window, 200), "settling")
    assert.strictEqual(Lifecycle.lifecycle(after(closed, { _tag: "TornDown", at: 210 }), window, 210), "closed")
  })

  it("is open at once without openAt, and until it is ended without closeAt", () => {
    assert.strictEqual(Lifecycle.lifecycle(after(), {}, 0), "open")
    assert.strictEqual(Lifecycle.lifecycle(after(), {}, Number.MAX_SAFE_INTEGER), "open")
    assert.strictEqual(Lifecycle.lifecycle(after({ _tag: "Ended", at: 5, by: "admin" }), {}, 5), "settling")
  })

  it("closes at its time, or when an admin ends it before; later events do not move the closing", () => {
    assert.strictEqual(Lifecycle.closedAsOf(after(), 200, 199), Infinity)
    assert.strictEqual(Lifecycle.closedAsOf(after(), 200, 250), 200)
    assert.strictEqual(Lifecycle.closedAsOf(after(), undefined, 250), Infinity)
    const ended = after({ _tag: "Ended", at: 150, by: "admin" }, { _tag: "Closed", at: 200 })
    assert.strictEqual(Lifecycle.closedAsOf(ended, 200, 250), 150)
  })

  it("shows in its status fields its author, its time, and whether its work is over", () => {
    const nothing = { statusOverride: null, statusOverrideAt: null, statusOverrideBy: null, teardownStatus: null }
    assert.deepStrictEqual(Lifecycle.statusFields(after()), { ...nothing, archived: false })
    assert.deepStrictEqual(Lifecycle.statusFields(after({ _tag: "Ended", at: 150, by: "admin" })), {
      statusOverride: "ended",
      statusOverrideAt: 150,
      statusOverrideBy: "admin",
      teardownStatus: "pending",
      archived: false
    })
    const over = after({ _tag: "Closed", at: 200 }, { _tag: "TornDown", at: 200 })
    assert.deepStrictEqual(Lifecycle.statusFields(over), { ...nothing, teardownStatus: "completed", archived: false })
  })

  it("is ended once, and archived once; archiving ends a mechanism that is still open", () => {
    assert.deepStrictEqual(Lifecycle.end(false, "admin", 5), [{ _tag: "Ended", at: 5, by: "admin" }])
    assert.deepStrictEqual(Lifecycle.end(true, "admin", 5), [])
    assert.deepStrictEqual(
      Lifecycle.archive(after(), false, "admin", 5).map(({ _tag }) => _tag),
      ["Ended", "Archived"]
    )
    assert.deepStrictEqual(
      Lifecycle.archive(after(), true, "admin", 5).map(({ _tag }) => _tag),
      ["Archived"]
    )
    assert.deepStrictEqual(Lifecycle.archive(after({ _tag: "Archived", at: 1, by: "admin" }), true, "admin", 5), [])
  })
})
