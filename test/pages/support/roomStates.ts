/** The states of a room that a person can see, and how they come about on a real server. */
import type { Page } from "playwright-core"
import type { At, State } from "./bringing.ts"
import { others } from "./others.ts"

const after = (seconds: number) => new Date(Date.now() + seconds * 1_000).toISOString()

export const press = (page: Page, name: string) => page.getByRole("button", { name, exact: true }).first().click()
export const sees = (page: Page, text: string) => page.getByText(text).first().waitFor()

/** Presses these buttons one after the other, and waits for the text. */
const pressing =
  (text: string, ...buttons: ReadonlyArray<string>) =>
  async ({ page }: At) => {
    for (const button of buttons) await press(page, button)
    await sees(page, text)
  }

export const queue = (own: object = {}) => ({ queues: [{ name: "Front door", admitRate: 0, ...own }] })
export const draw = (closeIn: number) => ({
  draws: [{ name: "Raffle", winnerCount: 1, closeAt: after(closeIn), drawAt: after(closeIn + 1) }]
})
export const auction = (settleIn: number) => ({
  auctions: [{ name: "Lot 1", startPrice: "10.00", minBidIncrement: "1.00", settleAt: after(settleIn) }]
})
export const sale = (capacity: number) => ({ timedReleases: [{ name: "Sale", capacity, closeAt: after(7_200) }] })
export const fitting = () => ({
  appointments: [{ name: "Fitting", slotDurationMinutes: 120, slotsFrom: after(0), slotsUntil: after(3 * 86_400) }]
})

const bid = async ({ page }: At, amount: string) => {
  await page.getByRole("textbox", { name: "Your bid" }).fill(amount)
  await press(page, "Place a bid")
}

/** A draw whose entries end once all have entered, however long that takes. */
const drawn = (text: string, entered: number): State => ({
  sequence: () => draw(600),
  bring: async (at) => {
    if (entered > 0) await pressing("You are entered", "Enter the draw")(at)
    await others(at, 3)
    await at.apis.change(at.mechanism, { closeAt: after(1), drawAt: after(2) })
    await sees(at.page, text)
  }
})

