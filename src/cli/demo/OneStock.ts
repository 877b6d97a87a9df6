/**
 * The pairs of the demo: one stock, from which a draw, a timed release, the queue and a waitlist sell, in this order. What
 * one does not sell goes to the next, and at the end every pair is in exactly one place.
 */
import { Clock, Effect, Schedule } from "effect"
import type { StockWithUnits } from "../../api/admin/StockApi.ts"
import type { Client, RequestError } from "../../load/Client.ts"
import type { Proof } from "../../load/Report.ts"
import { each, guests, shares } from "./SideEvents.ts"

/** When the queue opens, and how it admits. */
interface Pace {
  readonly lobbySeconds: number
  readonly admitRate: number
  readonly admissionExpirationSeconds: number
}

/** The entries of the draw close when it is played. Until then it is open for longer than any demo. */
const drawMillis = 86_400_000

/** Creates the product, its stock, and the experience with its mechanisms, as a brand's server would. Returns their ids. */
export const createDrop = Effect.fnUntraced(function* (client: Client, pairs: number, { lobbySeconds, ...pace }: Pace) {
  const now = yield* Clock.currentTimeMillis
  const pair = { price: "129.00", inventoryPolicy: "deny", inventoryQuantity: pairs } as const
  const { id: productId, variants } = yield* client.admin((api) =>
    api.products.createProduct({ payload: { name: "Sneaker", variants: [pair] } })
  )
  const made = { name: "Pairs", variantIds: [variants[0]!.id] }
  const { id: stockId } = yield* client.admin((api) => api.stocks.createStock({ payload: made }))
  const shared = { supportsGuest: true, stockId }
  const closeAt = now + drawMillis
  const queue = {
    ...shared,
    ...pace,
    name: "Sneaker queue",
    lobbyOpenAt: now - 1_000,
    openAt: now + lobbySeconds * 1_000,
    recycleExpiredAdmissions: true
  }
  const sequence = {
    name: "General sale",
    queues: [queue],
    draws: [{ ...shared, name: "Raffle", winnerCount: shares.draw, closeAt, drawAt: closeAt }],
    timedReleases: [{ ...shared, name: "Flash sale", capacity: shares.release }],
    waitlist: { ...shared, name: "What falls back", offers: true }
  }
  const payload = { name: "Sneaker drop", products: [{ productId }], sequences: [sequence] }
  const { id: experienceId, sequences } = yield* client.admin((api) => api.experiences.createExperience({ payload }))
  const [{ id: sequenceId, queues, draws, timedReleases, waitlist }] = sequences as [(typeof sequences)[number]]
  const ids = {
    queueId: queues[0]!.id,
    drawId: draws[0]!.id,
    releaseId: timedReleases[0]!.id,
    waitlistId: waitlist!.id
  }
  const takers = [
    { distributionId: ids.drawId, units: shares.draw },
    { distributionId: ids.releaseId, units: shares.release },
    { distributionId: ids.queueId },
    { distributionId: ids.waitlistId }
  ]
  yield* client.admin((api) => api.stocks.changeStock({ params: { id: stockId }, payload: { takers } }))
  return { experienceId, sequenceId, stockId, ...ids }
})

type Units = typeof StockWithUnits.Type

/** Reads the stock until it is so. Returns what it then is, or is after a minute. */
const stockWhen = (client: Client, id: string, isSo: (units: Units) => boolean) =>
  client
    .admin((api) => api.stocks.getStock({ params: { id } }))
    .pipe(
      Effect.repeat({
        until: isSo,
        schedule: Schedule.spaced("100 millis").pipe(Schedule.upTo({ duration: "1 minute" }))
      }),
      Effect.andThen(client.admin((api) => api.stocks.getStock({ params: { id } })))
    )

const members = 12

/**
 * Plays what falls back: guests join the waitlist, winners decline, and members who are offered a pair buy it. Needs that
 * nobody waits in the queue any more.
 */
export const playWaitlist = Effect.fnUntraced(function* (
  client: Client,
  { stockId, waitlistId }: { readonly stockId: string; readonly waitlistId: string },
  decline: Effect.Effect<number, RequestError>
) {
  const params = { waitlistId }
  const joined = yield* guests(client, members)
  yield* each(joined, ({ ask }) => ask((api) => api.waitlists.enter({ params })))
  const declined = yield* decline
  const bought = new Set<string>()
  const buyOffers = each(
    joined.filter(({ consumerId }) => !bought.has(consumerId)),
    Effect.fnUntraced(function* ({ consumerId, ask }) {
      const { status } = yield* ask((api) => api.waitlists.status({ params }))
      if (status !== "OFFERED") return
      yield* client.shop((api) => api.waitlists.complete({ params, payload: { consumerId } }))
      bought.add(consumerId)
    })
  )
  yield* Effect.suspend(() => buyOffers).pipe(
    Effect.repeat({
      until: () => bought.size >= Math.min(members, declined),
      schedule: Schedule.spaced("100 millis").pipe(Schedule.upTo({ duration: "1 minute" }))
    })
  )
  yield* stockWhen(client, stockId, isAtRest)
  const check: Proof = {
    claim: "what fell back was offered to the waitlist, and bought",
    holds: declined > 0 && bought.size >= Math.min(members, declined),
    detail: `${declined} winners declined, ${bought.size} of ${members} members bought a pair`
  }
  return { bought: bought.size, check }
})

/** Whether nothing is under way. */
const isAtRest = ({ underway }: Units): boolean => underway === 0

/** Checks that the units of the stock add up, and that it counts as sold what consumers have bought. */
export const unitsAddUp = Effect.fnUntraced(function* (client: Client, stockId: string, bought: number) {
  const units = yield* stockWhen(client, stockId, (one) => isAtRest(one) && one.sold >= bought)
  return addUp(units, bought)
})

/** The check of a stock's units, against what consumers have bought. */
export const addUp = (
  { onHand, free, underway, sold, allocations }: Pick<Units, "onHand" | "free" | "underway" | "sold" | "allocations">,
  bought: number
): Proof => {
  const allocated = allocations.reduce((sum, one) => sum + one.allocated, 0)
  const isWhole = [free, underway, sold, ...allocations.map((one) => one.allocated)].every((units) => units >= 0)
  return {
    claim: "the pairs of the one stock add up",
    holds: isWhole && onHand === free + allocated + underway + sold && sold === bought && onHand > 0,
    detail:
      `${onHand} on hand = ${free} free + ${allocated} allocated + ${underway} under way + ${sold} sold; ` +
      `${bought} were bought`
  }
}
