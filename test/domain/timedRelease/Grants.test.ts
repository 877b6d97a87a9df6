import { assert, describe, it } from "@effect/vitest"
import { decider, type Event } from "../../../src/domain/timedRelease/TimedRelease.ts"
import { assertRefused } from "../mechanism/support/History.ts"
import {
  at,
  complete,
  completed,
  denied,
  deny,
  end,
  enter,
  entered,
  expired,
  given,
  leave,
  left,
  remove,
  selected,
  text
} from "./history.ts"

/** A release with a place in every status: ada holds a grant, the others' have ended. */
const everyStatus = () =>
  given({ admissionExpirationSeconds: 60 }, [
    entered(0, "eve"),
    entered(0, "bob"),
    completed(1, "bob"),
    entered(1, "joe"),
    left(2, "joe"),
    entered(2, "kim"),
    denied(3, "kim"),
    entered(3, "ada"),
    expired(60, "eve")
  ])

describe("a grant of a timed release", () => {
  it("is given up by leaving", () => {
    const release = everyStatus()
    assert.deepStrictEqual(release.when(61, leave("ada")), [left(61, "ada")])
    assert.deepStrictEqual(release.view(61, "ada"), { status: "LEFT", enteredAt: at(3), leftAt: at(61) })
  })

  it("is used by completing, and keeps the selection", () => {
    const release = given({}, [entered(1, "ada", "red")])
    assert.deepStrictEqual(release.when(2, complete("ada")), [completed(2, "ada")])
    assert.deepStrictEqual(release.view(2, "ada"), {
      status: "COMPLETED",
      enteredAt: at(1),
      completedAt: at(2),
      selectedVariantId: "red",
      completedGrant: 2
    })
  })

  it("is taken away by a denial", () => {
    const release = everyStatus()
    assert.deepStrictEqual(release.when(61, deny("ada", "BOT_DETECTED")), [denied(61, "ada", "BOT_DETECTED")])
    assert.deepStrictEqual(release.view(61, "ada"), { status: "DENIED", enteredAt: at(3) })
  })

  it("expires at its time, noticed or not, and not after it was used", () => {
    const release = given({ admissionExpirationSeconds: 60 }, [entered(1, "ada"), entered(2, "bob")])
    release.when(3, complete("bob"))
    const over = { status: "EXPIRED", enteredAt: at(1), expiresAt: at(61) } as const
    assert.strictEqual(release.status(60.999, "ada"), "ENTERED")
    assert.deepStrictEqual(release.view(61, "ada"), over)
    assert.deepStrictEqual(release.noticed(100), [expired(61, "ada")])
    assert.deepStrictEqual(release.view(100, "ada"), over)
    assert.isUndefined(decider.wakeAt(release.state))
  })

  it("ends once: the same command again changes nothing", () => {
    const release = everyStatus()
    assert.deepStrictEqual(release.when(61, leave("joe")), [])
    assertRefused(release.when(61, complete("bob")), "AlreadyCompleted", { grantSequence: 3 })
    assert.deepStrictEqual(release.when(61, deny("kim", "ADMIN_ACTION")), [])
    assert.deepInclude(decider.place(release.state, "kim")!.fields, { reason: "FRAUD_DETECTED" })
  })

  it("that does not exist or has ended cannot be left, completed or denied", () => {
    const status = { ada: "ENTERED", bob: "COMPLETED", joe: "LEFT", kim: "DENIED", eve: "EXPIRED", zoe: "NOT_ENTERED" }
    const may: { readonly [command: string]: ReadonlyArray<string> } = {
      Leave: ["ENTERED", "LEFT"],
      Complete: ["ENTERED"],
      Deny: ["ENTERED", "DENIED"]
    }
    for (const [consumerId, is] of Object.entries(status)) {
      const release = everyStatus()
      assert.strictEqual(release.status(61, consumerId), is)
      for (const command of [leave(consumerId), complete(consumerId), deny(consumerId)]) {
        const outcome = release.unnoticed(61, command)
        if (command._tag === "Complete" && is === "COMPLETED") {
          assertRefused(outcome, "AlreadyCompleted", { grantSequence: 3 })
        } else if (may[command._tag]!.includes(is)) assert.isArray(outcome, `${command._tag} ${is}`)
        else assertRefused(outcome, "WrongStatus", { status: is })
      }
    }
  })

  it("counts as expired from its time on, before an actor notices it", () => {
    const release = given({ admissionExpirationSeconds: 10 }, [entered(1, "ada")])
    for (const command of [leave("ada"), complete("ada"), deny("ada")]) {
      assert.isArray(release.unnoticed(10.999, command))
      assertRefused(release.unnoticed(11, command), "WrongStatus", { status: "EXPIRED" })
    }
  })

  it("can be used after the closing, while it is valid", () => {
    const release = given({}, [entered(1, "ada"), entered(1, "bob"), entered(1, "eve")])
    release.when(2, end)
    assert.deepStrictEqual(release.when(3, complete("ada")), [completed(3, "ada")])
    assert.deepStrictEqual(release.when(3, leave("bob")), [left(3, "bob")])
    assert.deepStrictEqual(release.when(3, deny("eve")), [denied(3, "eve")])
  })
})

describe("an archived consumer", () => {
  it("loses its grant, whose unit becomes free, and nothing else", () => {
    const release = given({ capacity: 2 }, [entered(1, "ada"), entered(1, "bob")])
    assert.deepStrictEqual(release.when(2, remove("ada")), [denied(2, "ada", "ADMIN_ACTION")])
    assert.deepStrictEqual(release.when(3, enter("eve")), [entered(3, "eve")])
    release.when(4, complete("bob"))
    for (const name of ["ada", "bob", "nobody"]) assert.deepStrictEqual(release.when(5, remove(name)), [])
  })
})

describe("the row for search and lists", () => {
  const row = (...events: ReadonlyArray<Event>) =>
    decider.place(given({ admissionExpirationSeconds: 10 }, events).state, "ada")

  it("is absent for a consumer that never entered", () => {
    assert.isUndefined(row())
  })

  it("contains the fields of the status in their public form", () => {
    const entry = entered(1, "ada", "red")
    assert.deepStrictEqual(row(entry), {
      status: "ENTERED",
      enteredAt: at(1),
      updatedAt: at(1),
      fields: { expiresAt: text(11), selectedVariantId: "red" }
    })
    assert.deepStrictEqual(row(entry, selected(2, "ada", "blue")), {
      status: "ENTERED",
      enteredAt: at(1),
      updatedAt: at(2),
      fields: { expiresAt: text(11), selectedVariantId: "blue" }
    })
    assert.deepStrictEqual(row(entry, completed(3, "ada")), {
      status: "COMPLETED",
      enteredAt: at(1),
      updatedAt: at(3),
      fields: { completedAt: text(3), selectedVariantId: "red" }
    })
    assert.deepStrictEqual(row(entry, left(3, "ada"))?.fields, { leftAt: text(3) })
    assert.deepStrictEqual(row(entry, denied(3, "ada"))?.fields, { reason: "FRAUD_DETECTED", deniedAt: text(3) })
    assert.deepStrictEqual(row(entry, expired(11, "ada"))?.fields, { expiresAt: text(11) })
  })

  it("has no further fields for a grant that never expires and has no selection", () => {
    assert.deepStrictEqual(decider.place(given({}, [entered(1, "ada")]).state, "ada")?.fields, {})
  })
})
