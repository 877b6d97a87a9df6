/** The parts of prepared drops, each as it should be: a Friday in June, 18:00 in Berlin. */

export const opening = Date.parse("2033-06-03T16:00:00Z")
const hourMillis = 3_600_000

/** The instant so many hours after the opening. */
export const hours = (count: number): string => new Date(opening + count * hourMillis).toISOString()

type Body = Readonly<Record<string, unknown>>

export const queue: Body = {
  name: "The line",
  lobbyOpenAt: hours(-0.5),
  openAt: hours(0),
  closeAt: hours(2),
  admitRate: 60,
  maxAdmissions: 10,
  recycleExpiredAdmissions: true,
  admissionExpirationSeconds: 600
}

export const draw: Body = {
  name: "The raffle",
  openAt: hours(0),
  closeAt: hours(2),
  drawAt: hours(3),
  winnerCount: 5,
  beacon: "drand",
  continueSelectingUntilCompleted: true,
  admissionExpirationSeconds: 3_600
}

export const english: Body = {
  name: "Number one",
  openAt: hours(0),
  closeAt: hours(2),
  settleAt: hours(2.1),
  currencyCode: "EUR",
  quantity: 1,
  startPrice: "100",
  autoExtendSeconds: 60,
  admissionExpirationSeconds: 3_600
}

export const dutch: Body = {
  name: "The fall",
  auctionType: "dutch",
  openAt: hours(0),
  closeAt: hours(2),
  settleAt: hours(2.1),
  currencyCode: "EUR",
  quantity: 3,
  startPrice: "400",
  floorPrice: "100",
  priceDropAmount: "20",
  priceDropIntervalSeconds: 300,
  admissionExpirationSeconds: 3_600
}

export const release: Body = {
  name: "Members first",
  openAt: hours(0),
  closeAt: hours(2),
  capacity: 10,
  admissionExpirationSeconds: 900
}

const weekdays = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]

/** Opening hours from nine to five on these days of the week. */
export const openOn = (days: ReadonlyArray<string> = weekdays) =>
  Object.fromEntries(days.map((day) => [day, [{ from: "09:00", to: "17:00" }]]))

export const fitting: Body = {
  name: "The fitting",
  openAt: hours(0),
  closeAt: hours(2),
  slotsFrom: hours(8),
  slotsUntil: hours(32),
  hours: openOn(),
  slotDurationMinutes: 60,
  maxCapacityPerSlot: 2
}

export const waitlist: Body = { name: "Tell me", openAt: hours(-2), closeAt: hours(-1) }

export const variant: Body = {
  sku: "COAT-M",
  price: "450",
  inventoryQuantity: 100,
  inventoryPolicy: "deny",
  options: [{ option: "Size", value: "M" }]
}

/** The product of a drop, whose page is in the shop. */
export const product = { name: "The coat", url: "https://shop.example.com/coat", variants: [variant] }

/** A drop of one sequence. */
export const dropOf = (sequence: Body, more: Body = {}): Body => ({
  name: "The coat",
  timeZone: "Europe/Berlin",
  currencyCode: "EUR",
  openAt: hours(0),
  closeAt: hours(48),
  newProducts: [product],
  sequences: [{ name: "Everybody", ...sequence }],
  ...more
})

/** The text of an email to who has a grant. */
export const email = (content: string): Body => ({
  slug: "your-turn",
  title: "Your turn",
  status: "PUBLISHED",
  creativeDocument: {
    schemaVersion: 1,
    editor: "email-components-v1",
    kind: "transactional-email",
    body: {
      subjectTemplate: "{{experienceName}}: it is your turn",
      nodes: [
        { type: "p", content },
        { type: "button", href: "https://shop.example.com/coat", content: "To the shop" }
      ]
    }
  }
})
