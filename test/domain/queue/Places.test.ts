import { assert, describe, it } from "@effect/vitest"
import { decider } from "../../../src/domain/queue/Queue.ts"
import { accepted, assertRefused } from "../mechanism/support/History.ts"
import {
  admit,
  admitted,
  at,
  byAdmin,
  closed,
  complete,
  completed,
  denied,
  deny,
  end,
  entered,
  expired,
  given,
  granted,
  leave,
  left,
  remove
} from "./history.ts"

describe("leaving", () => {
  it("gives up the place, and the consumers behind move up", () => {
    const queue = given({}, [entered(1, "ada"), entered(2, "bob")])
    assert.deepStrictEqual(queue.when(3, leave("ada")), [left(3, "ada")])
    assert.deepStrictEqual(queue.view(3, "ada"), { status: "LEFT", enteredAt: at(1), leftAt: at(3) })
    assert.strictEqual(queue.position(3, "bob"), 1)
  })

  it("gives up a grant", () => {
    const queue = given({}, [entered(1, "ada"), admitted(2, "ada")])
    assert.deepStrictEqual(queue.when(3, leave("ada")), [left(3, "ada")])
  })

  it("twice has the same effect as once", () => {
    assert.deepStrictEqual(given({}, [entered(1, "ada"), left(2, "ada")]).when(3, leave("ada")), [])
  })

  it("is refused without a place, after completing, and after a denial", () => {
    const queue = given({}, [
      entered(1, "bob"),
      admitted(2, "bob"),
      completed(3, "bob"),
      entered(4, "eve"),
      denied(5, "eve")
    ])
    assertRefused(queue.when(6, leave("ada")), "WrongStatus", { status: "NOT_QUEUED" })
    assertRefused(queue.when(6, leave("bob")), "WrongStatus", { status: "COMPLETED" })
    assertRefused(queue.when(6, leave("eve")), "WrongStatus", { status: "DENIED" })
  })
})

describe("admitting by hand", () => {
  it("grants the named consumer at any position", () => {
    const queue = given({}, [entered(1, "ada"), entered(2, "bob")])
    assert.deepStrictEqual(queue.when(3, admit("bob")), [admitted(3, "bob")])
    assert.deepStrictEqual(queue.view(3, "bob"), {
      status: "GRANTED",
      enteredAt: at(2),
      grantedAt: at(3),
      grantSequence: 4
    })
    assert.strictEqual(queue.position(3, "ada"), 1)
  })

  it("twice makes one grant", () => {
    assert.deepStrictEqual(given({}, [entered(1, "ada"), admitted(2, "ada")]).when(3, admit("ada")), [])
  })

  it("is refused for a consumer that does not wait", () => {
    const queue = given({}, [entered(1, "ada"), left(2, "ada")])
    assertRefused(queue.when(3, admit("ada")), "WrongStatus", { status: "LEFT" })
    assertRefused(queue.when(3, admit("bob")), "WrongStatus", { status: "NOT_QUEUED" })
  })

  it("works in the lobby too", () => {
    const queue = given({ lobbyOpenAt: at(0), openAt: at(60) }, [entered(1, "ada")])
    assert.deepStrictEqual(queue.when(2, admit("ada")), [admitted(2, "ada")])
  })

  it("is refused when the queue is closed", () => {
    const queue = given({ closeAt: at(10) }, [entered(1, "ada"), entered(2, "bob"), admitted(3, "bob")])
    assertRefused(queue.unnoticed(10, admit("ada")), "Closed")
    assertRefused(queue.when(10, admit("ada")), "Closed")
    assert.deepStrictEqual(queue.when(10, admit("bob")), [])
  })

  it("is refused when all admissions are used up", () => {
    const queue = given({ maxAdmissions: 1 }, [entered(1, "ada"), entered(2, "bob"), admitted(3, "ada")])
    assertRefused(queue.when(4, admit("bob")), "AdmissionsUsedUp")
    assert.strictEqual(queue.status(4, "bob"), "QUEUED")
  })

  it("does not change the pace of admission by rate", () => {
    const queue = given({ admitRate: 6 }, [entered(0, "ada"), entered(0, "bob"), entered(0, "eve"), entered(0, "joe")])
    assert.deepStrictEqual(queue.until(0), [granted(0, "ada")])
    queue.when(4, admit("joe"))
    assert.deepStrictEqual(queue.until(10), [granted(10, "bob")])
    assert.deepStrictEqual(queue.until(20), [granted(20, "eve")])
  })
})

