/** Drops with one mistake each that a brand really makes, by the part of the check that names it. */
import { type CheckedDrop, type CheckedSettings, mechanismsOf } from "../../../src/domain/rehearsal/CheckedDrop.ts"
import type { FindingCode } from "../../../src/domain/rehearsal/Finding.ts"
import { all, at, closing, hour, id, line, opening, queue, right, variant } from "./rightDrop.ts"

/** What went wrong, the drop, the code of its only finding, and words of it. */
export type Mistake = readonly [what: string, drop: CheckedDrop, code: FindingCode, words: string]

const sequence = right.sequences[0]!

/** The drop with other settings of one mechanism, which is named by its place in the list. */
export const withSettings = (
  index: number,
  settings: Partial<CheckedSettings>,
  without: ReadonlyArray<string> = []
) => {
  const one = all[index]!
  const kept = Object.entries({ ...one.settings, ...settings }).filter(([name]) => !without.includes(name))
  const changed = { ...one, settings: Object.fromEntries(kept) as unknown as CheckedSettings }
  return { ...right, sequences: [{ ...sequence, mechanisms: all.with(index, changed) }] }
}
const withSequence = (change: Partial<typeof sequence>) => ({ ...right, sequences: [{ ...sequence, ...change }] })
const withExperience = (change: Partial<CheckedDrop["experience"]>) => ({
  ...right,
  experience: { ...right.experience, ...change }
})
const withVariant = (change: object) => ({
  ...right,
  products: [
    {
      ...right.products[0]!,
      variants: [
        { ...variant, id: id(21), sku: "COAT-S" },
        { ...variant, ...change }
      ]
    }
  ]
})
/** The drop with the queue alone, whose settings are changed. */
const lineOnly = (drop: CheckedDrop, settings: Partial<CheckedSettings>) => ({
  ...drop,
  sequences: [{ ...sequence, mechanisms: [{ ...line, settings: { ...queue, ...settings } }] }]
})

/** Drops without what a drop is. */
export const emptyMistakes: ReadonlyArray<Mistake> = [
  ["nothing was added to the drop", { ...right, sequences: [] }, "NO_MECHANISM", "has no mechanism"],
  [
    "a second sequence was left empty",
    { ...right, sequences: [sequence, { ...sequence, id: id(30), name: "Friends", mechanisms: [] }] },
    "SEQUENCE_EMPTY",
    "“Friends” has no mechanism"
  ]
]

/** Openings, closings and zones. */
export const timeMistakes: ReadonlyArray<Mistake> = [
  [
    "the year of the closing is last year's",
    lineOnly(withExperience({ openAt: at("2025-11-27T17:00:00Z"), closeAt: at("2025-11-28T17:00:00Z") }), {
      experienceWindow: { revision: 1, closeAt: at("2025-11-28T17:00:00Z") }
    }),
    "EXPERIENCE_OVER",
    "The drop closed on Friday, 2025-11-28 18:00 (Europe/Berlin)"
  ],
  [
    "the queue kept the dates of the drop it was copied from",
    lineOnly(withExperience({ openAt: at("2026-10-01T08:00:00Z") }), {
      openAt: at("2026-10-27T17:00:00Z"),
      lobbyOpenAt: at("2026-10-27T16:00:00Z"),
      closeAt: at("2026-10-28T17:00:00Z")
    }),
    "MECHANISM_OVER",
    "“The line” closed on Wednesday, 2026-10-28 18:00"
  ],
  [
    "a queue opens after the drop closes",
    withSettings(0, { openAt: closing + hour, closeAt: closing + 2 * hour, lobbyOpenAt: closing }),
    "OPENS_AFTER_EXPERIENCE_CLOSES",
    "It never opens"
  ],
  [
    "a queue closes before the drop opens",
    withSettings(0, { openAt: opening - 12 * hour, lobbyOpenAt: opening - 13 * hour, closeAt: opening - hour }),
    "CLOSES_BEFORE_EXPERIENCE_OPENS",
    "It never opens"
  ],
  [
    "members should come an hour before the drop",
    withSettings(4, { openAt: opening - hour }),
    "OPENS_BEFORE_EXPERIENCE",
    "but the drop opens only on Friday, 2026-11-27 18:00"
  ],
  [
    "the drop was shortened",
    withSettings(4, { closeAt: closing + hour }),
    "CLOSES_AFTER_EXPERIENCE",
    "already closes on"
  ],
  [
    "six in the evening was meant, and another zone was set",
    withSettings(4, { openAt: at("2026-11-28T02:00:00Z") }),
    "OPENS_AT_NIGHT",
    "Saturday, 2026-11-28 03:00"
  ],
  ["one mechanism is in another zone", withSettings(4, { timeZone: "UTC" }), "TIME_ZONE_DIFFERS", "two local times"],
  ["the lobby opens ten seconds before", withSettings(0, { lobbyOpenAt: opening - 10_000 }), "LOBBY_TOO_SHORT", "10 s"]
]

