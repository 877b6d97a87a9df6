/**
 * Seeded journals of every kind: random settings, commands in batches as an actor runs them, wake-ups that come late, and
 * a crowd that comes at once.
 */
import * as Mechanism from "../../../src/domain/mechanism/Mechanism.ts"
import type { Command, Event } from "../../../src/domain/mechanism/Decider.ts"
import { type AnyDecider, runBatch } from "../../../src/engine/actor/Batch.ts"
import { Dice } from "../../e2e/support/Dice.ts"
import { entropyOf } from "../../simulation/entropyOf.ts"
import { createHash } from "node:crypto"

const start = Date.parse("2026-11-21T18:00:00Z")
const common = { name: "simulated", timeZone: "UTC", supportsGuest: true }
export const consumer = (n: number): string => `00000000-0000-7000-8000-${n.toString(16).padStart(12, "0")}`

/** A queue that admits one a second. */
export const oneASecond = {
  name: "Drop",
  timeZone: "UTC",
  supportsGuest: true,
  admitRate: 60,
  recycleExpiredAdmissions: false,
  loyaltyBiasEnabled: false,
  loyaltyHeadStartSeconds: 60
}

type AnyCommand = Command & { readonly [field: string]: unknown }

/** One kind: its settings, and the commands of one consumer. */
interface Play {
  readonly configuration: (dice: Dice) => object
  readonly command: (dice: Dice, consumerId: string, view: { readonly [field: string]: unknown }) => AnyCommand
}

const complete = (dice: Dice, consumerId: string): AnyCommand => ({
  _tag: "Complete",
  consumerId,
  by: "shop",
  ...(dice.chance(0.5) && { redemptionId: `order-${dice.between(1, 20)}` })
})
const deny = (consumerId: string): AnyCommand => ({ _tag: "Deny", consumerId, reason: "FRAUD_DETECTED", by: "admin" })
const enter = (dice: Dice, consumerId: string): AnyCommand => ({
  _tag: "Enter",
  consumerId,
  isGuest: dice.chance(0.5),
  loyaltyScore: dice.pick([0, 0, 0.25, 0.333_333_333, 1]),
  ...(dice.chance(0.2) && { risk: { score: dice.pick([0.2, 0.6]), reasons: ["SHARED_ADDRESS"] } })
})
const remove = (consumerId: string): AnyCommand => ({ _tag: "Remove", consumerId, by: "admin" })
const expiring = (dice: Dice) => (dice.chance(0.8) ? { admissionExpirationSeconds: dice.pick([1, 5, 30]) } : {})

const queue: Play = {
  configuration: (dice) => ({
    ...common,
    admitRate: dice.pick([0, 6, 60, 600, 90_000]),
    recycleExpiredAdmissions: dice.chance(0.5),
    loyaltyBiasEnabled: dice.chance(0.3),
    loyaltyHeadStartSeconds: 60,
    ...(dice.chance(0.3) && { lobbyOpenAt: start - 1_000, openAt: start + dice.between(500, 9_000) }),
    ...(dice.chance(0.3) && { closeAt: start + dice.between(20_000, 90_000) }),
    ...(dice.chance(0.4) && { maxAdmissions: dice.between(1, 25) }),
    ...(dice.chance(0.3) && { capacity: dice.between(1, 20) }),
    ...(dice.chance(0.3) && { standby: true }),
    ...(dice.chance(0.3) && { insideLimit: dice.between(1, 9) }),
    ...(dice.chance(0.3) ? { admissionRenewal: { idleSeconds: 3, maxSeconds: 12 } } : expiring(dice))
  }),
  command: (dice, consumerId, { grantSequence }) => {
    const roll = dice.next()
    if (roll < 0.5) return enter(dice, consumerId)
    if (roll < 0.58) return { _tag: "Leave", consumerId, ...(dice.chance(0.2) && { by: "admin" }) }
    if (roll < 0.63) return { _tag: "Admit", consumerId, by: "admin" }
    if (roll < 0.66) return { _tag: "AdmitNext", count: dice.between(1, 6), by: "admin" }
    if (roll < 0.69) return deny(consumerId)
    if (roll < 0.72) return remove(consumerId)
    if (roll < 0.8) return { _tag: "Renew", consumerId, grantSequence: grantSequence ?? 0 }
    if (roll < 0.84) return { _tag: dice.chance(0.5) ? "Pause" : "Resume", by: "admin" }
    return complete(dice, consumerId)
  }
}