describe("denying", () => {
  it("ends a place or a grant with the reason", () => {
    const queue = given({}, [entered(1, "ada"), entered(2, "bob"), admitted(3, "bob")])
    assert.deepStrictEqual(queue.when(4, deny("ada")), [denied(4, "ada")])
    assert.deepStrictEqual(queue.when(5, deny("bob")), [denied(5, "bob")])
    assert.deepInclude(queue.view(5, "bob"), { status: "DENIED", reason: "FRAUD_DETECTED", deniedAt: at(5) })
  })

  it("twice keeps the first reason", () => {
    const queue = given({}, [entered(1, "ada"), denied(2, "ada")])
    assert.deepStrictEqual(queue.when(3, { _tag: "Deny", consumerId: "ada", reason: "BOT_DETECTED", by: "admin" }), [])
    assert.deepInclude(queue.view(3, "ada"), { reason: "FRAUD_DETECTED" })
  })

  it("is refused without a place, and after completing or leaving", () => {
    const queue = given({}, [
      entered(1, "ada"),
      left(2, "ada"),
      entered(3, "bob"),
      admitted(4, "bob"),
      completed(5, "bob")
    ])
    assertRefused(queue.when(6, deny("ada")), "WrongStatus", { status: "LEFT" })
    assertRefused(queue.when(6, deny("bob")), "WrongStatus", { status: "COMPLETED" })
    assertRefused(queue.when(6, deny("eve")), "WrongStatus", { status: "NOT_QUEUED" })
  })
})

describe("an archived consumer", () => {
  it("leaves the line, or loses its grant", () => {
    const queue = given({}, [entered(1, "ada"), entered(2, "bob"), admitted(3, "bob"), entered(3, "eve")])
    assert.deepStrictEqual(queue.when(4, remove("ada")), [byAdmin(left(4, "ada"))])
    assert.deepStrictEqual(queue.when(5, remove("bob")), [denied(5, "bob", "ADMIN_ACTION")])
    assert.deepStrictEqual(
      ["ada", "bob", "eve"].map((name) => queue.status(5, name)),
      ["LEFT", "DENIED", "QUEUED"]
    )
    assert.strictEqual(queue.position(5, "eve"), 1)
    for (const name of ["ada", "bob", "nobody"]) assert.deepStrictEqual(queue.when(6, remove(name)), [])
  })

  it("keeps completed grants and those lost by the closing", () => {
    const queue = given({ closeAt: at(10) }, [entered(1, "ada"), admitted(2, "ada"), entered(3, "bob")])
    queue.when(4, complete("ada"))
    assert.deepStrictEqual(queue.when(5, remove("ada")), [])
    assert.deepStrictEqual(queue.unnoticed(10, remove("bob")), [])
  })
})

describe("an operator's action", () => {
  it("records its author, while an event of the consumer has none", () => {
    const queue = given({}, [entered(1, "ada"), entered(1, "bob")])
    const authors = (outcome: ReturnType<typeof queue.when>) =>
      accepted(outcome).map((event) => [event._tag, "by" in event ? event.by : undefined])
    assert.deepStrictEqual(authors(queue.when(2, admit("ada"))), [["Granted", "admin"]])
    assert.deepStrictEqual(authors(queue.when(3, complete("ada"))), [["Completed", "admin"]])
    assert.deepStrictEqual(authors(queue.when(4, leave("bob"))), [["Left", undefined]])
    queue.enter(5, "bob")
    assert.deepStrictEqual(authors(queue.when(6, { _tag: "Leave", consumerId: "bob", by: "a server" })), [
      ["Left", "a server"]
    ])
  })

  it("shows its author neither to the consumer nor in its row", () => {
    const queue = given({}, [entered(1, "ada")])
    for (const command of [admit("ada"), deny("ada")]) {
      queue.when(2, command)
      assert.notProperty(queue.view(2, "ada"), "by")
      assert.notProperty(decider.place(queue.state, "ada")!.fields, "by")
    }
  })
})

