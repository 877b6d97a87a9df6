/** The error schemas of operations on mechanisms, by the refusals that they can have. All include 404. */
import { ChallengeRequired } from "./Challenge.ts"
import {
  BidConflict,
  BidTooHighConflict,
  BidUnlikelyConflict,
  Conflict,
  ConflictWithHeaders,
  Forbidden,
  NotFound,
  NotOpenYetWithHeaders
} from "./Errors.ts"

export const mechanismErrors = {
  /** Entering: not open yet, closed, full, guests refused, a challenge to solve first. */
  entry: [NotFound, Forbidden, ChallengeRequired, ConflictWithHeaders, NotOpenYetWithHeaders],
  /** Bidding: those of entering, and a bid that is too low, too high or not confirmed. */
  bid: [
    NotFound,
    Forbidden,
    ChallengeRequired,
    Conflict,
    BidConflict,
    BidTooHighConflict,
    BidUnlikelyConflict,
    NotOpenYetWithHeaders
  ],
  /** Other changes of a place. */
  change: [NotFound, Conflict],
  read: [NotFound]
} as const
