/** The settings that give one client address or one consumer a part of an organization's limits. */
import type { Definition } from "./Shapes.ts"

/** The part of an organization's limit per minute that one holder may use; absent: all of it. */
function share(variable: string, requests: string, holder: string, byContract: string): Definition<number | undefined> {
  return {
    variable,
    unit: "requests a minute",
    default: `the organization's own limit (${byContract})`,
    shape: "a whole number from 1 to 1000000000",
    meaning: `How many ${requests} one ${holder} may make within an organization, with its publishable key.`,
    secret: false,
    fallback: undefined,
    parse: (text) => (/^[1-9]\d{0,8}$|^1000000000$/.test(text) ? Number(text) : undefined)
  }
}

export const subLimitDefinitions = {
  consumerApiPerAddress: share("LIMIT_CONSUMER_API_PER_ADDRESS", "Consumer API requests", "client address", "5000"),
  otpRequestsPerAddress: share("LIMIT_OTP_REQUESTS_PER_ADDRESS", "requests for one-time codes", "client address", "10"),
  queueEntriesPerAddress: share("LIMIT_QUEUE_ENTRIES_PER_ADDRESS", "queue entries", "client address", "1000"),
  drawEntriesPerAddress: share("LIMIT_DRAW_ENTRIES_PER_ADDRESS", "draw entries", "client address", "1000"),
  auctionBidsPerAddress: share("LIMIT_AUCTION_BIDS_PER_ADDRESS", "auction bids", "client address", "500"),
  consumerApiPerConsumer: share("LIMIT_CONSUMER_API_PER_CONSUMER", "Consumer API requests", "consumer", "5000"),
  queueEntriesPerConsumer: share("LIMIT_QUEUE_ENTRIES_PER_CONSUMER", "queue entries", "consumer", "1000"),
  drawEntriesPerConsumer: share("LIMIT_DRAW_ENTRIES_PER_CONSUMER", "draw entries", "consumer", "1000"),
  auctionBidsPerConsumer: share("LIMIT_AUCTION_BIDS_PER_CONSUMER", "auction bids", "consumer", "500")
}
