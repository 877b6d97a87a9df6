/**
 * Creates mechanisms of every kind for a load: lasting ones, and brief ones whose drawings, settlements and openings
 * happen within a few seconds.
 */
import { type Apis, Unexpected } from "../support/Apis.ts"
import type { Dice } from "../support/Dice.ts"
import type { Loaded } from "./Visits.ts"

const dayMillis = 86_400_000
const slotsBooked = 24

/** Opening hours without a gap. */
export const alwaysOpen = Object.fromEntries(
  ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"].map((weekday) => [
    weekday,
    [{ from: "00:00", to: "24:00" }]
  ])
)

const soon = (millis: number): string => new Date(Date.now() + millis).toISOString()

/** Creates a fast queue, a tight one, one in front of a site, one that admits by hand, and an appointment. */
export async function lasting(apis: Apis): Promise<ReadonlyArray<Loaded>> {
  const sequenceId = await apis.createSequence()
  const queue = async (name: string, settings: object, more: Partial<Loaded> = {}): Promise<Loaded> => {
    const id = await apis.create("/queues", { sequenceId, name, ...settings })
    return { kind: "queue", id, ...more }
  }
  return [
    await queue("fast", {
      admitRate: 60_000,
      admissionExpirationSeconds: 1,
      maxAdmissions: 5_000,
      recycleExpiredAdmissions: true
    }),
    await queue("tight", {
      admitRate: 3_000,
      admissionExpirationSeconds: 1,
      maxAdmissions: 200,
      recycleExpiredAdmissions: true,
      capacity: 12
    }),
    await queue(
      "in front",
      { admitRate: 6_000, insideLimit: 5, standby: true, admissionRenewal: { idleSeconds: 2, maxSeconds: 6 } },
      { isRenewed: true }
    ),
    await queue("by hand", { admitRate: 0, capacity: 100 }, { byHand: true }),
    await appointment(apis, sequenceId)
  ]
}

/** Creates a draw, two auctions, a timed release, and a waitlist for another release that opens soon. */
export async function brief(apis: Apis, dice: Dice): Promise<ReadonlyArray<Loaded>> {
  const sequenceId = await apis.createSequence()
  const create = (path: string, settings: object) => apis.create(path, { sequenceId, name: "brief", ...settings })
  const opening = await apis.createSequence()
  const announced = await apis.create("/timed-releases", {
    sequenceId: opening,
    name: "announced",
    openAt: soon(dice.between(300, 1_500)),
    supportsGuest: true,
    admissionExpirationSeconds: 1
  })
  const waitlist = await apis.create("/waitlists", { sequenceId: opening, name: "brief", capacity: 8 })
  const closing = dice.between(300, 2_500)
  const draw = await create("/draws", {
    closeAt: soon(closing),
    drawAt: soon(closing + dice.between(100, 800)),
    winnerCount: dice.between(1, 4),
    supportsGuest: true,
    admissionExpirationSeconds: 1,
    continueSelectingUntilCompleted: dice.chance(0.6)
  })
  const english = await create("/auctions", {
    closeAt: soon(closing),
    settleAt: soon(closing + dice.between(0, 500)),
    startPrice: "10",
    quantity: dice.between(1, 3),
    reservePrice: dice.chance(0.5) ? "14" : null,
    autoExtendSeconds: dice.between(0, 1),
    admissionExpirationSeconds: 1
  })
  const dutch = await create("/auctions", {
    auctionType: "dutch",
    settleAt: soon(dayMillis),
    startPrice: "100",
    floorPrice: "10",
    priceDropAmount: "1",
    priceDropIntervalSeconds: 1,
    quantity: dice.between(3, 12),
    admissionExpirationSeconds: 1
  })
  const timedRelease = await create("/timed-releases", {
    capacity: dice.between(3, 15),
    supportsGuest: true,
    admissionExpirationSeconds: 1
  })
  return [
    { kind: "waitlist", id: waitlist },
    { kind: "timed_release", id: announced },
    { kind: "draw", id: draw },
    { kind: "auction", id: english },
    { kind: "auction", id: dutch, isDutch: true },
    { kind: "timed_release", id: timedRelease }
  ]
}

async function appointment(apis: Apis, sequenceId: string): Promise<Loaded> {
  const id = await apis.create("/appointments", {
    sequenceId,
    name: "lasting",
    timeZone: "UTC",
    hours: alwaysOpen,
    slotDurationMinutes: 60,
    slotsFrom: soon(dayMillis),
    slotsUntil: soon(4 * dayMillis),
    maxCapacityPerSlot: 2
  })
  const query = `startDate=${soon(dayMillis).slice(0, 10)}&endDate=${soon(4 * dayMillis).slice(0, 10)}`
  const path = `/api/appointments/${id}/slots?${query}`
  const answer = await apis.consumer.send({ method: "GET", path, headers: apis.asShop })
  if (answer.status !== 200) throw new Unexpected(`GET ${path}`, answer)
  const slotIds = (answer.body.data ?? []).slice(0, slotsBooked).map((slot) => String(slot["id"]))
  return { kind: "appointment", id, slotIds }
}
