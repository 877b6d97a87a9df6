import { assert, describe, it } from "@effect/vitest"
import { decider } from "../../../src/domain/queue/Queue.ts"
import { assertRefused } from "../mechanism/support/History.ts"
import {
  admit,
  admitted,
  at,
  complete,
  completed,
  configure,
  denied,
  deny,
  enter,
  entered,
  expired,
  given,
  granted,
  leave,
  left,
  remove
} from "./history.ts"

describe("grantsPerConsumer", () => {
  it("refuses a consumer that has used, left or let expire that many grants", () => {
    const queue = given({ grantsPerConsumer: 3, admissionExpirationSeconds: 10 }, [
      entered(0, "ada"),
      admitted(1, "ada"),
      completed(2, "ada"),
      entered(3, "ada"),
      admitted(4, "ada"),
      left(5, "ada"),
      entered(6, "ada"),
      admitted(7, "ada"),
      expired(17, "ada")
    ])
    assertRefused(queue.when(18, enter("ada")), "GrantLimitReached")
    assert.deepStrictEqual(queue.when(18, enter("bob")), [entered(18, "bob")])
  })

  it("lets a consumer with fewer grants take a new place at the end", () => {
    const queue = given({ grantsPerConsumer: 2 }, [
      entered(0, "ada"),
      admitted(1, "ada"),
      completed(2, "ada"),
      entered(3, "bob")
    ])
    assert.deepStrictEqual(queue.when(4, enter("ada")), [entered(4, "ada")])
    assert.strictEqual(queue.position(4, "ada"), 2)
  })

  it("does not count places that were left before a grant", () => {
    const queue = given({ grantsPerConsumer: 1 }, [
      entered(0, "ada"),
      left(1, "ada"),
      entered(2, "ada"),
      left(3, "ada")
    ])
    assert.deepStrictEqual(queue.when(4, enter("ada")), [entered(4, "ada")])
  })

  it("counts an expired grant whose expiry is not recorded yet", () => {
    const queue = given({ grantsPerConsumer: 1, admissionExpirationSeconds: 10 }, [
      entered(0, "ada"),
      admitted(1, "ada")
    ])
    assert.deepStrictEqual(queue.unnoticed(10.999, enter("ada")), [])
    assertRefused(queue.unnoticed(11, enter("ada")), "GrantLimitReached")
  })

  it("answers the present state to a consumer that waits, holds a grant or was denied, however many it has had", () => {
    const queue = given({ grantsPerConsumer: 1 }, [
      entered(0, "ada"),
      admitted(1, "ada"),
      entered(1, "bob"),
      admitted(1, "bob"),
      denied(2, "bob")
    ])
    assert.deepStrictEqual(queue.when(3, enter("ada")), [])
    assert.deepStrictEqual(queue.when(3, enter("bob")), [])
  })

  it("absent sets no limit for left and expired grants, and lets no consumer go on after a used one", () => {
    const queue = given({}, [entered(0, "bob"), admitted(1, "bob"), completed(2, "bob")])
    for (let second = 3; second < 30; second += 3) {
      assert.deepStrictEqual(queue.when(second, enter("ada")), [entered(second, "ada")])
      queue.when(second + 1, admit("ada"))
      queue.when(second + 2, leave("ada"))
    }
    assert.deepStrictEqual(queue.when(40, enter("bob")), [])
  })

  it("set later counts the grants from before", () => {
    const queue = given({}, [entered(0, "ada"), admitted(1, "ada"), left(2, "ada")])
    queue.when(3, configure({ grantsPerConsumer: 1 }))
    assertRefused(queue.when(4, enter("ada")), "GrantLimitReached")
  })
})

describe("a grant that its consumer left", () => {
  it("gives its admission back, so that one consumer cannot use up all of them", () => {
    for (const recycleExpiredAdmissions of [true, false]) {
      const queue = given({ maxAdmissions: 2, admitRate: 600, recycleExpiredAdmissions })
      for (let second = 1; second <= 20; second++) {
        queue.when(second, enter("ada"))
        assert.deepStrictEqual(queue.until(second + 0.5), [granted(second, "ada")])
        queue.when(second + 0.6, leave("ada"))
      }
      queue.enter(30, "bob", "eve", "joe")
      queue.until(60)
      assert.deepStrictEqual(
        ["bob", "eve", "joe"].map((name) => queue.status(60, name)),
        ["GRANTED", "GRANTED", "QUEUED"]
      )
    }
  })
})

describe("an event that ends a grant before its time", () => {
  it("names the grant and when it would have expired", () => {
    const ends = { leave: leave("ada"), complete: complete("ada"), deny: deny("ada"), remove: remove("ada") }
    for (const [name, command] of Object.entries(ends)) {
      const queue = given({ admissionExpirationSeconds: 60 }, [entered(0, "ada"), admitted(1, "ada")])
      queue.when(2, command)
      assert.deepInclude(queue.events.at(-1), { grant: { sequence: 3, expiresAt: at(61) } }, name)
    }
  })

  it("names no expiry of a grant that does not expire, and no grant of a place that waits", () => {
    const queue = given({}, [entered(0, "ada"), admitted(1, "ada"), entered(1, "bob")])
    queue.when(2, leave("ada"))
    assert.deepInclude(queue.events.at(-1), { grant: { sequence: 3 } })
    queue.when(3, leave("bob"))
    assert.notProperty(queue.events.at(-1), "grant")
  })

  it("may lack the grant, as in journals from before it was recorded", () => {
    const before = given({ grantsPerConsumer: 1 }, [entered(0, "ada"), admitted(1, "ada"), completed(2, "ada")])
    assert.deepInclude(before.view(3, "ada"), { status: "COMPLETED", completedGrant: 3 })
    assertRefused(before.when(3, { ...complete("ada"), redemptionId: "late" } as never), "AlreadyRedeemed", {
      grantSequence: 3
    })
    assert.strictEqual(decider.counts(before.state)["COMPLETED"], 1)
  })
})
