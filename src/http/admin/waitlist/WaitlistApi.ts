/**
 * Waitlists on the Admin API: the declaration (interface document 2.8; completions 3, "Waitlist", and 4, "waitlist").
 */
import { OpenApi } from "effect/http-api"
import { Configuration } from "../../../domain/waitlist/Waitlist.ts"
import { mechanismGroup, schemasOf } from "../mechanism/MechanismApi.ts"

export const waitlistSchemas = schemasOf("Waitlist", Configuration.fields, [])

export class WaitlistApi extends mechanismGroup(
  {
    group: "waitlists",
    noun: "waitlist",
    aNoun: "a waitlist",
    name: "Waitlist",
    creating:
      "It collects interest before its sequence opens, and grants nothing. A sequence has one: while it is not archived, another is a 409 `WAITLIST_EXISTS`. When the first of the sequence's other mechanisms opens, each member gets one message, by email or, where none is known, by SMS; a consumer that enters after that gets it at once. `capacity` is the most members at once. Without `openAt` it is open at once, without `closeAt` until it is ended; a consumer that is a member when it closes at `closeAt` still gets it. `timeZone` defaults to the experience's, `supportsGuest` to true; a guest without an address gets no message.",
    changing: "`openAt` cannot be changed once it has opened (409 `CONFIGURATION_FIXED`).",
    ending: "a member that has had no message is denied with `WAITLIST_CLOSED`, and will get none."
  },
  waitlistSchemas
).annotateMerge(
  OpenApi.annotations({
    title: "Waitlists",
    description: "Interest collected before a sequence opens; members get a message when it does."
  })
) {}
