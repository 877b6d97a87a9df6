/** Waitlists on the Admin API. */
import { OpenApi } from "effect/http-api"
import { Configuration, declaration } from "../../domain/waitlist/Waitlist.ts"
import { mechanismGroup, schemasOf } from "./MechanismApi.ts"

export const waitlistSchemas = schemasOf(declaration, Configuration.fields, [])

export class WaitlistApi extends mechanismGroup(
  declaration,
  {
    creating:
      "A waitlist collects interest before its sequence opens. Without `offers` it grants nothing. A sequence has at most one that is " +
      "not archived; another is a 409 `WAITLIST_EXISTS`. When the first other mechanism of the sequence opens, each " +
      "member gets one message: by email or, if no email is known, by SMS. A consumer that enters after that gets it " +
      "at once.\n\n`capacity` is the most members at once. Without `openAt` the waitlist is open at once, without " +
      "`closeAt` until it is ended. A consumer that is a member at `closeAt` still gets its message. `timeZone` " +
      "defaults to the experience's, `supportsGuest` to true. A guest without an address gets no message.\n\n" +
      "With `offers`, members get no such message. Each unit that the stock `stockId` has for the waitlist is offered " +
      "to the member that has waited longest: it gets a grant, and `admissionExpirationSeconds` to use it (default " +
      "3600). An offer that is not used goes to the next member, and its consumer may enter again. Those who wait at " +
      "`closeAt` are denied with `WAITLIST_CLOSED`; offers that were made last until they expire. `offers` needs " +
      "`stockId`, and the other way round.",
    changing: "`openAt`, `offers` and `stockId` cannot be changed after the opening (409 `CONFIGURATION_FIXED`).",
    ending:
      "members that have had no message are denied with `WAITLIST_CLOSED`, and get none. Offers that were made last " +
      "until they expire."
  },
  waitlistSchemas
).annotateMerge(
  OpenApi.annotations({
    title: "Waitlists",
    description:
      "Collects interest before a sequence opens. Members get a message when it opens, or offers of units of a stock."
  })
) {}