describe("completing", () => {
  it("ends a grant", () => {
    const queue = given({ admissionExpirationSeconds: 60 }, [entered(1, "ada"), admitted(2, "ada")])
    assert.deepStrictEqual(queue.when(3, complete("ada")), [completed(3, "ada")])
    assert.deepStrictEqual(queue.view(3, "ada"), {
      status: "COMPLETED",
      enteredAt: at(1),
      completedAt: at(3),
      completedGrant: 3
    })
  })

  it("twice has the same effect as once, and nothing expires afterwards", () => {
    const queue = given({ admissionExpirationSeconds: 60 }, [
      entered(1, "ada"),
      admitted(2, "ada"),
      completed(3, "ada")
    ])
    assertRefused(queue.when(4, complete("ada")), "AlreadyCompleted", { grantSequence: 3 })
    assert.deepStrictEqual(queue.until(1000), [])
    assert.isUndefined(decider.wakeAt(queue.state))
  })

  it("is refused without a grant", () => {
    const queue = given({}, [entered(1, "ada")])
    assertRefused(queue.when(2, complete("ada")), "WrongStatus", { status: "QUEUED" })
    assertRefused(queue.when(2, complete("bob")), "WrongStatus", { status: "NOT_QUEUED" })
  })

  it("is possible after the queue has closed, while the grant is valid", () => {
    const queue = given({}, [entered(1, "ada"), admitted(2, "ada")])
    queue.when(3, end)
    assert.deepStrictEqual(queue.when(4, complete("ada")), [completed(4, "ada")])
  })

  it("is refused for an expired grant, even before the expiry is recorded", () => {
    const queue = given({ admissionExpirationSeconds: 10 }, [entered(1, "ada"), admitted(2, "ada")])
    assertRefused(queue.unnoticed(12, complete("ada")), "WrongStatus", { status: "DENIED" })
    assert.deepStrictEqual(queue.unnoticed(11.999, complete("ada")), [completed(11.999, "ada")])
  })
})

describe("the row for search and lists", () => {
  const row = (...events: Parameters<typeof given>[1] & {}) =>
    decider.place(given({ admissionExpirationSeconds: 10 }, events).state, "ada")
  const text = (seconds: number) => new Date(at(seconds)).toISOString()

  it("is absent for a consumer that never entered", () => {
    assert.isUndefined(row())
  })

  it("contains the fields of the status in their public form", () => {
    const entry = entered(1, "ada")
    assert.deepStrictEqual(row(entry), { status: "QUEUED", enteredAt: at(1), updatedAt: at(1), fields: {} })
    assert.deepStrictEqual(row(entry, granted(2, "ada")), {
      status: "GRANTED",
      enteredAt: at(1),
      updatedAt: at(2),
      fields: { grantedAt: text(2), expiresAt: text(12) }
    })
    assert.deepStrictEqual(row(entry, granted(2, "ada"), completed(3, "ada"))?.fields, { completedAt: text(3) })
    assert.deepStrictEqual(row(entry, left(3, "ada"))?.fields, { leftAt: text(3) })
    assert.deepStrictEqual(row(entry, denied(3, "ada"))?.fields, { reason: "FRAUD_DETECTED", deniedAt: text(3) })
  })

  it("has no expiry for a grant that never expires", () => {
    const queue = given({}, [entered(1, "ada"), admitted(2, "ada")])
    assert.deepStrictEqual(decider.place(queue.state, "ada")?.fields, { grantedAt: text(2) })
  })

  it("keeps the recorded status while the consumer's view already applies an unnoticed deadline", () => {
    const queue = given({ closeAt: at(10) }, [entered(1, "ada")])
    assert.strictEqual(decider.place(queue.state, "ada")?.status, "QUEUED")
    assert.deepStrictEqual(queue.view(11, "ada"), {
      status: "DENIED",
      enteredAt: at(1),
      reason: "QUEUE_CLOSED",
      deniedAt: at(10)
    })
    queue.apply(closed(10))
    assert.strictEqual(decider.place(queue.state, "ada")?.status, "QUEUED")
    assert.strictEqual(queue.status(11, "ada"), "DENIED")
  })
})

describe("an expired grant", () => {
  const settings = { admissionExpirationSeconds: 10 }

  it("becomes DENIED at its time, which was fixed when the grant was made", () => {
    const queue = given(settings, [entered(1, "ada"), admitted(2, "ada")])
    assert.deepInclude(queue.view(11.999, "ada"), { status: "GRANTED", expiresAt: at(12) })
    const denial = { status: "DENIED", enteredAt: at(1), reason: "ADMISSION_EXPIRED", deniedAt: at(12) }
    assert.deepStrictEqual<unknown>(queue.view(12, "ada"), denial)
    assert.strictEqual(decider.wakeAt(queue.state), at(12))
    assert.deepStrictEqual(queue.until(100), [expired(12, "ada")])
    assert.deepStrictEqual<unknown>(queue.view(100, "ada"), denial)
  })

  it("keeps its time when the settings change later", () => {
    const queue = given(settings, [entered(1, "ada"), entered(1, "bob"), admitted(2, "ada")])
    queue.when(3, {
      _tag: "Configure",
      configuration: { ...decider.configurationOf(queue.state), admissionExpirationSeconds: 1 },
      by: "admin"
    })
    queue.when(4, admit("bob"))
    assert.deepStrictEqual(queue.until(100), [expired(5, "bob"), expired(12, "ada")])
  })
})
