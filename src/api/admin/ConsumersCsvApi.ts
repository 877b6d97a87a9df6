/** The consumers of a mechanism as a file for spreadsheets. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"
import { PlaceStatus } from "../../domain/mechanism/PlaceFields.ts"
import { Id } from "../../domain/values/Ids.ts"
import { CalendarDay } from "../../domain/values/WallClock.ts"
import { NotFound } from "../Errors.ts"
import { Contact } from "./ContactsApi.ts"

/** Rows of one file. */
export const rowsMax = 100_000

export const consumersCsvEndpoint = HttpApiEndpoint.get(
  "exportDistributionConsumers",
  "/distributions/:id/consumers.csv",
  {
    params: { id: Id },
    query: {
      status: Schema.optionalKey(PlaceStatus.annotate({ description: "Only places in this status." })),
      contact: Schema.optionalKey(Contact),
      day: Schema.optionalKey(
        CalendarDay.annotate({
          description:
            "Only bookings whose slot begins on this day in the appointment's time zone. Other kinds have none."
        })
      )
    },
    success: Schema.String.pipe(HttpApiSchema.asText({ contentType: "text/csv" })),
    error: NotFound
  }
).annotateMerge(
  OpenApi.annotations({
    summary: "Export a mechanism's consumers",
    description:
      `CSV (RFC 4180) in UTF-8, in the order of entry, at most ${rowsMax.toLocaleString("en")} rows below the header. ` +
      "The columns: id, name, email and phone of the consumer, `status`, `enteredAt`, `updatedAt`, the risk's score, and " +
      "the fields that places have, empty where a place has none. A text that a spreadsheet would take for a formula " +
      "begins with an apostrophe."
  })
)
