import { assert, describe, it } from "@effect/vitest"
import { decider } from "../../../src/domain/queue/Queue.ts"
import { assertRefused } from "../mechanism/support/History.ts"
import {
  admitted,
  archive,
  archived,
  at,
  closed,
  complete,
  configure,
  deniedAsClosed,
  end,
  ended,
  enter,
  entered,
  expired,
  given,
  leave,
  tornDown
} from "./history.ts"

const lifecycle = (queue: ReturnType<typeof given>, seconds: number) => decider.lifecycle(queue.state, at(seconds))

describe("ending a queue", () => {
  it("closes it at once and names the admin", () => {
    const queue = given({}, [entered(1, "ada")])
    assert.deepStrictEqual(queue.when(2, end), [ended(2)])
    assertRefused(queue.when(2, enter("bob")), "Closed")
    assert.deepStrictEqual(queue.view(2, "ada"), {
      status: "DENIED",
      enteredAt: at(1),
      reason: "QUEUE_CLOSED",
      deniedAt: at(2)
    })
    assert.deepInclude(decider.statusFields(queue.state), {
      statusOverride: "ended",
      statusOverrideAt: at(2),
      statusOverrideBy: "admin"
    })
  })

  it("denies the waiting consumers one by one, from the head", () => {
    const queue = given({}, [entered(1, "ada"), entered(2, "bob")])
    queue.when(3, end)
    assert.deepStrictEqual(queue.until(3), [deniedAsClosed(3, "ada"), deniedAsClosed(3, "bob"), tornDown(3)])
  })

  it("admits no more consumers, not even for an unnoticed admission that was due before", () => {
    const queue = given({ admitRate: 60 }, [entered(1, "ada"), ended(1.1)])
    assert.deepStrictEqual(queue.noticed(1.1), [deniedAsClosed(1.1, "ada"), tornDown(1.1)])
  })

  it("shows a place as denied before its denial is recorded, and refuses to let its consumer leave", () => {
    const queue = given({}, [entered(1, "ada"), ended(2)])
    assert.strictEqual(queue.status(2, "ada"), "DENIED")
    assertRefused(queue.unnoticed(2, leave("ada")), "WrongStatus", { status: "DENIED" })
    assert.deepStrictEqual(queue.unnoticed(2, enter("ada")), [])
  })

  it("keeps grants valid until they are completed or expire, and then tears the queue down", () => {
    const queue = given({ admissionExpirationSeconds: 10 }, [
      entered(1, "ada"),
      entered(1, "bob"),
      admitted(2, "ada"),
      admitted(3, "bob")
    ])
    queue.when(4, end)
    assert.strictEqual(decider.statusFields(queue.state).teardownStatus, "pending")
    queue.when(5, complete("ada"))
    assert.deepStrictEqual(queue.until(12.999), [])
    assert.strictEqual(lifecycle(queue, 12), "settling")
    assert.deepStrictEqual(queue.until(13), [expired(13, "bob"), tornDown(13)])
    assert.strictEqual(decider.statusFields(queue.state).teardownStatus, "completed")
    assert.strictEqual(lifecycle(queue, 13), "closed")
    assert.isUndefined(decider.wakeAt(queue.state))
  })

  it("waits without limit for a grant that does not expire", () => {
    const queue = given({}, [entered(1, "ada"), admitted(2, "ada")])
    queue.when(3, end)
    assert.deepStrictEqual(queue.until(1_000_000), [])
    assert.strictEqual(lifecycle(queue, 1_000_000), "settling")
    queue.when(1_000_001, complete("ada"))
    assert.deepStrictEqual(queue.until(1_000_001), [tornDown(1_000_001)])
  })

  it("twice has the same effect as once", () => {
    const queue = given({}, [ended(1)])
    assert.deepStrictEqual(queue.when(2, end), [])
    assert.deepInclude(decider.statusFields(queue.state), { statusOverrideAt: at(1) })
  })

  it("of an empty queue tears it down at the same instant", () => {
    const queue = given()
    queue.when(5, end)
    assert.deepStrictEqual(queue.until(100), [tornDown(5)])
  })
})

