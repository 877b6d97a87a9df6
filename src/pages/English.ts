/** The words of pages in English. Every other language has the same keys and placeholders, in `words/`. */
export const en = {
  // Shell
  toPlace: "Go to your place",
  refresh: "Refresh",
  open: "Open",
  opensIn: "Opens in",
  opensAt: "Opens {time}",
  closesAt: "Closes {time}",
  endedAt: "This ended {time}.",
  ended: "This has ended.",
  nothing: "Nothing is open at the moment.",
  products: "Products",
  rules: "How it works",
  zone: "Times are shown in {zone}.",
  language: "Language",
  kept: "The connection is interrupted. Your place is kept; we keep trying.",

  // Kinds
  queue: "Queue",
  draw: "Draw",
  auction: "Auction",
  appointment: "Appointment",
  timed_release: "Sale",
  waitlist: "Waitlist",
  enterQueue: "Join the queue",
  enterDraw: "Enter the draw",
  enterAuction: "Place a bid",
  enterAppointment: "Book an appointment",
  enterSale: "Get access",
  enterWaitlist: "Join the waitlist",

  // Turn
  granted: "It is your turn",
  won: "You have won",
  timeLeft: "Time left",
  until: "Valid until {time}.",
  continue: "Continue to the shop",
  continueSoon: {
    one: "You go on to the shop in {seconds} second.",
    other: "You go on to the shop in {seconds} seconds."
  },
  stay: "Stay here",
  backToShop: "Go back to the shop to complete your purchase.",
  completed: "Your purchase is complete",
  leftTitle: "You have left",
  denied: "You were not admitted",
  lost: "Not this time",
  expired: "Your time has run out",
  reasonExpired: "The time to continue has passed.",
  reasonClosed: "It closed before it was your turn.",
  reasonNotSelected: "You were not drawn.",
  reasonLimit: "You have reached the limit of orders.",
  reasonAdmin: "The organizer has decided this.",
  again: "Enter again",
  oneMinute: "One minute left.",

  // Queue
  queueRate: {
    one: "{count} person is admitted each minute, in the order in which they came.",
    other: "{count} people are admitted each minute, in the order in which they came."
  },
  queueByHand: "People are admitted in the order in which they came.",
  queueLobby: "Everyone who is here by {time} gets a place by lot.",
  queued: "You are in line",
  position: "Your place in line",
  positionSaid: "You are number {position} in line.",
  wait: "Estimated wait: {wait}",
  soon: "It is your turn soon.",
  later: "It will take a while.",
  keep: "You may close this page or lock your phone: your place is kept.",
  lobby: "You are in the lobby",
  lobbyText: "Places are drawn {time}. It makes no difference who came first.",
  leave: "Leave the line",

  // Draw
  drawTerms: "Winners: {count}. Drawn {time}.",
  drawFair: "Anyone can check the draw: its seed is committed to before the first entry.",
  commitment: "Commitment",
  entered: "You are entered",
  entry: "Your entry",
  withdraw: "Withdraw",
  drawn: "The draw has been drawn. You may still win in place of another.",
  proof: "Proof of the draw",
  checking: "Checking…",
  holds: "holds",
  fails: "fails",
  proofHolds: "The draw holds. Winners: {winners}. Entries: {entries}.",
  proofFails: "The draw does not hold: at least one check fails.",
  entryPlace: "Your entry is number {place} in the drawn order.",
  entryMissing: "Your entry is not in the list.",
  proofCommand: "Check it yourself: download the proof and run {command}",
  receipt: "Save the receipt of your entry",
  receiptFile: "Check a saved receipt",
  waitingNow: "Waiting now: {count}",
  entriesNow: "Entries so far: {count}",

  // Auction
  highest: "Highest bid",
  none: "None yet",
  minimum: "Minimum bid",
  yourBid: "Your bid",
  units: "Units: {count}",
  bidFinal: "Bids are final.",
  confirmBid: "Do you bid {amount}?",
  confirm: "Yes, bid {amount}",
  back: "Back",
  winning: "You are among the winners so far",
  outbid: "You have been outbid",
  bidding: "You have not bid yet",
  price: "Current price",
  unitsLeft: "Units left: {count}",
  priceDrops: "The price drops by {amount} every {wait}.",
  take: "Take it for at most {amount}",

  // Sale
  saleRule: "First come, first served, while units last.",
  choose: "Choose",
  chosen: "Chosen: {name}",
  change: "Change",
  giveUp: "Give it up",
  soldOut: "Sold out",

  // Appointment
  slots: "Free slots",
  noSlots: "No free slots on these days.",
  moreDays: "Later days",
  inYourZone: "Your time: {time}",
  placesLeft: "{count} left",
  book: "Book",
  booked: "You are booked",
  bookingCode: "Confirmation code",
  calendar: "Save to calendar",
  reschedule: "Choose another slot",
  cancel: "Cancel the booking",
  cancelled: "Your booking is cancelled",
  visited: "Thank you for your visit",
  missed: "You missed your appointment",

  // Waitlist
  waitlistRule: "We send you one message when it opens.",
  listed: "You are on the waitlist",
  leaveList: "Leave the waitlist",

  // Sign-in
  signIn: "Sign in",
  signOut: "Sign out",
  email: "Email address",
  phone: "Phone number",
  usePhone: "Use a phone number",
  useEmail: "Use an email address",
  sendCode: "Send a code",
  codeSent: "We have sent a code to {address}.",
  code: "Code",
  accessCode: "Access code",
  unlock: "Unlock",
  notForAll: "Some parts are only for invited guests.",

  // Refusals
  guestsRefused: "Please sign in to take part.",
  notInvited: "This is only for invited guests.",
  notOpen: "This is not open yet.",
  closed: "This is closed.",
  full: "All places are taken at the moment.",
  bidTooLow: "The bid is too low. The minimum is {amount} now.",
  bidTooHigh: "The bid is too high. The maximum is {amount} now.",
  badAmount: "Please enter an amount such as {amount}.",
  slotTaken: "This slot is no longer free.",
  grantLimit: "You have already had your turn.",
  notPossible: "This is no longer possible.",
  codeInvalid: "The code is wrong.",
  codeExpired: "The code has expired. Request a new one.",
  accessCodeWrong: "This access code opens nothing here.",
  badAddress: "Please enter a valid email address.",
  badPhone: "Please enter a valid phone number, with + and the country code.",
  tooMany: "Too many requests. Please try again in {wait}.",
  unavailable: "We cannot answer at the moment. Your place is kept. Please try again in {wait}.",
  challenge: "Very many people are here. Your browser must prove that it is not a robot; this takes a moment.",
  robot: "Please show that you are not a robot.",
  goOn: "Go on",
  foreign: "This request came from another site. Please use the buttons of this page.",
  notFound: "Page not found",
  notFoundText: "There is nothing at this address, or it is no longer shown."
}

/** The forms of a text that depend on a number, by its plural category (`Intl.PluralRules`). */
export type Forms = { readonly [Category in Intl.LDMLPluralRule]?: string } & { readonly other: string }

/** The keys whose text depends on a number. */
export type CountedKey = { [Key in keyof typeof en]: (typeof en)[Key] extends string ? never : Key }[keyof typeof en]

/** The keys of all other texts. */
export type PlainKey = Exclude<keyof typeof en, CountedKey>

/** The words of a page, by key. A language in which the number changes nothing has one form. */
export type Words = { readonly [Key in PlainKey]: string } & { readonly [Key in CountedKey]: string | Forms }