/** Settings of single mechanisms. */
export const termMistakes: ReadonlyArray<Mistake> = [
  [
    "the rate was meant by the second",
    withSettings(0, { admitRate: 1, closeAt: opening + hour }),
    "RATE_TOO_SLOW",
    "the last of 200 units in “The line” would wait until Friday, 2026-11-27 21:20"
  ],
  ["the rate was left at zero", withSettings(0, { admitRate: 0 }), "RATE_ZERO", "its rate is 0"],
  [
    "fewer may wait than units are there",
    withSettings(0, { capacity: 100 }),
    "QUEUE_BELOW_UNITS",
    "at most 100 people"
  ],
  [
    "unused turns are not given to others",
    withSettings(0, { recycleExpiredAdmissions: false }),
    "UNITS_NOT_GIVEN_AGAIN",
    "stays unsold"
  ],
  [
    "a turn never expires",
    withSettings(0, {}, ["admissionExpirationSeconds"]),
    "GRANT_NEVER_EXPIRES",
    "keeps a unit for ever"
  ],
  [
    "ten minutes were typed as 10",
    withSettings(0, { admissionExpirationSeconds: 10 }),
    "GRANT_TOO_SHORT",
    "lasts 10 s"
  ],
  ["a draw without beacon", withSettings(1, {}, ["beacon"]), "DRAW_WITHOUT_BEACON", "without public randomness"],
  [
    "the drawing is in the next month",
    withSettings(1, { drawAt: closing + 30 * 24 * hour }),
    "DRAW_LATE",
    "draws 30 days after it closes"
  ],
  ["the auction is in dollars", withSettings(2, { currencyCode: "USD" }), "CURRENCY_DIFFERS", "bids in USD"],
  ["late bids move nothing", withSettings(2, { autoExtendSeconds: 0 }), "NO_EXTENSION", "in the last second"],
  [
    "the reserve is below the start",
    withSettings(2, { reservePrice: "90" }),
    "RESERVE_WITHOUT_EFFECT",
    "changes nothing"
  ],
  [
    "the price falls too rarely",
    withSettings(3, { priceDropIntervalSeconds: 3_600 }),
    "PRICE_STAYS_ABOVE_FLOOR",
    "falls 24 times before the closing, and never reaches 100"
  ],
  [
    "opening hours are on days that are not there",
    withSettings(5, { hours: { sunday: [{ from: "09:00", to: "17:00" }] } }),
    "NO_SLOTS",
    "has no slot"
  ],
  [
    "the slots are before booking opens",
    withSettings(5, { slotsFrom: at("2026-11-23T00:00:00Z"), slotsUntil: at("2026-11-25T23:00:00Z") }),
    "SLOTS_OVER_AT_OPENING",
    "its last slot has begun"
  ],
  [
    "a waitlist stands alone",
    { ...right, sequences: [sequence, { ...sequence, id: id(31), name: "Later", mechanisms: [all[6]!] }] },
    "WAITLIST_WITHOUT_OPENING",
    "never notified"
  ],
  [
    "one order a person, and guests",
    withSequence({ orderLimitPerConsumer: 1, mechanisms: [line] }),
    "GUESTS_WITH_ORDER_LIMIT",
    "“The line” also takes guests"
  ],
  [
    "the audience has no members yet",
    withSequence({ audience: { name: "Members", memberCount: 0 } }),
    "AUDIENCE_EMPTY",
    "“Everybody” is only for the audience “Members”, which has no members"
  ]
]

