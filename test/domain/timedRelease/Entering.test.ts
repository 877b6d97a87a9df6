import { assert, describe, it } from "@effect/vitest"
import { placesMax } from "../../../src/domain/timedRelease/State.ts"
import { assertRefused } from "../mechanism/support/History.ts"
import {
  at,
  complete,
  completed,
  configure,
  denied,
  end,
  ended,
  enter,
  enterAsGuest,
  entered,
  expired,
  given,
  left,
  selected
} from "./history.ts"

describe("entering a timed release", () => {
  it("a consumer that never entered is NOT_ENTERED", () => {
    assert.deepStrictEqual(given().view(0, "ada"), { status: "NOT_ENTERED" })
  })

  it("grants at once, with an expiry if grants expire", () => {
    const release = given({ admissionExpirationSeconds: 60 })
    assert.deepStrictEqual(release.when(1, enter("ada")), [entered(1, "ada")])
    assert.deepStrictEqual(release.view(1, "ada"), {
      status: "ENTERED",
      enteredAt: at(1),
      expiresAt: at(61),
      grantSequence: 2
    })
    const lasting = given({}, [entered(1, "ada")])
    assert.deepStrictEqual(lasting.view(1_000_000, "ada"), { status: "ENTERED", enteredAt: at(1), grantSequence: 2 })
  })

  it("again changes nothing, whatever the place's status", () => {
    const release = given({ capacity: 1 }, [entered(1, "ada")])
    assert.deepStrictEqual(release.when(2, enter("ada")), [])
    release.when(3, complete("ada"))
    assert.deepStrictEqual(release.when(4, enter("ada", "red")), [])
    assert.deepStrictEqual(given({}, [entered(1, "bob"), denied(2, "bob")]).when(3, enter("bob")), [])
  })

  it("after leaving, or after an expired grant, is a new entry with its own grant", () => {
    const release = given({ admissionExpirationSeconds: 10 }, [entered(1, "ada", "red"), left(2, "ada")])
    assert.deepStrictEqual(release.when(3, enter("ada")), [entered(3, "ada")])
    assert.deepStrictEqual(release.view(3, "ada"), {
      status: "ENTERED",
      enteredAt: at(3),
      expiresAt: at(13),
      grantSequence: 4
    })
    assert.deepStrictEqual(release.until(13), [expired(13, "ada")])
    assert.deepStrictEqual(release.when(14, enter("ada", "blue")), [entered(14, "ada", "blue")])
    assert.deepInclude(release.view(14, "ada"), { selectedVariantId: "blue", expiresAt: at(24) })
  })

  it("again is refused after the closing, with the consumer's status", () => {
    const release = given({}, [entered(1, "ada"), left(2, "ada")])
    release.when(3, end)
    assert.deepStrictEqual(release.when(4, enter("ada")), [])
    assert.strictEqual(release.status(4, "ada"), "LEFT")
  })

  it("is refused before it opens and after it closed, by time or by an admin", () => {
    const release = given({ openAt: at(10), closeAt: at(20) })
    assertRefused(release.when(9.999, enter("ada")), "NotOpen", { opensAt: at(10) })
    assert.deepStrictEqual(release.when(10, enter("ada")), [entered(10, "ada")])
    assert.deepStrictEqual(release.when(19.999, enter("bob")), [entered(19.999, "bob")])
    assertRefused(release.unnoticed(20, enter("eve")), "Closed")
    assertRefused(release.when(20, enter("eve")), "Closed")
    assertRefused(given({}, [ended(1)]).when(2, enter("ada")), "Closed")
  })

  it("is refused to guests if they are not supported", () => {
    const release = given({ supportsGuest: false })
    assertRefused(release.when(1, enterAsGuest("ada")), "GuestsRefused")
    assert.deepStrictEqual(release.when(1, enter("ada")), [entered(1, "ada")])
    assert.deepStrictEqual(given().when(1, enterAsGuest("ada")), [entered(1, "ada")])
  })
})

