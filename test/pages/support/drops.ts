/** A drop of each kind for staff to look at, and how people come into it. */
import type { At } from "./bringing.ts"
import { others } from "./others.ts"
import { auction, draw, fitting, queue, sale, states } from "./roomStates.ts"

type Entering = Pick<At, "apis" | "mechanism">

export const drops: {
  readonly [kind: string]: {
    readonly name: string
    /** What "New drop" calls it. */
    readonly part: string
    readonly sequence: () => object
    readonly enter: (at: Entering) => Promise<unknown>
  }
} = {
  queue: {
    name: "Aurora 1: Paris release",
    part: "queue",
    sequence: () => queue({ admitRate: 30, maxAdmissions: 40, admissionExpirationSeconds: 600 }),
    enter: async (at) => {
      await others(at, 24)
      const { body } = await at.apis.doAsAdmin("POST", `${at.mechanism}/admit`, { count: 8 })
      const admitted = (body as { readonly consumerIds?: ReadonlyArray<string> }).consumerIds ?? []
      for (const consumerId of admitted.slice(0, 5)) await at.apis.doAsShop(`${at.mechanism}/complete`, { consumerId })
    }
  },
  sold: {
    name: "Aurora 2: sold out",
    part: "queue",
    sequence: () => queue({ admitRate: 30, maxAdmissions: 5, admissionExpirationSeconds: 600 }),
    enter: (at) => drops["queue"]!.enter(at)
  },
  draw: { name: "Spring raffle", part: "draw", sequence: () => draw(3_600), enter: (at) => others(at, 7) },
  auction: {
    name: "Lot 1",
    part: "auction",
    sequence: () => ({ auctions: [{ ...auction(3_600).auctions[0], quantity: 2, reservePrice: "15.00" }] }),
    enter: async (at) => {
      for (const amount of ["10", "12.5", "14", "21"]) await others(at, 1, "bid", { amount })
    }
  },
  dutch: {
    name: "Falling",
    part: "falling",
    sequence: () => states["auction-dutch"]!.sequence(),
    enter: () => Promise.resolve()
  },
  sale: { name: "Noon sale", part: "release", sequence: () => sale(12), enter: (at) => others(at, 5) },
  appointment: {
    name: "Fitting",
    part: "appointment",
    sequence: fitting,
    enter: async (at) => {
      const { body } = await at.apis.seeAs(await at.apis.guest(), `${at.mechanism}/slots`)
      for (const { id: slotId } of body.data!.slice(0, 3)) await others(at, 1, "book", { slotId })
    }
  },
  waitlist: {
    name: "Tell me first",
    part: "waitlist",
    sequence: () => ({ waitlist: { name: "Tell me", supportsGuest: true } }),
    enter: (at) => others(at, 6)
  }
}
