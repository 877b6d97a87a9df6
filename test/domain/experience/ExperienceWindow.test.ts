import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { decider as auctions } from "../../../src/domain/auction/Auction.ts"
import { decider as queues } from "../../../src/domain/queue/Queue.ts"
import {
  bounded,
  type ExperienceWindow,
  type Windowed,
  windowOf
} from "../../../src/domain/experience/ExperienceWindow.ts"
import * as Appointments from "../appointment/history.ts"
import * as Auctions from "../auction/history.ts"
import * as Draws from "../draw/history.ts"
import { assertRefused } from "../mechanism/support/History.ts"
import * as Queues from "../queue/history.ts"
import * as Releases from "../timedRelease/history.ts"
import * as Waitlists from "../waitlist/history.ts"

const { at } = Queues

/** The window of an experience, in seconds; as it was created, unless the test says otherwise. */
const window = (openAt?: number, closeAt?: number, revision = 0): ExperienceWindow => ({
  revision,
  ...(openAt !== undefined && { openAt: at(openAt) }),
  ...(closeAt !== undefined && { closeAt: at(closeAt) })
})

/** Says that the window was changed, for the first time unless the test says otherwise. */
const told = (openAt?: number, closeAt?: number, revision = 1) =>
  ({ _tag: "SetExperienceWindow", window: window(openAt, closeAt, revision), by: "admin" }) as const

/** The same in minutes, which appointments are told in. */
const toldMinutes = (openAt?: number, closeAt?: number) =>
  ({
    _tag: "SetExperienceWindow",
    window: {
      revision: 1,
      ...(openAt !== undefined && { openAt: Appointments.at(openAt) }),
      ...(closeAt !== undefined && { closeAt: Appointments.at(closeAt) })
    },
    by: "admin"
  }) as const

describe("the window of an experience", () => {
  it("leaves the later opening and the earlier closing", () => {
    const holds = (settings: Windowed, openAt?: number, closeAt?: number): Windowed =>
      bounded({ ...settings, experienceWindow: window(openAt, closeAt) })
    assert.deepInclude(holds({ openAt: at(5), closeAt: at(50) }, 10, 40), { openAt: at(10), closeAt: at(40) })
    assert.deepInclude(holds({ openAt: at(15), closeAt: at(30) }, 10, 40), { openAt: at(15), closeAt: at(30) })
    assert.deepInclude(holds({}, 10, 40), { openAt: at(10), closeAt: at(40) })
    assert.deepStrictEqual(holds({}), { experienceWindow: window() })
    assert.deepStrictEqual(bounded({ openAt: at(5) }), { openAt: at(5) })
  })

  it("is none while the experience has never had one", () => {
    assert.isUndefined(windowOf({}, 0))
    assert.deepStrictEqual(windowOf({}, 2), { revision: 2 })
    assert.deepStrictEqual(windowOf({ openAt: 1 }, 0), { revision: 0, openAt: 1 })
  })

  it("is recorded with the admin's settings, and survives a change that does not name it, or names another", () => {
    const queue = Queues.given({ openAt: at(20) })
    queue.when(1, told(30, 90))
    const own = Queues.configuration({ openAt: at(20) })
    assert.deepStrictEqual(queues.configurationOf(queue.state), { ...own, experienceWindow: window(30, 90, 1) })
    queue.when(2, Queues.configure({ openAt: at(40), experienceWindow: window(1, 2, 99) }))
    const changed = { ...own, openAt: at(40), experienceWindow: window(30, 90, 1) }
    assert.deepStrictEqual(queues.configurationOf(queue.state), changed)
    assertRefused(queue.when(39, Queues.enter("ada")), "NotOpen", { opensAt: at(40) })
  })

  it("changes nothing when it is told again, or told late", () => {
    const queue = Queues.given({ openAt: at(20) })
    queue.when(1, told(30, 90, 5))
    assert.deepStrictEqual(queue.when(2, told(30, 90, 5)), [])
    assert.deepStrictEqual(queue.when(2, told(10, 20, 4)), [])
    assert.deepInclude(queues.configurationOf(queue.state), { experienceWindow: window(30, 90, 5) })
  })

  it("is decoded from events that have none, and written with those that have one", () => {
    const decode = Schema.decodeUnknownSync(queues.event)
    const encode = Schema.encodeSync(queues.event)
    const old = { _tag: "Configured", at: at(0), configuration: Queues.configuration(), by: "admin" } as const
    assert.deepStrictEqual(decode(JSON.parse(JSON.stringify(encode(old)))), old)
    const configuration = { ...old.configuration, experienceWindow: window(1, 2) }
    const next = { ...old, configuration }
    assert.deepStrictEqual(decode(JSON.parse(JSON.stringify(encode(next)))), next)
  })
})

