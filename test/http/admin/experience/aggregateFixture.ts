/** Bodies that create experiences and sequences as a whole, and checks that every part was created. */
import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { Admin } from "../adminFixture.ts"

export const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString()

/** Returns a mechanism of every kind, and two of one kind, in the form that a sequence accepts. */
export const mechanismsOfEachKind = () => ({
  queues: [
    { name: "One", admitRate: 60, openAt: inDays(1) },
    { name: "Two", admitRate: 0, timeZone: "UTC", capacity: 5 }
  ],
  draws: [{ name: "Raffle", drawAt: inDays(2), winnerCount: 3 }],
  auctions: [{ name: "Sale", settleAt: inDays(3), startPrice: "10", reservePrice: "47.11" }],
  appointments: [{ name: "Visit", slotDurationMinutes: 30, slotsFrom: inDays(1), slotsUntil: inDays(5) }],
  timedReleases: [{ name: "Release", capacity: 7 }],
  waitlist: { name: "Interest", capacity: 9 }
})

/** Mechanisms with contradictory settings, one of every kind, and a valid one. */
export const senselessMechanisms = (early: string, late: string) => ({
  queues: [
    { name: "Q", admitRate: 1 },
    { name: "Q", admitRate: 1, lobbyOpenAt: early }
  ],
  draws: [{ name: "D", drawAt: early, winnerCount: 1, closeAt: late }],
  auctions: [{ name: "A", settleAt: late, startPrice: "1", auctionType: "dutch", floorPrice: "2" }],
  appointments: [{ name: "V", slotDurationMinutes: 30, slotsFrom: late, slotsUntil: early }],
  timedReleases: [{ name: "R", openAt: late, closeAt: early }],
  waitlist: { name: "W", openAt: late, closeAt: early }
})

/** The expected issues of these mechanisms, sorted by path. */
export const senselessIssues: ReadonlyArray<string> = [
  "appointments.0.slotsUntil: date_time",
  "auctions.0.floorPrice: amount",
  "auctions.0.priceDropAmount: amount",
  "auctions.0.priceDropIntervalSeconds: integer",
  "draws.0.drawAt: date_time",
  "queues.1.lobbyOpenAt: date_time",
  "timedReleases.0.closeAt: date_time",
  "waitlist.closeAt: date_time"
]

interface Shown {
  readonly id: string
  readonly [field: string]: unknown
}

/** Returns a sequence's mechanisms as its record shows them. */
interface ShownMechanisms {
  readonly queues: ReadonlyArray<Shown>
  readonly draws: ReadonlyArray<Shown>
  readonly auctions: ReadonlyArray<Shown>
  readonly appointments: ReadonlyArray<Shown>
  readonly timedReleases: ReadonlyArray<Shown>
  readonly waitlist: Shown
}

/**
 * Checks that each mechanism is live, is below the right parent, and equals the answer of its own operation. Absent
 * fields have the defaults of a mechanism that is created alone: the time zone Rome and euros, from the experience.
 */
export const assertLivingMechanisms = Effect.fnUntraced(function* (
  { queues, draws, auctions, appointments, timedReleases, waitlist }: ShownMechanisms,
  parents: { readonly experienceId: string; readonly sequenceId: string }
) {
  const { call } = yield* Admin
  assert.deepStrictEqual(
    queues.map(({ name }) => name),
    ["One", "Two"]
  )
  for (const [path, records] of Object.entries({
    queues,
    draws,
    auctions,
    appointments,
    "timed-releases": timedReleases,
    waitlists: [waitlist]
  })) {
    for (const record of records) {
      assert.deepStrictEqual((yield* call("GET", `/${path}/${record.id}`)).body, record, path)
      assert.deepInclude(record, parents)
      const { live } = (yield* call("GET", `/distributions/${record.id}`)).body
      assert.deepInclude(live, { parked: false })
    }
  }
  assert.deepInclude(queues[0], { timeZone: "Europe/Rome", supportsGuest: true, loyaltyHeadStartSeconds: 60 })
  assert.strictEqual(queues[1]!["timeZone"], "UTC")
  assert.deepInclude(auctions[0], { currencyCode: "EUR", minBidIncrement: "0.01", reservePrice: "47.11" })
})