const draw: Play = {
  configuration: (dice) => {
    const closeAt = start + dice.between(2_000, 20_000)
    return {
      ...common,
      closeAt,
      drawAt: closeAt + dice.pick([0, 500, 9_000]),
      winnerCount: dice.pick([1, 5, 30]),
      continueSelectingUntilCompleted: dice.chance(0.5),
      loyaltyBiasEnabled: dice.chance(0.4),
      loyaltyWeight: dice.pick([0, 1, 2.5]),
      ...expiring(dice),
      ...(dice.chance(0.3) && { capacity: dice.between(1, 30) }),
      ...(dice.chance(0.3) && { beacon: "drand" })
    }
  },
  command: (dice, consumerId) => {
    const roll = dice.next()
    if (roll < 0.6) return enter(dice, consumerId)
    if (roll < 0.7) return { _tag: "Leave", consumerId }
    if (roll < 0.74) return deny(consumerId)
    if (roll < 0.78) return remove(consumerId)
    return complete(dice, consumerId)
  }
}

const auction: Play = {
  configuration: (dice) => {
    const closeAt = start + dice.between(9_000, 40_000)
    const isDutch = dice.chance(0.4)
    return {
      ...common,
      openAt: start + 500,
      closeAt,
      settleAt: closeAt + dice.pick([0, 3_000]),
      currencyCode: "EUR",
      auctionType: isDutch ? "dutch" : "english",
      quantity: dice.between(1, 6),
      autoExtendSeconds: isDutch ? 0 : dice.pick([0, 5]),
      startPrice: "100",
      ...(isDutch
        ? { floorPrice: "10", priceDropAmount: "2.5", priceDropIntervalSeconds: 1 }
        : { minBidIncrement: "1", ...(dice.chance(0.3) && { reservePrice: "160" }) }),
      ...expiring(dice)
    }
  },
  command: (dice, consumerId) => {
    const roll = dice.next()
    if (roll < 0.15) return { _tag: "Enter", consumerId, isGuest: true }
    if (roll < 0.8) return { _tag: "Bid", consumerId, amount: `${dice.between(100, 2_500)}.${dice.between(10, 99)}` }
    if (roll < 0.84) return deny(consumerId)
    if (roll < 0.86) return remove(consumerId)
    if (roll < 0.865) return { _tag: "CloseNow", by: "admin" }
    return complete(dice, consumerId)
  }
}

const variants = [consumer(901), consumer(902)]
const timedRelease: Play = {
  configuration: (dice) => ({
    ...common,
    ...(dice.chance(0.3) && { openAt: start + 2_000 }),
    ...(dice.chance(0.5) && { closeAt: start + dice.between(20_000, 60_000) }),
    ...(dice.chance(0.8) && { capacity: dice.between(1, 12) }),
    ...(dice.chance(0.3) && { grantsPerConsumer: 2 }),
    ...(dice.chance(0.5) && { variantIds: variants }),
    ...expiring(dice)
  }),
  command: (dice, consumerId) => {
    const roll = dice.next()
    const variantId = dice.pick([undefined, ...variants])
    if (roll < 0.7) return { ...enter(dice, consumerId), ...(variantId !== undefined && { variantId }) }
    if (roll < 0.76) return { _tag: "Leave", consumerId }
    if (roll < 0.8) return deny(consumerId)
    if (roll < 0.82) return remove(consumerId)
    return complete(dice, consumerId)
  }
}

const appointment: Play = {
  configuration: (dice) => ({
    ...common,
    slotsFrom: start,
    slotsUntil: start + 3_600_000,
    hours: { saturday: [{ from: "00:00", to: "24:00" }] },
    slotDurationMinutes: 1,
    bufferMinutes: dice.pick([0, 1]),
    maxCapacityPerSlot: dice.between(1, 3),
    ...(dice.chance(0.3) && { closeAt: start + 60_000 })
  }),
  command: (dice, consumerId) => {
    const roll = dice.next()
    const startTime = start + dice.between(0, 6) * 60_000
    if (roll < 0.5) return { _tag: "Book", consumerId, isGuest: true, startTime }
    if (roll < 0.6) return { _tag: "Reschedule", consumerId, startTime, ...(dice.chance(0.3) && { by: "admin" }) }
    if (roll < 0.7) return { _tag: "Cancel", consumerId }
    if (roll < 0.8) return { _tag: "CheckIn", consumerId, by: "admin" }
    if (roll < 0.9) return { _tag: "Miss", consumerId, by: "admin" }
    if (roll < 0.95) return remove(consumerId)
    return { _tag: "Complete", consumerId, by: "admin" }
  }
}

const waitlist: Play = {
  configuration: (dice) => ({
    ...common,
    ...(dice.chance(0.5) && { closeAt: start + dice.between(20_000, 60_000) }),
    ...(dice.chance(0.4) && { capacity: dice.between(1, 12) })
  }),
  command: (dice, consumerId) => {
    const roll = dice.next()
    if (roll < 0.6) return enter(dice, consumerId)
    if (roll < 0.7) return { _tag: "Leave", consumerId }
    if (roll < 0.75) return remove(consumerId)
    if (roll < 0.8) return { _tag: "ScheduleNotice", at: start + dice.between(1, 40_000) }
    return { _tag: "MarkNotified", consumerId, ...(dice.chance(0.7) && { channel: "email" }) }
  }
}