describe("the units of a timed release", () => {
  it("go to the first consumers, one each", () => {
    const release = given({ capacity: 2 }, [entered(1, "ada"), entered(1, "bob")])
    assertRefused(release.when(2, enter("eve")), "SoldOut")
    assert.deepStrictEqual(release.when(2, enter("ada")), [])
  })

  it("become free when a grant is left, denied or expires", () => {
    for (const back of [left(2, "ada"), denied(2, "ada"), expired(2, "ada")]) {
      const release = given({ capacity: 1 }, [entered(1, "ada"), back])
      assert.deepStrictEqual(release.when(3, enter("eve")), [entered(3, "eve")], back._tag)
    }
  })

  it("stay with consumers that completed", () => {
    const release = given({ capacity: 1 }, [entered(1, "ada"), completed(2, "ada")])
    assertRefused(release.when(3, enter("eve")), "SoldOut")
  })

  it("that are all held may become free when the next grant expires", () => {
    const release = given({ capacity: 2, admissionExpirationSeconds: 60 }, [entered(1, "ada"), entered(5, "bob")])
    assertRefused(release.when(10.5, enter("eve")), "SoldOut", { retryAfterSeconds: 51 })
    release.when(11, complete("ada"))
    assertRefused(release.when(11, enter("eve")), "SoldOut", { retryAfterSeconds: 54 })
    release.when(12, complete("bob"))
    assertRefused(release.when(12, enter("eve")), "SoldOut")
  })

  it("that become free only after the closing are no reason to wait", () => {
    const events = [entered(1, "ada")]
    const settings = { capacity: 1, admissionExpirationSeconds: 60 }
    assertRefused(given({ ...settings, closeAt: at(61) }, events).when(2, enter("eve")), "SoldOut")
    assertRefused(given({ ...settings, closeAt: at(62) }, events).when(2, enter("eve")), "SoldOut", {
      retryAfterSeconds: 59
    })
  })

  it("of an expired grant go to the next consumer, and the expiry is recorded first", () => {
    const release = given({ capacity: 1, admissionExpirationSeconds: 60 }, [entered(1, "ada")])
    assertRefused(release.unnoticed(60.999, enter("eve")), "SoldOut", { retryAfterSeconds: 1 })
    assert.deepStrictEqual(release.unnoticed(61, enter("eve")), [expired(61, "ada"), entered(61, "eve")])
    assert.deepStrictEqual(release.unnoticed(70, enter("ada")), [expired(61, "ada"), entered(70, "ada")])
  })

  it("are not taken from other consumers while some are left", () => {
    const release = given({ capacity: 2, admissionExpirationSeconds: 60 }, [entered(1, "ada")])
    assert.deepStrictEqual(release.unnoticed(70, enter("eve")), [entered(70, "eve")])
  })

  it("that an admin removes are no longer granted, and those granted stay", () => {
    const release = given({ capacity: 3 }, [entered(1, "ada"), entered(1, "bob")])
    release.when(2, configure({ capacity: 1 }))
    release.apply(left(3, "bob"))
    assertRefused(release.when(4, enter("eve")), "SoldOut")
    assert.strictEqual(release.status(4, "ada"), "ENTERED")
    release.when(5, configure({}))
    assert.deepStrictEqual(release.when(6, enter("eve")), [entered(6, "eve")])
  })

  it("are never for more consumers than the maximum of known ones", () => {
    const release = given()
    Object.defineProperty(release.state.places, "size", { value: placesMax })
    assertRefused(release.when(1, enter("ada")), "SoldOut")
  })
})

