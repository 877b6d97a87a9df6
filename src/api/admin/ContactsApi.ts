/** How many consumers of a mechanism can be reached, and how many have proved an address. */
import { Schema } from "effect"
import { HttpApiEndpoint, OpenApi } from "effect/http-api"
import { Id } from "../../domain/values/Ids.ts"
import { RateCategory } from "../Annotations.ts"
import { NotFound } from "../Errors.ts"

/** Which consumers a list shows, by their addresses. */
export const Contact = Schema.Literals(["reachable", "unreachable", "proved", "unproved"]).annotate({
  description:
    "Only consumers with (`reachable`) or without an email address or a phone number, or those that have (`proved`) or " +
    "have not proved one of theirs by a code."
})
export type Contact = typeof Contact.Type

/** Seconds for which an answer is kept. */
export const keptSeconds = 30

export const Contacts = Schema.Struct({
  consumers: Schema.Int.annotate({ description: "Consumers whose places have not ended." }),
  reachable: Schema.Int.annotate({ description: "Those with an email address or a phone number." }),
  proved: Schema.Int.annotate({ description: "Those that have proved one of theirs by a code." })
}).annotate({ identifier: "Contacts" })

export const contactsEndpoint = HttpApiEndpoint.get("getDistributionContacts", "/distributions/:id/contacts", {
  params: { id: Id },
  success: Contacts,
  error: NotFound
})
  .annotateMerge(
    OpenApi.annotations({
      summary: "Count a mechanism's reachable consumers",
      description:
        `Counted as last recorded; an answer is at most ${keptSeconds} seconds old. A mechanism with too many places to ` +
        "count within 10 seconds is a 400."
    })
  )
  .annotate(RateCategory, "analyticsQuery")
