/** A drop of every kind of mechanism, as it should be. */
import { defaultHours } from "../../../src/domain/appointment/Hours.ts"
import type { CheckedDrop, CheckedMechanism, CheckedSettings } from "../../../src/domain/rehearsal/CheckedDrop.ts"

export const at = (text: string): number => Date.parse(text)
export const id = (n: number): string => `00000000-0000-7000-8000-${n.toString().padStart(12, "0")}`

const common = { timeZone: "Europe/Berlin", supportsGuest: true } as const
export const hour = 3_600_000

/** Friday, 27 November 2026, 18:00 in Berlin. */
export const opening = at("2026-11-27T17:00:00Z")
export const closing = at("2026-11-28T17:00:00Z")

export const queue: CheckedSettings = {
  ...common,
  name: "The line",
  openAt: opening,
  closeAt: closing,
  lobbyOpenAt: opening - hour / 2,
  admitRate: 60,
  maxAdmissions: 200,
  recycleExpiredAdmissions: true,
  admissionExpirationSeconds: 600
}
const draw: CheckedSettings = {
  ...common,
  name: "The raffle",
  openAt: opening,
  closeAt: closing - hour,
  drawAt: closing,
  winnerCount: 20,
  beacon: "drand",
  admissionExpirationSeconds: 86_400
}
const english: CheckedSettings = {
  ...common,
  name: "Number one",
  openAt: opening,
  closeAt: closing,
  auctionType: "english",
  currencyCode: "EUR",
  quantity: 1,
  autoExtendSeconds: 120,
  startPrice: "100",
  reservePrice: "250",
  admissionExpirationSeconds: 86_400
}
const dutch: CheckedSettings = {
  ...common,
  name: "The fall",
  openAt: opening,
  closeAt: closing,
  auctionType: "dutch",
  currencyCode: "EUR",
  quantity: 5,
  autoExtendSeconds: 0,
  startPrice: "500",
  floorPrice: "100",
  priceDropAmount: "10",
  priceDropIntervalSeconds: 600,
  admissionExpirationSeconds: 3_600
}
const release: CheckedSettings = {
  ...common,
  name: "Members first",
  openAt: opening,
  closeAt: closing,
  capacity: 50,
  admissionExpirationSeconds: 900
}
const fitting: CheckedSettings = {
  ...common,
  name: "The fitting",
  openAt: opening,
  closeAt: closing,
  slotsFrom: at("2026-11-30T00:00:00Z"),
  slotsUntil: at("2026-12-04T23:00:00Z"),
  hours: defaultHours,
  slotDurationMinutes: 30,
  bufferMinutes: 0,
  maxCapacityPerSlot: 2
}
const interest: CheckedSettings = { ...common, name: "Tell me", closeAt: opening - hour }

export const line: CheckedMechanism = { id: id(1), kind: "queue", settings: queue }
export const all: ReadonlyArray<CheckedMechanism> = [
  line,
  { id: id(2), kind: "draw", settings: draw },
  { id: id(3), kind: "auction", settings: english },
  { id: id(4), kind: "auction", settings: dutch },
  { id: id(5), kind: "timed_release", settings: release },
  { id: id(6), kind: "appointment", settings: fitting },
  { id: id(7), kind: "waitlist", settings: interest }
]

export const variant = {
  id: id(20),
  sku: "COAT-M",
  price: "450",
  inventoryQuantity: 300,
  inventoryPolicy: "deny"
} as const

export const right: CheckedDrop = {
  now: at("2026-11-20T09:00:00Z"),
  experience: {
    id: id(10),
    openAt: opening,
    closeAt: closing,
    timeZone: "Europe/Berlin",
    currencyCode: "EUR",
    i18n: { en: { enterQueue: "Get in line" }, de: { enterQueue: "Anstellen" } }
  },
  sequences: [
    {
      id: id(11),
      name: "Everybody",
      productSelectionMode: null,
      sequenceProducts: [],
      orderLimitPerConsumer: null,
      audience: { name: "Members", memberCount: 200 },
      mechanisms: all
    }
  ],
  stocks: [],
  products: [{ productId: id(12), name: "The coat", url: "https://shop.example.com/coat", variants: [variant] }],
  messages: [{ id: id(15), title: "Your turn", placeholders: ["consumerName", "expiresAtText"] }],
  pages: [{ id: id(13), title: "The story", status: "PUBLISHED" }],
  webhooks: [
    {
      id: id(14),
      url: "https://shop.example.com/usher",
      events: ["order.paid", "distribution.admitted"],
      status: "ENABLED",
      disabledReason: null
    }
  ],
  organization: { grantMessages: "email", allowedOrigins: ["https://shop.example.com"] }
}