/** Units, stock and products. */
export const unitMistakes: ReadonlyArray<Mistake> = [
  [
    "a product is assigned that is not offered",
    withSequence({ productSelectionMode: "SYSTEM_ASSIGNED", sequenceProducts: [{ productId: id(99), weight: 1 }] }),
    "ASSIGNED_NOT_OFFERED",
    "does not offer them"
  ],
  [
    "products are assigned, and none is named",
    withSequence({ productSelectionMode: "SYSTEM_ASSIGNED" }),
    "NOTHING_TO_ASSIGN",
    "no product to assign"
  ],
  ["no product is offered", { ...right, products: [] }, "NO_PRODUCT", "offers no product"],
  [
    "the product has no page in the shop",
    { ...right, products: [{ ...right.products[0]!, url: null }] },
    "NO_WAY_TO_SHOP",
    "find no way to your shop while their time runs"
  ],
  [
    "more is given away than is in stock",
    { ...right, products: [{ ...right.products[0]!, variants: [{ ...variant, inventoryQuantity: 12 }] }] },
    "MORE_UNITS_THAN_STOCK",
    "276 units are given away, but only 12 are in stock"
  ],
  [
    "a mechanism is no taker of its stock",
    lineOnly({ ...right, stocks: [{ id: "pairs", name: "Pairs", onHand: 5, takers: [] }] }, { stockId: "pairs" }),
    "NO_TAKER",
    "“Pairs” does not list it"
  ],
  [
    "the fixed shares are more than a stock has",
    lineOnly(
      {
        ...right,
        stocks: [
          {
            id: "pairs",
            name: "Pairs",
            onHand: 5,
            takers: mechanismsOf(right).map(({ id }) => ({ distributionId: id, units: 4 }))
          }
        ]
      },
      { stockId: "pairs" }
    ),
    "SHARES_ABOVE_STOCK",
    "units, but it has only 5"
  ],
  ["a size was never stocked", withVariant({ inventoryQuantity: 0 }), "VARIANT_SOLD_OUT", "“The coat”, COAT-M"],
  [
    "a size has no price, where nothing is auctioned",
    lineOnly(withVariant({ price: null }), {}),
    "VARIANT_WITHOUT_PRICE",
    "“The coat”, COAT-M has no price"
  ]
]

/** Texts, pages, webhooks, messages, origins. */
export const surroundingMistakes: ReadonlyArray<Mistake> = [
  [
    "the webhook failed in the test",
    { ...right, webhooks: [{ ...right.webhooks[0]!, status: "DISABLED", disabledReason: "FAILING" }] },
    "WEBHOOK_DISABLED",
    "its endpoint failed"
  ],
  [
    "the German text was forgotten",
    withExperience({ i18n: { en: { enterQueue: "Get in line", title: "The coat" }, de: { enterQueue: "Anstellen" } } }),
    "TEXT_MISSING",
    "The texts in “de” lack title"
  ],
  [
    "a language was written out",
    withExperience({ i18n: { german: { enterQueue: "Anstellen" } } }),
    "LANGUAGE_UNKNOWN",
    "“german” is no language"
  ],
  [
    "a page is a draft",
    { ...right, pages: [{ id: id(13), title: "The story", status: "DRAFT" }] },
    "PAGE_NOT_PUBLISHED",
    "a draft that nobody sees"
  ],
  ["no webhook reports orders", { ...right, webhooks: [] }, "NO_WEBHOOK", "No webhook reports orders"],
  [
    "winners are not told",
    { ...right, organization: { ...right.organization, grantMessages: "off" } },
    "WINNERS_NOT_TOLD",
    "gets no message"
  ],
  [
    "a placeholder is misspelled",
    { ...right, messages: [{ ...right.messages[0]!, placeholders: ["consumerNmae", "expiresAt"] }] },
    "PLACEHOLDER_UNKNOWN",
    "“Your turn” has the placeholder {{consumerNmae}}, which is unknown"
  ],
  [
    "the message does not say until when a turn lasts",
    { ...right, messages: [{ ...right.messages[0]!, placeholders: ["consumerName"] }] },
    "PLACEHOLDER_MISSING",
    "“Your turn” does not say until when a turn lasts"
  ],
  ["any site may call", { ...right, organization: { grantMessages: "email" } }, "ANY_ORIGIN", "from any site"]
]
