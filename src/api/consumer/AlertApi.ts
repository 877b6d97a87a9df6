/** Emails that a consumer asks for, on the Consumer API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Alert, AlertLanguage, outbidPauseMinutes, reminderLeadMinutes } from "../../domain/message/Alert.ts"
import { Id } from "../../domain/values/Ids.ts"
import { ConsumerAction } from "../Credentials.ts"
import { Forbidden, NotFound } from "../Errors.ts"

/** The body may be absent. */
const payload = [
  Schema.Struct({
    language: Schema.optionalKey(AlertLanguage).annotateKey({
      description: "The language of the email, such as `de`. English without one."
    })
  }),
  Schema.Null
] as const

const says = (summary: string, description: string) => OpenApi.annotations({ summary, description })

const unsubscribing =
  "Every email names the brand in its subject and has a link that ends it. Another request changes its language. A " +
  "consumer without an email address is a 403."

const experience = { params: { experienceId: Id }, success: Alert }
const auction = { params: { auctionId: Id }, success: Alert }
const reminderPath = "/experiences/:experienceId/reminder"
const outbidPath = "/auctions/:auctionId/outbid-alert"

export class AlertsGroup extends HttpApiGroup.make("alerts")
  .add(
    HttpApiEndpoint.get("reminder", reminderPath, { ...experience, error: NotFound })
      .middleware(ConsumerAction)
      .annotateMerge(says("Get the reminder of an experience", "Whether the consumer gets one.")),
    HttpApiEndpoint.put("remind", reminderPath, { ...experience, payload, error: [NotFound, Forbidden] })
      .middleware(ConsumerAction)
      .annotateMerge(
        says(
          "Ask for a reminder",
          `One email, ${reminderLeadMinutes} minutes before the experience's next opening. ${unsubscribing}`
        )
      ),
    HttpApiEndpoint.delete("endReminder", reminderPath, { ...experience, error: NotFound })
      .middleware(ConsumerAction)
      .annotateMerge(says("End the reminder", "The consumer gets none.")),
    HttpApiEndpoint.get("outbid", outbidPath, { ...auction, error: NotFound })
      .middleware(ConsumerAction)
      .annotateMerge(says("Get the alert of an auction", "Whether the consumer gets an email when it is outbid.")),
    HttpApiEndpoint.put("tellOutbid", outbidPath, { ...auction, payload, error: [NotFound, Forbidden] })
      .middleware(ConsumerAction)
      .annotateMerge(
        says(
          "Ask for an email when outbid",
          `One email each time the consumer loses the lead, at most every ${outbidPauseMinutes} minutes. ${unsubscribing}`
        )
      ),
    HttpApiEndpoint.delete("endOutbid", outbidPath, { ...auction, error: NotFound })
      .middleware(ConsumerAction)
      .annotateMerge(says("End the alert of an auction", "The consumer gets no more emails of the auction."))
  )
  .annotateMerge(
    OpenApi.annotations({ title: "Alerts", description: "Emails that a consumer asks for, and may end at any time." })
  ) {}
