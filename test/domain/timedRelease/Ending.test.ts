import { assert, describe, it } from "@effect/vitest"
import { decider } from "../../../src/domain/timedRelease/TimedRelease.ts"
import { assertRefused } from "../mechanism/support/History.ts"
import {
  archive,
  archived,
  at,
  closed,
  complete,
  completed,
  configuration,
  configure,
  end,
  ended,
  entered,
  expired,
  given,
  leave,
  tornDown
} from "./history.ts"

const lifecycle = (release: ReturnType<typeof given>, seconds: number) => decider.lifecycle(release.state, at(seconds))

describe("the end of a timed release", () => {
  it("comes at its time, and its work is over when every grant has ended", () => {
    const release = given({ openAt: at(1), closeAt: at(10), admissionExpirationSeconds: 60 }, [entered(5, "ada")])
    assert.strictEqual(lifecycle(release, 0), "scheduled")
    assert.strictEqual(lifecycle(release, 9), "open")
    assert.deepStrictEqual(release.until(64), [closed(10)])
    assert.strictEqual(lifecycle(release, 64), "settling")
    assert.strictEqual(release.status(64, "ada"), "ENTERED")
    assert.deepStrictEqual(release.until(65), [expired(65, "ada"), tornDown(65)])
    assert.strictEqual(lifecycle(release, 65), "closed")
    assert.isUndefined(decider.wakeAt(release.state))
  })

  it("comes at once with nothing outstanding", () => {
    assert.deepStrictEqual(given({ closeAt: at(10) }).noticed(20), [closed(10), tornDown(10)])
  })

  it("can be set by an admin, once; grants stay valid until they expire", () => {
    const release = given({ admissionExpirationSeconds: 60 }, [entered(5, "ada")])
    assert.deepStrictEqual(release.when(6, end), [ended(6)])
    assert.deepStrictEqual(release.when(7, end), [])
    assert.deepInclude(decider.statusFields(release.state), {
      statusOverride: "ended",
      statusOverrideAt: at(6),
      statusOverrideBy: "admin",
      teardownStatus: "pending"
    })
    assert.deepStrictEqual(release.until(100), [expired(65, "ada"), tornDown(65)])
    assert.strictEqual(decider.statusFields(release.state).teardownStatus, "completed")
  })

  it("waits for grants that do not expire until they are used or given up", () => {
    const release = given({}, [entered(5, "ada"), entered(5, "bob")])
    release.when(6, end)
    release.when(7, complete("ada"))
    assert.deepStrictEqual(release.until(1_000), [])
    release.when(1_000, leave("bob"))
    assert.deepStrictEqual(release.until(1_000), [tornDown(1_000)])
  })

  it("comes with archiving, if it has not come yet", () => {
    const release = given()
    assert.deepStrictEqual(release.when(1, archive), [ended(1), archived(1)])
    assert.deepStrictEqual(release.when(2, archive), [])
    const over = given({ closeAt: at(1) })
    assert.deepStrictEqual(over.when(2, archive), [archived(2)])
    assert.isTrue(decider.statusFields(over.state).archived)
  })

  it("is effective from the closing on, even before an actor notices the closing", () => {
    const release = given({ closeAt: at(10) })
    assert.deepStrictEqual(release.unnoticed(10, end), [])
    assertRefused(release.unnoticed(10, configure({ name: "Late" })), "Closed")
  })
})

describe("the settings of a timed release", () => {
  it("are recorded when they change, and only then", () => {
    const release = given({ capacity: 5, variantIds: ["red"] })
    assert.deepStrictEqual(release.when(1, configure({ capacity: 5, variantIds: ["red"] })), [])
    assert.deepStrictEqual(release.when(2, configure({ capacity: 6 })), [
      { _tag: "Configured", at: at(2), configuration: configuration({ capacity: 6 }), by: "admin" }
    ])
    assert.deepStrictEqual(decider.configurationOf(release.state), configuration({ capacity: 6 }))
  })

  it("cannot change after the closing", () => {
    assertRefused(given({ closeAt: at(10) }).when(11, configure({ closeAt: at(20) })), "Closed")
  })

  it("fix the opening once it has passed", () => {
    const release = given({ openAt: at(10) })
    assert.isArray(release.when(9, configure({ openAt: at(20) })))
    assertRefused(release.when(20, configure({ openAt: at(30) })), "ConfigurationFixed", { setting: "openAt" })
    assertRefused(release.when(20, configure({})), "ConfigurationFixed", { setting: "openAt" })
    assertRefused(given().when(1, configure({ openAt: at(30) })), "ConfigurationFixed", { setting: "openAt" })
  })

  it("apply a new expiry to later entries only", () => {
    const release = given({ admissionExpirationSeconds: 60 }, [entered(1, "ada")])
    release.when(2, configure({ admissionExpirationSeconds: 5 }))
    release.apply(entered(3, "bob"))
    assert.deepStrictEqual(release.until(100), [expired(8, "bob"), expired(61, "ada")])
    release.when(101, configure({}))
    release.apply(entered(102, "eve"))
    assert.deepStrictEqual(release.until(1_000_000), [])
  })

  it("can move the closing until it has come", () => {
    const release = given({ closeAt: at(10) }, [entered(1, "ada"), completed(2, "ada")])
    release.when(9, configure({ closeAt: at(20) }))
    assert.deepStrictEqual(release.until(30), [closed(20), tornDown(20)])
  })
})
