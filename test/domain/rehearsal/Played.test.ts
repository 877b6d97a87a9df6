/** What only playing a drop shows. */
import { assert, describe, it } from "@effect/vitest"
import { outcomeOf, type PlayedEvent } from "../../../src/domain/rehearsal/Outcome.ts"
import { playedFindings } from "../../../src/domain/rehearsal/Played.ts"
import type { CheckedMechanism } from "../../../src/domain/rehearsal/CheckedDrop.ts"
import { line } from "./rightDrop.ts"

const twoUnits: CheckedMechanism = { ...line, settings: { ...line.settings, maxAdmissions: 2 } }
const event = (type: string, consumerId: string): PlayedEvent => ({ type, at: 0, consumerId, data: {} })
const found = (
  events: ReadonlyArray<PlayedEvent>,
  refused: Record<string, number> = {},
  mechanism: CheckedMechanism = twoUnits
) => playedFindings(mechanism, outcomeOf(mechanism, events, new Map(Object.entries(refused))))
const codes = (...given: Parameters<typeof found>) => found(...given).map(({ code }) => code)
const entered = ["ann", "bob", "cleo"].map((name) => event("Entered", name))

describe("A mechanism that was played", () => {
  it("has no finding if its units are given away and the others are told", () => {
    assert.deepStrictEqual(
      codes([...entered, event("Granted", "ann"), event("Granted", "bob"), event("Denied", "cleo")]),
      []
    )
  })

  it("is told of if somebody waits for ever", () => {
    const [finding] = found([...entered, event("Granted", "ann"), event("Granted", "bob")])
    assert.deepInclude(finding, { code: "STILL_WAITING", severity: "warning", recordId: line.id })
    assert.include(finding!.message, "1 person")
  })

  it("is told of if units are left while people want them, but not for those who gave up", () => {
    assert.deepStrictEqual(codes([...entered, event("Granted", "ann")]), ["UNITS_LEFT_WHILE_WAITING"])
    assert.deepStrictEqual(
      codes([...entered, event("Granted", "ann"), event("Left", "bob"), event("Left", "cleo")]),
      []
    )
  })

  it("is told of if it gives away more than it has", () => {
    const grants = ["ann", "bob", "cleo"].map((name) => event("Granted", name))
    assert.deepStrictEqual(codes([...entered, ...grants]), ["MORE_GRANTS_THAN_UNITS"])
    const [first, second, third] = grants
    assert.deepStrictEqual(codes([...entered, first!, second!, event("Expired", "bob"), third!]), [])
  })

  it("is told of if nobody could enter it, with the reasons", () => {
    const [finding] = found([], { GUEST_NOT_ALLOWED: 7 })
    assert.deepInclude(finding, { code: "NOBODY_COULD_ENTER", severity: "error" })
    assert.include(finding!.message, "GUEST_NOT_ALLOWED 7 times")
    assert.deepStrictEqual(codes([]), [])
  })

  it("owes nothing below its reserve price, or if it only collects interest", () => {
    const auction = {
      ...line,
      kind: "auction",
      settings: { ...line.settings, quantity: 1, reservePrice: "9", auctionType: "english" }
    } as const
    assert.deepStrictEqual(codes([event("Entered", "ann"), event("Lost", "ann")], {}, auction), [])
    const waitlist = { ...line, kind: "waitlist", settings: line.settings } as const
    const told = ["ann", "bob", "cleo"].map((name) => event("Notified", name))
    assert.deepStrictEqual(codes([...entered, ...told], {}, waitlist), [])
    assert.deepStrictEqual(codes(entered, {}, waitlist), ["NEVER_NOTIFIED"])
  })
})