describe("closeAt", () => {
  it("closes without an override, denies the waiting and tears down", () => {
    const queue = given({ closeAt: at(10) }, [entered(1, "ada")])
    assert.strictEqual(decider.wakeAt(queue.state), at(10))
    assert.strictEqual(lifecycle(queue, 10), "settling")
    assert.deepStrictEqual(queue.until(99), [closed(10), deniedAsClosed(10, "ada"), tornDown(10)])
    assert.deepStrictEqual(decider.statusFields(queue.state), {
      statusOverride: null,
      statusOverrideAt: null,
      statusOverrideBy: null,
      teardownStatus: "completed",
      archived: false
    })
  })

  it("comes before an admission due at the same instant", () => {
    const queue = given({ closeAt: at(10), admitRate: 6 }, [entered(0, "ada"), entered(0, "bob")])
    queue.until(0)
    assert.deepStrictEqual(queue.until(10), [closed(10), deniedAsClosed(10, "bob")])
  })

  it("makes ending change nothing once it has passed", () => {
    assert.deepStrictEqual(given({ closeAt: at(10) }).unnoticed(11, end), [])
  })
})

describe("archiving", () => {
  it("ends an open queue and archives it", () => {
    const queue = given()
    assert.deepStrictEqual(queue.when(1, archive), [ended(1), archived(1)])
    assert.deepInclude(decider.statusFields(queue.state), { archived: true, statusOverride: "ended" })
  })

  it("archives a closed queue without an override", () => {
    const queue = given({ closeAt: at(10) })
    assert.deepStrictEqual(queue.when(11, archive), [archived(11)])
    assert.deepInclude(decider.statusFields(queue.state), { archived: true, statusOverride: null })
  })

  it("twice has the same effect as once", () => {
    assert.deepStrictEqual(given({}, [ended(1), archived(1)]).when(2, archive), [])
  })
})

describe("the lifecycle", () => {
  it("is scheduled until openAt, lobby included, then open", () => {
    const queue = given({ openAt: at(60), lobbyOpenAt: at(30) })
    assert.deepStrictEqual(
      [lifecycle(queue, 0), lifecycle(queue, 45), lifecycle(queue, 60)],
      ["scheduled", "scheduled", "open"]
    )
  })

  it("is open from the start without an openAt", () => {
    assert.strictEqual(lifecycle(given(), 0), "open")
  })
})

describe("configuring", () => {
  it("creates the queue at first", () => {
    const queue = given({ admitRate: 9 })
    assert.strictEqual(decider.configurationOf(queue.state).admitRate, 9)
    assert.deepStrictEqual(queue.events[0], {
      _tag: "Configured",
      at: at(0),
      configuration: decider.configurationOf(queue.state),
      by: "admin"
    })
  })

  it("with the same settings changes nothing", () => {
    assert.deepStrictEqual(given({ admitRate: 9 }).when(1, configure({ admitRate: 9 })), [])
  })

  it("is refused once the queue is closed", () => {
    assertRefused(given({}, [ended(1)]).when(2, configure({ admitRate: 9 })), "Closed")
    assertRefused(given({ closeAt: at(2) }).unnoticed(2, configure({ admitRate: 9 })), "Closed")
  })

  it("may move the opening until it has happened", () => {
    const queue = given({ openAt: at(60) })
    queue.when(1, configure({ openAt: at(30) }))
    assert.strictEqual(decider.configurationOf(queue.state).openAt, at(30))
    assertRefused(queue.when(30, configure({ openAt: at(90) })), "ConfigurationFixed", { setting: "openAt" })
    assertRefused(queue.when(30, configure({})), "ConfigurationFixed", { setting: "openAt" })
    assertRefused(given().when(0, configure({ openAt: at(90) })), "ConfigurationFixed", { setting: "openAt" })
  })

  it("may not move the lobby or the opening once a consumer is in the lobby", () => {
    const settings = { openAt: at(60), lobbyOpenAt: at(10) }
    const queue = given(settings, [entered(10, "ada")])
    assertRefused(queue.when(20, configure({ openAt: at(60) })), "ConfigurationFixed", { setting: "lobbyOpenAt" })
    assertRefused(queue.when(20, configure({ ...settings, openAt: at(90) })), "ConfigurationFixed", {
      setting: "openAt"
    })
  })

  it("may move the closing, and a closing in the past closes at once", () => {
    const queue = given({ closeAt: at(100) }, [entered(1, "ada")])
    queue.when(50, configure({ closeAt: at(40) }))
    assert.deepStrictEqual(queue.until(50), [closed(50), deniedAsClosed(50, "ada"), tornDown(50)])
  })
})