describe("selecting a variant", () => {
  it("happens with the entry or later, and changes by entering again; the grant stays the same", () => {
    const release = given({ admissionExpirationSeconds: 60 }, [entered(1, "ada", "red"), entered(1, "bob")])
    assert.deepInclude(release.view(1, "ada"), { selectedVariantId: "red" })
    assert.notProperty(release.view(1, "bob"), "selectedVariantId")
    assert.deepStrictEqual(release.when(2, enter("bob", "red")), [selected(2, "bob", "red")])
    assert.deepStrictEqual(release.when(3, enter("ada", "blue")), [selected(3, "ada", "blue")])
    assert.deepStrictEqual(release.view(3, "ada"), {
      status: "ENTERED",
      enteredAt: at(1),
      expiresAt: at(61),
      selectedVariantId: "blue",
      grantSequence: 2
    })
    assert.deepStrictEqual(release.until(61), [expired(61, "ada"), expired(61, "bob")])
  })

  it("again, or entering again without one, changes nothing", () => {
    const release = given({}, [entered(1, "ada", "red")])
    assert.deepStrictEqual(release.when(2, enter("ada", "red")), [])
    assert.deepStrictEqual(release.when(2, enter("ada")), [])
    assert.deepInclude(release.view(2, "ada"), { selectedVariantId: "red" })
  })

  it("is refused for a variant that is not offered, and nothing changes", () => {
    const release = given({ variantIds: ["red", "blue"] }, [entered(1, "ada", "red")])
    assertRefused(release.when(2, enter("bob", "green")), "UnknownVariant")
    assert.strictEqual(release.status(2, "bob"), "NOT_ENTERED")
    assertRefused(release.when(2, enter("ada", "green")), "UnknownVariant")
    assert.deepStrictEqual(release.when(3, enter("ada", "blue")), [selected(3, "ada", "blue")])
    assert.deepStrictEqual(release.when(3, enter("bob")), [entered(3, "bob")])
  })

  it("is refused for a variant that the experience does not offer, if the release has no variants of its own", () => {
    const release = given({}, [entered(1, "ada", "red")])
    const notOffered = (consumerId: string) => ({ ...enter(consumerId, "green"), isNotOffered: true })
    for (const consumerId of ["ada", "bob"]) assertRefused(release.when(2, notOffered(consumerId)), "UnknownVariant")
    assert.strictEqual(release.status(2, "bob"), "NOT_ENTERED")
    release.when(3, configure({ variantIds: ["green"] }))
    assert.deepStrictEqual(release.when(4, notOffered("bob")), [entered(4, "bob", "green")])
  })

  it("is refused for another product than the assigned one, but not for the variant selected already", () => {
    const elsewhere = (consumerId: string, variantId: string) => ({
      ...enter(consumerId, variantId),
      isUnassigned: true
    })
    for (const settings of [{}, { variantIds: ["red", "blue"] }]) {
      const release = given({ ...settings, openAt: at(1) }, [entered(2, "ada", "red")])
      assertRefused(release.when(3, elsewhere("bob", "red")), "UnknownVariant")
      assertRefused(release.when(3, elsewhere("ada", "blue")), "UnknownVariant")
      assert.deepStrictEqual(release.when(4, elsewhere("ada", "red")), [])
      assert.deepStrictEqual(release.when(5, enter("bob", "red")), [entered(5, "bob", "red")])
    }
    assertRefused(given({ openAt: at(9) }).when(3, elsewhere("bob", "red")), "NotOpen", { opensAt: at(9) })
  })

  it("stays when the variant is no longer offered", () => {
    const release = given({ variantIds: ["red", "blue"] }, [entered(1, "ada", "red")])
    release.when(2, configure({ variantIds: ["blue"] }))
    assert.deepStrictEqual(release.when(3, enter("ada", "red")), [])
    assert.deepInclude(release.view(3, "ada"), { selectedVariantId: "red" })
    assertRefused(release.when(3, enter("bob", "red")), "UnknownVariant")
    release.when(4, configure({}))
    assert.deepStrictEqual(release.when(5, enter("bob", "red")), [entered(5, "bob", "red")])
  })

  it("can be changed while the grant is valid, also when the release is sold out or closed", () => {
    const release = given({ capacity: 1, admissionExpirationSeconds: 60 }, [entered(1, "ada", "red")])
    assert.deepStrictEqual(release.when(2, enter("ada", "blue")), [selected(2, "ada", "blue")])
    release.when(3, end)
    assert.deepStrictEqual(release.when(4, enter("ada", "red")), [selected(4, "ada", "red")])
    assert.deepStrictEqual(release.unnoticed(61, enter("ada", "blue")), [])
  })
})