/** The picture of a stage. It is not loaded: another one is drawn. */
const pictureUrl = "https://pictures.example/sneaker.svg"
const picture = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1200 700"><defs><radialGradient id="g"><stop
  stop-color="#7b6a4a"/><stop offset="1" stop-color="#14110d"/></radialGradient></defs><rect width="1200" height="700"
  fill="url(#g)"/><ellipse cx="610" cy="560" rx="420" ry="40" fill="#0b0a08"/><path fill="#f1ece3" d="M319 440c40-80
  110-100 180-155 50-40 70 20 120 60 70 55 190 45 235 85 35 30 25 90-10 86H350c-25 0-31-30-31-76z"/><rect x="313" y="516"
  width="567" height="39" rx="20" fill="#d8cfbf"/></svg>`

const gold = { background: "#0e0d0b", surface: "#1a1814", text: "#f4efe6", primary: "#c9a86a", fontHeading: "Georgia" }

/** A room with a picture, in the colours of a brand. */
const staged = (state: State): State => ({
  ...state,
  experience: { name: "Aurora 1", theme: { ...gold, headerImageUrl: pictureUrl }, ...state.experience },
  bring: async (at) => {
    await at.page.route(pictureUrl, (route) => route.fulfill({ contentType: "image/svg+xml", body: picture }))
    await at.page.reload()
    await state.bring(at)
  }
})

export const states: { readonly [name: string]: State } = {
  "queue-scheduled": { sequence: () => queue({ openAt: after(3_700) }), bring: ({ page }) => sees(page, "Opens in") },
  "queue-open": { sequence: () => queue({ admitRate: 60 }), bring: ({ page }) => sees(page, "Join the queue") },
  "queue-lobby": {
    sequence: () => queue({ lobbyOpenAt: after(1), openAt: after(600) }),
    bring: async ({ page, url }) => {
      while (!(await page.getByRole("button", { name: "Join the queue" }).isVisible())) await page.goto(`${url}/place`)
      await press(page, "Join the queue")
      await sees(page, "You are in the lobby")
    }
  },
  "queue-waiting": {
    sequence: () => queue({ admitRate: 30 }),
    bring: async (at) => {
      await others(at, 120)
      await pressing("You are in line", "Join the queue")(at)
    }
  },
  "stage-scheduled": staged({
    sequence: () => ({ ...queue({ openAt: after(90_000) }), waitlist: { name: "Tell me", supportsGuest: false } }),
    experience: { timeZone: "Asia/Tokyo" },
    bring: ({ page }) => sees(page, "Opens in")
  }),
  "stage-waiting": staged({
    sequence: () => queue({ admitRate: 20, maxAdmissions: 300, admissionExpirationSeconds: 600 }),
    bring: async (at) => {
      await others(at, 150)
      await pressing("You are in line", "Join the queue")(at)
      await at.page.locator("[data-range]:not([hidden])").waitFor()
    }
  }),
  "stage-turn": staged({
    sequence: () => queue({ admitRate: 600, admissionExpirationSeconds: 600 }),
    bring: async (at) => {
      await pressing("It is your turn", "Join the queue")(at)
      await press(at.page, "Stay here")
    }
  }),
  "queue-line": {
    sequence: () => queue(),
    bring: async (at) => {
      await pressing("You are in line", "Join the queue")(at)
      await at.page.getByRole("link", { name: "Check the line" }).click()
      await sees(at.page, "The line as data")
    }
  },
  "queue-turn": {
    sequence: () => queue({ admitRate: 600, admissionExpirationSeconds: 600 }),
    bring: async (at) => {
      await pressing("It is your turn", "Join the queue")(at)
      await press(at.page, "Stay here")
    }
  },
  "queue-leaving": {
    sequence: () => queue(),
    isAnswer: true,
    bring: async (at) => {
      await pressing("You are in line", "Join the queue")(at)
      await pressing("Are you sure?", "Leave the line")(at)
    }
  },
  "queue-left": {
    sequence: () => queue(),
    bring: async (at) => {
      await states["queue-leaving"]!.bring(at)
      await pressing("You have left", "Leave the line")(at)
    }
  },
  "queue-paused": {
    sequence: () => queue({ admitRate: 30 }),
    bring: async (at) => {
      await others(at, 120)
      await pressing("You are in line", "Join the queue")(at)
      await at.apis.doAsAdmin("POST", `${at.mechanism}/pause`, { reason: "HIGH_LOAD" })
      await sees(at.page, "Admission is paused")
    }
  },
  "queue-sold-out": {
    sequence: () => queue({ admitRate: 6_000, maxAdmissions: 1 }),
    bring: async (at) => {
      await others(at, 1)
      while (!(await at.page.getByText("Sold out").isVisible())) await at.page.reload()
    }
  },
  "queue-waiting-sold-out": {
    sequence: () => queue({ maxAdmissions: 1 }),
    bring: async (at) => {
      await others(at, 3)
      await pressing("You are in line", "Join the queue")(at)
      await at.apis.doAsAdmin("POST", `${at.mechanism}/admit`, { count: 1 })
      while (!(await at.page.getByText("Sold out").isVisible())) await at.page.reload()
    }
  },
  "queue-expired": {
    sequence: () => queue({ admitRate: 600, admissionExpirationSeconds: 5 }),
    bring: async (at) => {
      await pressing("It is your turn", "Join the queue")(at)
      await press(at.page, "Stay here")
      await sees(at.page, "Your time has run out")
    }
  },
  "queue-denied": {
    sequence: () => queue(),
    bring: async (at) => {
      await pressing("You are in line", "Join the queue")(at)
      await at.apis.change(at.mechanism, { closeAt: after(1) })
      await sees(at.page, "You were not admitted")
    }
  },
  "queue-closed": { sequence: () => queue({ closeAt: after(3) }), bring: ({ page }) => sees(page, "This ended") },
  "draw-scheduled": {
    sequence: () => ({
      draws: [
        { name: "Raffle", winnerCount: 3, openAt: after(90_000), closeAt: after(100_000), drawAt: after(100_060) }
      ]
    }),
    bring: ({ page }) => sees(page, "Opens in")
  },
  "draw-open": { sequence: () => draw(600), bring: ({ page }) => sees(page, "Enter the draw") },
  "draw-entered": { sequence: () => draw(600), bring: pressing("You are entered", "Enter the draw") },
  "draw-outcome": drawn("Proof of the draw", 1),
  "draw-closed": drawn("Proof of the draw", 0),
  "draw-won": {
    sequence: () => ({ draws: [{ ...draw(600).draws[0], winnerCount: 9, admissionExpirationSeconds: 3_600 }] }),
    bring: async (at) => {
      await drawn("You have won", 1).bring(at)
      await press(at.page, "Stay here")
    }
  },
  "draw-proof": {
    sequence: () => draw(600),
    bring: async (at) => {
      await drawn("Proof of the draw", 1).bring(at)
      // The room may be replaced while it is clicked.
      const address = await at.page.getByRole("link", { name: "Proof of the draw" }).getAttribute("href")
      await at.page.goto(new URL(address!, at.page.url()).href)
      await sees(at.page, "The draw is valid")
    }
  },
  "auction-scheduled": {
    sequence: () => ({ auctions: [{ ...auction(90_600).auctions[0], openAt: after(90_000), quantity: 3 }] }),
    bring: ({ page }) => sees(page, "Opens in")
  },
  "auction-open": { sequence: () => auction(600), bring: ({ page }) => sees(page, "Highest bid") },
  "auction-confirm": {
    sequence: () => auction(600),
    bring: async (at) => {
      await bid(at, "12.50")
      await sees(at.page, "Do you want to bid")
    }
  },
  "auction-winning": {
    sequence: () => auction(600),
    bring: async (at) => {
      await bid(at, "12.50")
      await pressing("You are among the winners", "Yes, bid $12.50")(at)
    }
  },
  "auction-outbid": {
    sequence: () => auction(600),
    bring: async (at) => {
      await states["auction-winning"]!.bring(at)
      await others(at, 1, "bid", { amount: "20" })
      await sees(at.page, "You have been outbid")
    }
  },
  "auction-too-low": {
    sequence: () => auction(600),
    bring: async (at) => {
      await bid(at, "2")
      await pressing("The bid is too low", "Yes, bid $2.00")(at)
    }
  },
  "auction-won": {
    sequence: () => auction(600),
    bring: async (at) => {
      await states["auction-winning"]!.bring(at)
      await at.apis.doAsAdmin("POST", `${at.mechanism}/close`, {})
      await sees(at.page, "You have won")
    }
  },
  "auction-lost": {
    sequence: () => auction(600),
    bring: async (at) => {
      await states["auction-outbid"]!.bring(at)
      await at.apis.doAsAdmin("POST", `${at.mechanism}/close`, {})
      await sees(at.page, "Not this time")
    }
  },
  "auction-dutch": {
    sequence: () => {
      const falling = { startPrice: "100", floorPrice: "40", priceDropAmount: "15", priceDropIntervalSeconds: 60 }
      const times = { openAt: after(1), settleAt: after(3_600) }
      return { auctions: [{ name: "Falling", auctionType: "dutch", quantity: 3, ...times, ...falling }] }
    },
    bring: ({ page }) => sees(page, "Current price")
  },
  "auction-purchase": {
    sequence: () => states["auction-dutch"]!.sequence(),
    isAnswer: true,
    bring: async (at) => {
      await states["auction-dutch"]!.bring(at)
      await pressing("Do you want to buy", "Buy for $100.00 or less")(at)
    }
  },
  "sale-scheduled": {
    sequence: () => ({ timedReleases: [{ ...sale(5).timedReleases[0], openAt: after(3_700) }] }),
    bring: ({ page }) => sees(page, "Opens in")
  },
  "sale-open": { sequence: () => sale(5), bring: ({ page }) => sees(page, "Choose") },
  "sale-turn": {
    sequence: () => sale(5),
    bring: async (at) => {
      await at.page.getByLabel("Sneaker 43").check()
      await pressing("Chosen:", "Get access")(at)
    }
  },
  "sale-sold-out": {
    sequence: () => sale(1),
    bring: async (at) => {
      await others(at, 1)
      await at.page.getByLabel("Sneaker 43").check()
      await pressing("Sold out", "Get access")(at)
    }
  },
  "appointment-open": { sequence: fitting, bring: ({ page }) => sees(page, "Free slots") },
  "appointment-booked": {
    sequence: fitting,
    bring: async ({ page }) => {
      await page.locator(".slots button").first().click()
      await sees(page, "Your appointment is booked")
    }
  },
  "appointment-cancelled": {
    sequence: fitting,
    bring: async (at) => {
      await states["appointment-booked"]!.bring(at)
      await pressing("Are you sure?", "Cancel the booking")(at)
      await pressing("Your booking is cancelled", "Cancel the booking")(at)
    }
  },
  "waitlist-open": {
    sequence: () => ({ waitlist: { name: "Tell me", supportsGuest: false } }),
    bring: ({ page }) => sees(page, "Join the waitlist")
  },
  "waitlist-code": {
    sequence: () => ({ waitlist: { name: "Tell me", supportsGuest: false } }),
    bring: async (at) => {
      await at.page.getByLabel("Email address").fill("ada@example.com")
      await pressing("We have sent a code", "Join the waitlist")(at)
    }
  },
  "sign-in": { sequence: () => queue(), bring: ({ page, url }) => page.goto(`${url}/place?show=sign-in`) },
  "sign-in-phone": { sequence: () => queue(), bring: ({ page, url }) => page.goto(`${url}/place?show=sign-in-phone`) },
  gate: {
    sequence: () => queue(),
    experience: { challenge: { mode: "always" } },
    isAnswer: true,
    bring: async (at) => {
      await at.page.route(widgetAddress, (route) =>
        route.fulfill({ contentType: "text/javascript", body: widgetScript })
      )
      await pressing("Please confirm that you are not a robot.", "Join the queue")(at)
      await sees(at.page, widgetText)
    }
  },
  "not-found": { sequence: () => queue(), bring: ({ page, url }) => page.goto(`${url}/nothing`) }
}

/** The provider of the gate. Its script is not loaded: another one draws what visitors see of it. */
const widgetAddress = "https://challenges.cloudflare.com/turnstile/v0/api.js"
const widgetText = "Success!"
const widgetScript = `
  const element = document.querySelector("form [data-sitekey]")
  element.style.cssText = "max-width:300px;padding:1rem;margin-block:1rem;border:1px solid"
  element.textContent = "${widgetText}"`
