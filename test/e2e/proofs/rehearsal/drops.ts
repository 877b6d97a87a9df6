/**
 * Live drops with one mistake each that a brand really makes, and one without. Each is rehearsed with a small crowd; the
 * report has to say what is wrong in these words.
 */
import type { CrowdFile } from "../../../../src/domain/rehearsal/Crowd.ts"
import type { FindingCode } from "../../../../src/domain/rehearsal/Finding.ts"
import type { PlayedCode } from "../../../../src/domain/rehearsal/Played.ts"
import {
  draw,
  dropOf,
  dutch,
  email,
  english,
  fitting,
  hours,
  openOn,
  product,
  queue,
  release,
  variant,
  waitlist
} from "./parts.ts"

type Body = Readonly<Record<string, unknown>>

/** A live drop that is to be rehearsed. */
export interface PreparedDrop {
  /** What went wrong. */
  readonly mistake: string
  readonly experience: Body
  /** Settings of the organization that differ from the right ones. */
  readonly organization?: Body
  /** What else there is. Absent: a webhook that reports orders. */
  readonly webhook?: "none" | "gone"
  readonly page?: Body
  /** An audience for which the sequence is reserved, and whether it has a member. */
  readonly audience?: "empty" | "full"
  /** A stock of the drop's units, and what its first mechanism gets of it. Null: it is not listed. */
  readonly taker?: Body | null
  readonly crowd?: CrowdFile
  /** The only finding, and words of it. Absent: nothing is wrong. */
  readonly finding?: { readonly code: FindingCode | PlayedCode; readonly words: string }
}

const withQueue = (settings: Body, more: Body = {}) => dropOf({ queues: [{ ...queue, ...settings }] }, more)
const withProduct = (change: Body) => ({ newProducts: [{ ...product, ...change }] })
const uncounted = withProduct({ variants: [{ ...variant, inventoryPolicy: "continue" }] })

/** Dates and places. */
const timeMistakes: ReadonlyArray<PreparedDrop> = [
  {
    mistake: "the line is at a rate at which the last would wait until Thursday",
    experience: withQueue(
      { admitRate: 1, maxAdmissions: 8_000, closeAt: hours(20 * 24) },
      { ...uncounted, closeAt: hours(20 * 24) }
    ),
    crowd: { people: 8 },
    finding: {
      code: "RATE_TOO_SLOW",
      words: "At 1 a minute, the last of 8,000 units in “The line” would wait until Thursday"
    }
  },
  {
    mistake: "the line opens after the drop has closed",
    experience: dropOf({
      queues: [{ ...queue, lobbyOpenAt: hours(72), openAt: hours(73), closeAt: hours(75) }],
      timedReleases: [release]
    }),
    finding: {
      code: "OPENS_AFTER_EXPERIENCE_CLOSES",
      words: "“The line” opens on Monday, 2033-06-06 19:00 (Europe/Berlin), after the drop closes on Sunday"
    }
  },
  {
    mistake: "the closing is in the year before",
    experience: dropOf(
      { queues: [{ ...queue, lobbyOpenAt: undefined, openAt: undefined, closeAt: undefined }] },
      { openAt: "2025-06-03T16:00:00Z", closeAt: "2025-06-04T16:00:00Z" }
    ),
    finding: { code: "EXPERIENCE_OVER", words: "The drop closed on Wednesday, 2025-06-04 18:00" }
  },
  {
    mistake: "six in the evening was meant, and another zone was set",
    experience: withQueue({ lobbyOpenAt: hours(8.5), openAt: hours(9), closeAt: hours(12) }),
    finding: { code: "OPENS_AT_NIGHT", words: "“The line” opens at night, on Saturday, 2033-06-04 03:00" }
  },
  {
    mistake: "the appointments are on days on which nobody works",
    experience: dropOf({ appointments: [{ ...fitting, hours: openOn(["wednesday"]) }] }),
    finding: { code: "NO_SLOTS", words: "“The fitting” has no slot" }
  }
]

/** Units and stock. */
const unitMistakes: ReadonlyArray<PreparedDrop> = [
  {
    mistake: "more is given away than is in stock",
    experience: withQueue({}, withProduct({ variants: [{ ...variant, inventoryQuantity: 4 }] })),
    finding: { code: "MORE_UNITS_THAN_STOCK", words: "“The line”: 10 units are given away, but only 4 are in stock" }
  },
  {
    mistake: "a size was never stocked",
    experience: withQueue(
      {},
      withProduct({
        variants: [
          variant,
          { ...variant, sku: "COAT-L", inventoryQuantity: 0, options: [{ option: "Size", value: "L" }] }
        ]
      })
    ),
    finding: { code: "VARIANT_SOLD_OUT", words: "“The coat”, COAT-L has no unit in stock" }
  },
  {
    mistake: "the product leads to no page in the shop",
    experience: withQueue({}, withProduct({ url: undefined })),
    finding: { code: "NO_WAY_TO_SHOP", words: "find no way to your shop while their time runs" }
  },
  {
    mistake: "the line sells from a stock that does not list it",
    experience: withQueue({}),
    taker: null,
    finding: { code: "NO_TAKER", words: "“The line” gets no unit: “Coats” does not list it" }
  },
  {
    mistake: "the stock gives its units to the line only after it has closed",
    experience: withQueue({}),
    taker: { from: hours(24) },
    crowd: { patience: { median: "1 day", spread: 1.2 } },
    finding: {
      code: "UNITS_LEFT_WHILE_WAITING",
      words: "got nothing from “The line”, although there were units for them"
    }
  }
]