describe("a mechanism below the window of its experience", () => {
  it("opens when the experience does, and no earlier than it was set to", () => {
    const queue = Queues.given({ experienceWindow: window(30) })
    assertRefused(queue.when(29.999, Queues.enter("ada")), "NotOpen", { opensAt: at(30) })
    assert.strictEqual(queues.lifecycle(queue.state, at(29.999)), "scheduled")
    assert.deepStrictEqual(queue.when(30, Queues.enter("ada")), [Queues.entered(30, "ada")])
    const later = Releases.given({ openAt: at(40), experienceWindow: window(30) })
    assertRefused(later.when(39.999, Releases.enter("ada")), "NotOpen", { opensAt: at(40) })
  })

  it("closes when the experience does, and no later than it was set to", () => {
    const queue = Queues.given({ closeAt: at(90), experienceWindow: window(undefined, 60) })
    queue.enter(10, "ada")
    assert.deepStrictEqual(queue.until(60), [Queues.closed(60), Queues.deniedAsClosed(60, "ada"), Queues.tornDown(60)])
    const earlier = Releases.given({ closeAt: at(50), experienceWindow: window(undefined, 60) })
    assert.deepStrictEqual(earlier.until(50), [Releases.closed(50), Releases.tornDown(50)])
  })

  it("closes at once where the experience's closing is moved into the past", () => {
    const release = Releases.given()
    release.when(10, Releases.enter("ada"))
    release.when(30, told(undefined, 20))
    assert.deepStrictEqual(release.until(30), [Releases.closed(30)])
    assertRefused(release.when(30, Releases.enter("bob")), "Closed")
    assert.strictEqual(release.status(30, "ada"), "ENTERED")
  })

  it("never opens where the experience closes before it would", () => {
    const queue = Queues.given({ openAt: at(60), lobbyOpenAt: at(10), experienceWindow: window(undefined, 40) })
    queue.enter(20, "ada")
    const denied = Queues.deniedAsClosed(40, "ada")
    assert.deepStrictEqual(queue.until(100), [Queues.closed(40), denied, Queues.tornDown(40)])
  })

  it("opens earlier or later with the experience, until it has opened: that stays, and the closing still moves", () => {
    const queue = Queues.given({ experienceWindow: window(30) })
    queue.when(1, told(50))
    assertRefused(queue.when(49, Queues.enter("ada")), "NotOpen", { opensAt: at(50) })
    queue.when(49.5, told(49.8, undefined, 2))
    queue.enter(50, "ada")
    queue.when(51, told(70, 80, 3))
    assert.deepInclude(queues.configurationOf(queue.state), { experienceWindow: window(49.8, 80, 3) })
    queue.enter(52, "bob")
    assert.deepStrictEqual(queue.until(80)[0], Queues.closed(80))
  })

  it("is as it was set when the experience's window is lifted", () => {
    const release = Releases.given({ closeAt: at(90), experienceWindow: window(30, 60) })
    release.when(20, told(undefined))
    assert.deepStrictEqual(release.when(20, Releases.enter("ada")), [Releases.entered(20, "ada")])
    assert.deepStrictEqual(release.until(89), [])
    assert.deepStrictEqual(release.until(90), [Releases.closed(90)])
  })

  it("stays closed when the experience opens for longer", () => {
    const queue = Queues.given({ experienceWindow: window(undefined, 60) })
    queue.until(60)
    assert.deepStrictEqual(queue.when(61, told(undefined, 90)), [])
    assertRefused(queue.when(61, Queues.enter("ada")), "Closed")
  })
})