const plays: { readonly [K in Mechanism.Kind]: Play } = {
  queue,
  draw,
  auction,
  appointment,
  timed_release: timedRelease,
  waitlist
}

/** Commands of an admin about the whole mechanism, which every kind has. */
const administer = (dice: Dice, configuration: object, at: number): AnyCommand => {
  const by = "admin"
  return dice.pick<() => AnyCommand>([
    () => ({ _tag: "Configure", configuration: { ...configuration, name: `renamed ${dice.between(1, 9)}` }, by }),
    () => ({
      _tag: "SetExperienceWindow",
      window: { revision: dice.between(1, 9), closeAt: start + dice.between(50_000, 90_000) },
      by
    }),
    () => ({ _tag: "Extend", to: { seconds: dice.between(1, 20) }, by }),
    () => ({ _tag: "Extend", to: { until: at + dice.between(1, 90_000) }, by }),
    () => ({ _tag: "End", by }),
    () => ({ _tag: "Archive", by })
  ])()
}

const signature = "5e".repeat(48)
const randomness = createHash("sha256").update(Buffer.from(signature, "hex")).digest("hex")

/** Returns the journal of a seed: what the actor's batches lead to. */
export const journalOf = (kind: Mechanism.Kind, seed: number): ReadonlyArray<Event> => {
  const dice = new Dice(seed)
  const decider: AnyDecider = Mechanism.deciders[kind]
  const state: unknown = decider.initial()
  const entropy = entropyOf(seed)
  const configuration = plays[kind].configuration(dice)
  const events: Array<Event> = []
  let now = start - 2_000
  const run = (commands: ReadonlyArray<Command>) => {
    const batch = runBatch(decider, state, commands, { now, entropy, level: 1 }).events
    events.push(...batch)
    // An extension of many grants goes on after the last of them.
    const extended = batch.filter(({ _tag }) => _tag === "GrantExtended")
    const extend = commands.find(({ _tag }) => _tag === "Extend")
    if (extend !== undefined && extended.length >= 1_000)
      run([{ ...extend, after: extended.at(-1)!.consumerId } as Command])
  }
  run([{ _tag: "Configure", configuration, by: "admin" } as Command])
  const people = dice.chance(0.05) ? 2_500 : dice.between(3, 40)
  const anyone = () => consumer(dice.between(1, people))
  const command = (): Command => {
    if (dice.chance(0.01)) return administer(dice, decider.configurationOf(state) as object, now)
    const consumerId = anyone()
    return plays[kind].command(dice, consumerId, decider.view(state, consumerId, now))
  }
  if (people > 1_000) {
    now = start + 3_000
    run(Array.from({ length: people }, (_, n) => plays[kind].command(dice, consumer(n + 1), {})))
    run([{ _tag: "Extend", to: { seconds: 7 }, by: "admin" } as Command])
  }
  for (let step = 0; step < 60; step++) {
    run(Array.from({ length: dice.between(0, 6) }, command))
    const round = events.find(({ _tag }) => _tag === "EntriesFixed") as { readonly beaconRound?: number } | undefined
    if (round?.beaconRound !== undefined)
      run([{ _tag: "ProvideBeacon", round: round.beaconRound, randomness, signature } as Command])
    const wakeAt = decider.wakeAt(state) ?? now
    now = Math.max(now, dice.chance(0.5) ? wakeAt + dice.pick([0, 0, 3, 400]) : now + dice.pick([0, 1, 50, 400, 3_000]))
  }
  for (let batch = 0; batch < 20; batch++) {
    now = Math.max(now, decider.wakeAt(state) ?? now)
    run([])
  }
  return events
}

/** Plays commands on the rules, each at its instant, and all that is due until nothing is. Returns the journal. */
export const played = (
  kind: Mechanism.Kind,
  configuration: object,
  commands: ReadonlyArray<readonly [at: number, command: AnyCommand]>
): ReadonlyArray<Event> => {
  const decider: AnyDecider = Mechanism.deciders[kind]
  const state: unknown = decider.initial()
  const entropy = entropyOf(1)
  const configure = { _tag: "Configure", configuration, by: "admin" }
  const pending = [[start, configure] as const, ...commands.toSorted(([a], [b]) => a - b)]
  const events: Array<Event> = []
  for (let next = 0; ;) {
    const at = pending[next]?.[0] ?? Infinity
    const now = Math.min(decider.wakeAt(state) ?? Infinity, at)
    if (now === Infinity) return events
    const due = now === at ? [pending[next++]![1]] : []
    events.push(...runBatch(decider, state, due, { now, entropy, level: 1 }).events)
  }
}