/** Settings of mechanisms. */
const termMistakes: ReadonlyArray<PreparedDrop> = [
  {
    mistake: "a draw without beacon",
    experience: dropOf({ draws: [{ ...draw, beacon: undefined }] }),
    finding: { code: "DRAW_WITHOUT_BEACON", words: "“The raffle” draws without public randomness" }
  },
  {
    mistake: "the auction is in dollars",
    experience: dropOf({ auctions: [{ ...english, currencyCode: "USD" }] }),
    finding: { code: "CURRENCY_DIFFERS", words: "“Number one” takes bids in USD, but the drop is in EUR" }
  },
  {
    mistake: "turns are too short for the checkout",
    experience: withQueue({ admissionExpirationSeconds: 120 }),
    crowd: { checkout: { median: "4 minutes", spread: 1.5 }, patience: { median: "1 hour", spread: 1.5 } },
    finding: { code: "GRANTS_LAPSED", words: "turns of “The line” lapsed unused. A turn lasts 2 minutes." }
  },
  {
    mistake: "the line is so slow that people give up",
    experience: withQueue({ admitRate: 1, maxAdmissions: undefined }, uncounted),
    crowd: { people: 60 },
    finding: { code: "GAVE_UP", words: "gave up in “The line”, while there were units" }
  },
  {
    mistake: "the draw takes fewer entries than it has winners",
    experience: dropOf({ draws: [{ ...draw, capacity: 3 }] }),
    finding: { code: "TURNED_AWAY", words: "“The raffle” turned away" }
  },
  {
    mistake: "nobody bids the reserve price",
    experience: dropOf({ auctions: [{ ...english, reservePrice: "2500" }] }),
    finding: {
      code: "NOTHING_SOLD",
      words: "none bid its reserve price of 2500 EUR"
    }
  },
  {
    mistake: "the price never falls to what people pay",
    experience: dropOf({ auctions: [{ ...dutch, startPrice: "4000", floorPrice: "3900", priceDropAmount: "10" }] }),
    crowd: { bids: { perPerson: 3, raise: 0.05, worth: { median: 3, spread: 1.2 } } },
    finding: {
      code: "NOTHING_SOLD",
      words: "“The fall” sold nothing: nobody paid 3,900 EUR, the lowest price that it reached"
    }
  },
  {
    mistake: "the waitlist is in a sequence of its own, which never opens",
    experience: dropOf({ waitlist }),
    finding: {
      code: "WAITLIST_WITHOUT_OPENING",
      words: "Nothing in the sequence of “Tell me” ever opens, so its members are never notified"
    }
  }
]

/** What is around the drop, in live mode. */
const surroundingMistakes: ReadonlyArray<PreparedDrop> = [
  {
    mistake: "no webhook reports orders",
    experience: withQueue({}),
    webhook: "none",
    finding: { code: "NO_WEBHOOK", words: "No webhook reports orders" }
  },
  {
    mistake: "the webhook failed",
    experience: withQueue({}),
    webhook: "gone",
    finding: { code: "WEBHOOK_DISABLED", words: "is disabled, because its endpoint failed" }
  },
  {
    mistake: "a language has no words",
    experience: withQueue(
      {},
      { i18n: { en: { enterQueue: "Get in line", title: "The coat" }, de: { enterQueue: "Anstellen" } } }
    ),
    finding: { code: "TEXT_MISSING", words: "The texts in “de” lack title" }
  },
  {
    mistake: "winners get no message",
    experience: dropOf({ draws: [draw] }),
    organization: { grantMessages: "off" },
    finding: { code: "WINNERS_NOT_TOLD", words: "Who wins “The raffle” gets no message" }
  },
  {
    mistake: "a placeholder of the email is misspelled",
    experience: withQueue({}),
    page: email("Dear {{consumerNmae}}, come until {{expiresAtText}}."),
    finding: { code: "PLACEHOLDER_UNKNOWN", words: "“Your turn” has the placeholder {{consumerNmae}}" }
  },
  {
    mistake: "the email does not say until when the turn lasts",
    experience: withQueue({}),
    page: email("Dear {{consumerName}}, come at once."),
    finding: { code: "PLACEHOLDER_MISSING", words: "“Your turn” does not say until when a turn lasts" }
  },
  {
    mistake: "the audience has no members yet",
    experience: withQueue({}),
    audience: "empty",
    finding: {
      code: "AUDIENCE_EMPTY",
      words: "“Everybody” is only for the audience “Members”, which has no members. Nobody can enter"
    }
  }
]

/** Drops with one mistake each. */
export const mistakes: ReadonlyArray<PreparedDrop> = [
  ...timeMistakes,
  ...unitMistakes,
  ...termMistakes,
  ...surroundingMistakes
]

/** A drop of every kind without a mistake. */
export const right: PreparedDrop = {
  mistake: "none",
  experience: dropOf(
    {
      waitlist,
      queues: [queue],
      draws: [draw],
      auctions: [english, dutch],
      timedReleases: [release],
      appointments: [fitting]
    },
    { i18n: { en: { enterQueue: "Get in line" }, de: { enterQueue: "Anstellen" } } }
  ),
  page: email("Dear {{consumerName}}, come until {{expiresAtText}}."),
  audience: "full",
  crowd: { people: 90, draws: { share: 0.2 } }
}
