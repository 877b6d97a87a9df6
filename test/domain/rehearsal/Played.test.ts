/** What only playing a drop shows. */
import { assert, describe, it } from "@effect/vitest"
import { type Crowd, defaultCrowd } from "../../../src/domain/rehearsal/Crowd.ts"
import { outcomeOf, type PlayedEvent } from "../../../src/domain/rehearsal/Outcome.ts"
import { isExplained, playedFindings, unservedOf } from "../../../src/domain/rehearsal/Played.ts"
import type { FindingCode } from "../../../src/domain/rehearsal/Finding.ts"
import type { CheckedMechanism } from "../../../src/domain/rehearsal/CheckedDrop.ts"
import { all, line } from "./rightDrop.ts"

const twoUnits: CheckedMechanism = { ...line, settings: { ...line.settings, maxAdmissions: 2 } }
const event = (type: string, consumerId: string): PlayedEvent => ({ type, at: 0, consumerId, data: {} })
const found = (
  events: ReadonlyArray<PlayedEvent>,
  refused: Record<string, number> = {},
  mechanism: CheckedMechanism = twoUnits,
  crowd: Pick<Crowd, "checkout"> = defaultCrowd
) => playedFindings(mechanism, outcomeOf(mechanism, events, new Map(Object.entries(refused))), crowd)
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

  it("owes no more than its stock has left", () => {
    const unservedWith = (unitsLeft: number) => unservedOf(outcomeOf(line, entered, new Map(), unitsLeft))
    assert.deepStrictEqual([0, 1, 9].map(unservedWith), [0, 1, 3])
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
    assert.include(finding!.message, "7 were refused, because it takes no guests")
    assert.deepStrictEqual(codes([]), [])
  })

  it("is told of if many give up while there are units, and not once they are gone", () => {
    const crowd = Array.from({ length: 9 }, (_, person) => `${person}`)
    const gaveUp = crowd.slice(4).map((name) => event("Left", name))
    const line9 = crowd.map((name) => event("Entered", name))
    const granted = crowd.slice(0, 4).map((name) => event("Granted", name))
    const many = { ...line, settings: { ...line.settings, maxAdmissions: 8 } }
    const [finding] = found([...line9, ...granted, ...gaveUp], {}, many)
    assert.deepInclude(finding, { code: "GAVE_UP", field: "admitRate" })
    assert.include(finding!.message, "5 of 9 people gave up in “The line”, while there were units.")
    const four = { ...line, settings: { ...line.settings, maxAdmissions: 4 } }
    assert.deepStrictEqual(codes([...line9, ...granted, ...gaveUp], {}, four), [])
  })

  it("is told of if most turns lapse, or if it is full while units are left", () => {
    const crowd = Array.from({ length: 6 }, (_, person) => `${person}`)
    const lapsing = crowd.flatMap((name) => [event("Entered", name), event("Granted", name), event("Expired", name)])
    const many = { ...line, settings: { ...line.settings, maxAdmissions: 8, capacity: 6 } }
    const [lapsed, full] = [found(lapsing, {}, many), found(lapsing.slice(0, 3), { QUEUE_FULL: 4, SOLD_OUT: 9 }, many)]
    assert.deepInclude(lapsed[0], { code: "GRANTS_LAPSED", field: "admissionExpirationSeconds" })
    assert.include(lapsed[0]!.message, "6 of 6 turns of “The line” lapsed unused. A turn lasts 10 minutes.")
    assert.notInclude(lapsed[0]!.message, "need at most")
    const [tooShort] = found(lapsing, {}, many, { checkout: { median: 1_200_000, spread: 2 } })
    assert.include(tooShort!.message, "Of those who use one, 19 in 20 need at most 63 minutes.")
    assert.deepInclude(full[0], { code: "TURNED_AWAY", field: "capacity" })
    assert.include(full[0]!.message, "turned away 4 people, because it takes only 6 at one time")
  })

  it("is told of if an auction sells nothing, with the price", () => {
    const [fall] = found([], {}, all[3])
    assert.deepInclude(fall, { code: "NOTHING_SOLD", field: "floorPrice" })
    assert.include(fall!.message, "“The fall” sold nothing: nobody paid 100 EUR, the lowest price that it reached.")
    const [english] = found([event("Entered", "ann"), event("Lost", "ann")], {}, all[2])
    assert.deepInclude(english, { code: "NOTHING_SOLD", field: "reservePrice" })
    assert.include(english!.message, "of 1 person, none bid its reserve price of 250 EUR")
  })

  it("is explained by what the check says of it, and by nothing about another one", () => {
    const [slow] = found([...entered, event("Granted", "ann")])
    const because = (code: FindingCode, record: string, recordId: string) =>
      isExplained(slow!, line.id, [{ code, record, recordId }])
    assert.isTrue(because("NO_TAKER", "distribution", line.id))
    assert.isFalse(because("NO_TAKER", "distribution", all[1]!.id))
    assert.isFalse(because("NO_WEBHOOK", "distribution", line.id))
    const [closed] = found([], { CLOSED: 3 })
    assert.isTrue(isExplained(closed!, line.id, [{ code: "EXPERIENCE_OVER", record: "experience", recordId: "1" }]))
  })

  it("owes nothing below its reserve price, or if it only collects interest", () => {
    const auction = {
      ...line,
      kind: "auction",
      settings: { ...line.settings, quantity: 1, reservePrice: "9", auctionType: "english" }
    } as const
    assert.deepStrictEqual(codes([event("Entered", "ann"), event("Lost", "ann")], {}, auction), ["NOTHING_SOLD"])
    const waitlist = { ...line, kind: "waitlist", settings: line.settings } as const
    const told = ["ann", "bob", "cleo"].map((name) => event("Notified", name))
    assert.deepStrictEqual(codes([...entered, ...told], {}, waitlist), [])
    assert.deepStrictEqual(codes(entered, {}, waitlist), ["NEVER_NOTIFIED"])
  })
})
