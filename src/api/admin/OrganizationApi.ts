/** The caller's organization on the Admin API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { failureRecipientsMax } from "../../domain/webhook/Webhook.ts"
import { ShownChallenge } from "../../domain/challenge/Challenge.ts"
import { Theme } from "../../domain/experience/Experience.ts"
import { Id } from "../../domain/values/Ids.ts"
import {
  accessTokenTtl,
  defaultSmsCodesPerDay,
  GrantMessages,
  refreshTokenTtl,
  Settings
} from "../../domain/organization/Organization.ts"
import { Plan, RateLimits } from "../../domain/organization/Plan.ts"
import { Timestamp } from "../../domain/values/Time.ts"
import { Forbidden } from "../Errors.ts"
import { changeFields, recordFields } from "./Payloads.ts"

/** The organization in a response. */
export const Organization = Schema.Struct({
  id: Id,
  name: Schema.String,
  plan: Plan.annotate({ description: "The operator sets it." }),
  rateLimits: Schema.Struct(recordFields(RateLimits.fields)).annotate({
    description: "The limits in effect, for all keys together. Null means no limit. The plan or the operator sets them."
  }),
  loadLeave: Schema.NullOr(Schema.Struct({ until: Timestamp, perSecond: Schema.Int })).annotate({
    description:
      "The operator's permission to load test mode. Until then test keys have `perSecond` requests a second of the " +
      "Consumer API, and no other limit."
  }),
  allowedOrigins: Schema.NullOr(Schema.Array(Schema.String)),
  timeZone: Schema.NullOr(Schema.String),
  currencyCode: Schema.NullOr(Schema.String),
  accessTokenTtlSeconds: Schema.NullOr(Schema.Int),
  refreshTokenTtlSeconds: Schema.NullOr(Schema.Int),
  loyaltyFullScoreBalance: Schema.NullOr(Schema.Finite),
  grantMessages: Schema.NullOr(GrantMessages),
  defaultCountry: Schema.NullOr(Schema.String),
  smsCountries: Schema.NullOr(Schema.Array(Schema.String)),
  smsCodesPerDay: Schema.NullOr(Schema.Int),
  challenge: Schema.NullOr(ShownChallenge),
  oneAccountPerMailbox: Schema.NullOr(Schema.Boolean),
  operationsEmail: Schema.NullOr(Schema.String),
  theme: Schema.NullOr(Theme),
  createdAt: Timestamp,
  updatedAt: Schema.NullOr(Timestamp).annotate({ description: "Null if it was never changed." }),
  updatedBy: Schema.NullOr(Schema.String)
}).annotate({ identifier: "Organization" })

const grantMessagesDescription =
  "`grantMessages`: the messages to consumers that a queue admits, by rate or by hand, and to winners of a draw or " +
  "an auction. It is `off` (the default), `email`, `sms`, or `email_or_sms`: email if the address is known, else " +
  "SMS. It applies to live and test mode. Each grant has one message, usually within seconds; a crash of the " +
  "server may repeat it. An address that cannot be reached is tried again for two hours.\n\nNo message is sent for a " +
  "timed release, an appointment or a win in a dutch auction, because these follow at once from the consumer's " +
  "action. None is sent for grants made while messages were off, or for a grant that ends before its message goes " +
  "out. None is sent to a consumer that is archived or has no known address.\n\nThe text is the experience's page of " +
  "kind `transactional-email` or `transactional-sms` that was published last (see _Experience pages_). Without " +
  "such a page it says in plain words what was granted and until when. It never contains the admission grant: link " +
  "to the page where the consumer entered, or to your shop."

const challengeDescription =
  "`challenge`: when consumers must solve a challenge before a guest session, a one-time code or an entry. Its " +
  "`mode` is `off`, `always` or `adaptive`. `adaptive` asks when one address has more than a few arrivals a " +
  "minute, or when many consumers arrive at once. Null means `adaptive` for live keys and `off` for test keys. Its " +
  "`provider` is `proof_of_work` (the default, which sends nothing to other servers), `turnstile` or `hcaptcha`. " +
  "The latter two need `siteKey` and `secretKey`. The secret key is never returned, and an absent one keeps its " +
  "value. While the provider cannot be reached, clients get a proof of work, or the provider's challenge again if " +
  "`fallback` is `none`. Many tokens at once, or a provider that limits requests (429), never lead to a proof of work."

const mailboxDescription =
  "`oneAccountPerMailbox` (default true): whether all spellings of one mailbox sign in to one account. It applies " +
  "to providers known to ignore dots or the part after a plus, as in `a.b+drop@gmail.com` and `ab@gmail.com`. The " +
  "account keeps the address that was typed first. Existing accounts stay separate."

/** The body of `PUT /organizations/me`. */
export const ChangeOrganization = Schema.Struct(changeFields(Settings.fields, ["name"])).annotate({
  identifier: "ChangeOrganization"
})

export class OrganizationApi extends HttpApiGroup.make("organizations")
  .add(
    HttpApiEndpoint.get("getOrganization", "/organizations/me", { success: Organization }).annotateMerge(
      OpenApi.annotations({
        summary: "Get the organization",
        description:
          "The caller's organization, which is one for its live and its test keys. Settings without a value are null."
      })
    ),
    HttpApiEndpoint.put("changeOrganization", "/organizations/me", {
      payload: ChangeOrganization,
      success: Organization,
      error: Forbidden
    }).annotateMerge(
      OpenApi.annotations({
        summary: "Change the organization",
        description:
          "Send only the fields to change. An absent field keeps its value; null resets it to its default. The operator " +
          "sets plan and rate limits; they are ignored here. A change applies in every process when it is answered, or " +
          "within 2 seconds in a slow one. It needs a live key: a test key is a 403.\n\n`allowedOrigins`: the origins from " +
          "which browsers may call the Consumer API, as sent in `Origin`: `https://host[:port]`, or `http` on loopback. " +
          "Null or empty allows all. `timeZone` and `currencyCode`: the defaults of new experiences (UTC and USD). " +
          "`currencyCode` is also the currency of consumers' `totalOrderValue`, which follows a change. " +
          `\`accessTokenTtlSeconds\` (${accessTokenTtl.least} to ${accessTokenTtl.most}) and \`refreshTokenTtlSeconds\` ` +
          `(${refreshTokenTtl.least} to ${refreshTokenTtl.most}): the lifetimes of consumers' new tokens; null: those of ` +
          "the installation. `loyaltyFullScoreBalance`: the loyalty balance that counts as full loyalty (default 1000). " +
          "`theme`: the look of experiences that set none.\n\n`defaultCountry`: the country of phone numbers in national " +
          "form. `smsCountries`: the countries to which codes go by SMS. Null means `defaultCountry` alone; if that is " +
          "null too, any country, which invites fraud. `smsCodesPerDay`: the most codes by SMS in a day (default " +
          `${defaultSmsCodesPerDay}); one client address can use a fifth of them.\n\n\`operationsEmail\`: gets a mail when ` +
          "deliveries to a webhook fail permanently or a webhook is disabled, at most one an hour for each webhook. " +
          `Without it the admins of the dashboard get the mail, at most ${failureRecipientsMax}.\n\n${grantMessagesDescription}\n\n${challengeDescription}\n\n${mailboxDescription}`
      })
    )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Organization",
      description: "Settings of an organization for all of its experiences."
    })
  ) {}
