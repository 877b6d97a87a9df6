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
      "It collects interest before its sequence opens, and grants nothing. A sequence has one: while it is not archived, another is a 409 `WAITLIST_EXISTS`. When the first of the sequence's other mechanisms opens, each member is told once, by email or, where none is known, by SMS; who enters after that is told at once. `capacity` is the most members at once. Without `openAt` it is open at once, without `closeAt` until it is ended; who is a member when it closes at `closeAt` is still told. `timeZone` defaults to the experience's.",
    changing: "`openAt` cannot be changed once it has opened (409 `CONFIGURATION_FIXED`).",
    ending: "who has not been told yet is denied with `WAITLIST_CLOSED`, and will not be told."
  },
  waitlistSchemas
).annotateMerge(
  OpenApi.annotations({
    title: "Waitlists",
    description: "Interest collected before a sequence opens; members are told when it does."
  })
) {}