describe("each kind below the window of its experience", () => {
  it("a queue's lobby opens as set, and is drawn when the experience opens", () => {
    const queue = Queues.given({ lobbyOpenAt: at(10), openAt: at(30), admitRate: 60, experienceWindow: window(50) })
    queue.enter(10, "ada")
    assert.deepStrictEqual(queue.until(49.999), [])
    queue.when(40, told(70))
    assert.deepStrictEqual(queue.until(69.999), [])
    assert.deepStrictEqual(
      queue.until(70).map(({ _tag }) => _tag),
      ["Opened", "Granted"]
    )
  })

  it("a draw fixes its list when the experience closes, and draws when it was set to", () => {
    const draw = Draws.given({ experienceWindow: window(undefined, 60) })
    draw.enter(10, "ada")
    assert.deepStrictEqual(
      draw.until(60).map(({ _tag, at }) => [_tag, at]),
      [
        ["Closed", at(60)],
        ["EntriesFixed", at(60)]
      ]
    )
    assert.strictEqual(draw.until(200)[0]?._tag, "Won")
  })

  it("a waitlist is open before the experience, and closes with it", () => {
    const waitlist = Waitlists.given({ experienceWindow: window(30, 60) })
    assert.deepStrictEqual(waitlist.when(1, Waitlists.enter("ada")), [Waitlists.entered(1, "ada")])
    waitlist.when(2, told(40, 50))
    assert.deepStrictEqual(waitlist.when(3, Waitlists.enter("bob")), [Waitlists.entered(3, "bob")])
    assert.deepStrictEqual(waitlist.until(50), [Waitlists.closed(50)])
  })

  it("an appointment's slots can be booked while the experience is open", () => {
    const appointment = Appointments.given({ openAt: Appointments.at(10) })
    appointment.when(1, toldMinutes(30, 50))
    const { configuration } = appointment.state
    assert.deepInclude(configuration, { openAt: Appointments.at(30), closeAt: Appointments.at(50) })
    assertRefused(appointment.when(29, Appointments.book("ada", 0)), "NotOpen", { opensAt: Appointments.at(30) })
    appointment.when(30, Appointments.book("ada", 0))
    assert.strictEqual(appointment.status(30, "ada"), "BOOKED")
    assertRefused(appointment.when(50, Appointments.book("bob", 1)), "Closed")
  })

  describe("an english auction", () => {
    const auction = (closeAt: number, settings = {}) =>
      Auctions.given(
        Auctions.english({ autoExtendSeconds: 10, ...settings, experienceWindow: window(undefined, closeAt) })
      )

    it("closes with the experience, and is settled when it was set to", () => {
      const lot = auction(30)
      lot.bids(1, ["ada", "10"])
      assert.deepStrictEqual(lot.until(30), [Auctions.closed(30)])
      assert.deepStrictEqual(lot.status(59, "ada"), ["WINNING"])
      assert.deepStrictEqual(lot.until(60), [Auctions.won(60, "ada")])
    })

    it("is kept open by late bids beyond the experience's closing, which only bounds the announced closing", () => {
      const lot = auction(30)
      lot.bids(25, ["ada", "10"])
      assert.deepInclude(lot.state.configuration, { closeAt: at(35), settleAt: at(60) })
      assert.deepInclude(auctions.configurationOf(lot.state), { closeAt: at(60) })
      lot.bids(34, ["bob", "12"])
      assert.deepStrictEqual(lot.until(43.999), [])
      assert.deepStrictEqual(lot.until(44), [Auctions.closed(44)])
    })

    it("keeps the time added by late bids after a change of the experience", () => {
      const lot = auction(30)
      lot.bids(29, ["ada", "10"])
      lot.when(31, told(undefined, 32))
      assert.strictEqual(lot.state.configuration.closeAt, at(39))
      lot.when(32, told(undefined, 50, 2))
      assert.strictEqual(lot.state.configuration.closeAt, at(50))
      lot.when(33, told(undefined, undefined, 3))
      assert.strictEqual(lot.state.configuration.closeAt, at(60))
    })

    it("keeps its terms for bidders; only a window may bring an earlier closing", () => {
      const lot = auction(30)
      lot.bids(1, ["ada", "10"])
      const current = auctions.configurationOf(lot.state)
      assertRefused(lot.when(2, Auctions.configure({ ...current, closeAt: at(20) })), "ConfigurationFixed", {
        setting: "closeAt"
      })
      lot.when(3, Auctions.configure({ ...current, name: "Another" }))
      assert.strictEqual(lot.state.configuration.closeAt, at(30))
    })
  })

  describe("a dutch price", () => {
    const price = (lot: Auctions.History, seconds: number) => lot.facts(seconds).currentPrice

    it("falls from when the experience opens, if that is later than the auction's own opening", () => {
      const lot = Auctions.given(Auctions.dutch({ openAt: at(5), experienceWindow: window(20) }))
      assert.strictEqual(price(lot, 29.999), "100")
      assert.strictEqual(price(lot, 30), "85")
    })

    it("falls from the creation in an experience that had opened before", () => {
      const lot = Auctions.given(Auctions.dutch({ experienceWindow: window(-1_000) }), [], 3)
      assert.strictEqual(price(lot, 12.999), "100")
      assert.strictEqual(price(lot, 13), "85")
    })

    it("falls from the moment at which a change of the experience opens it", () => {
      const lot = Auctions.given(Auctions.dutch({ experienceWindow: window(50) }))
      lot.when(30, told(undefined))
      assert.strictEqual(price(lot, 39.999), "100")
      assert.strictEqual(price(lot, 40), "85")
    })

    it("does not rise again when the experience's opening is moved after it has opened", () => {
      const lot = Auctions.given(Auctions.dutch({ experienceWindow: window(10) }))
      lot.when(25, told(40))
      assert.strictEqual(price(lot, 25), "85")
      lot.when(26, told(undefined, undefined, 2))
      assert.strictEqual(price(lot, 26), "85")
    })
  })
})
