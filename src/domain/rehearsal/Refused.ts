/** Why requests of people were refused, in words. */

const words: Readonly<Record<string, string>> = {
  ACCESS_DENIED: "they may not see it",
  ADMISSIONS_USED_UP: "all of its turns were given away",
  ALREADY_BOOKED: "they had booked already",
  ALREADY_COMPLETED: "they had bought already",
  ALREADY_GRANTED: "they had a turn already",
  BID_TOO_HIGH: "their bid was too high",
  BID_TOO_LOW: "their bid was too low",
  BID_UNLIKELY: "their bid was far above the others",
  CLOSED: "it was closed",
  DISTRIBUTION_ORDER_LIMIT: "they had ordered as much as one may",
  DRAW_FULL: "it was full",
  GRANT_LIMIT_REACHED: "they had had as many turns as one may",
  GUEST_NOT_ALLOWED: "it takes no guests",
  INSIDE_LIMIT_REACHED: "as many were inside as may be",
  INVALID_GRANT: "their turn was over",
  INVALID_STATUS: "their turn was over",
  NOT_ENTERED: "they had not entered",
  NOT_INVITED: "they are not in its audience",
  NOT_OPEN: "it was not open yet",
  QUEUE_FULL: "it was full",
  SLOT_FULL: "their slot was full",
  SLOT_PAST: "their slot had begun",
  SOLD_OUT: "nothing was left",
  WAITLIST_FULL: "it was full",
  423: "it was not open yet",
  403: "they may not enter"
}

/** Returns the reason that a code names, so that it follows `because`. An unknown code names itself. */
export const refusedWords = (code: string): string => words[code] ?? `of ${code}`
