/** The caller's organization on the Admin API: the declaration (completions 4, "Organization"). */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { ShownChallenge } from "../../../domain/challenge/Challenge.ts"
import { Theme } from "../../../domain/experience/Experience.ts"
import { Id } from "../../../domain/values/Ids.ts"
import {
  accessTokenTtl,
  defaultSmsCodesPerDay,
  GrantMessages,
  refreshTokenTtl,
  Settings
} from "../../../domain/organization/Organization.ts"
import { Plan, RateLimits } from "../../../domain/organization/Plan.ts"
import { Timestamp } from "../../../domain/values/Time.ts"
import { Forbidden } from "../../errors/Errors.ts"
import { changeFields, recordFields } from "../records/Payloads.ts"

/** The organization as it is sent. */
export const Organization = Schema.Struct({
  id: Id,
  name: Schema.String,
  plan: Plan.annotate({ description: "Set by the operator." }),
  rateLimits: Schema.Struct(recordFields(RateLimits.fields)).annotate({
    description:
      "The limits that hold, for all keys together; null: none. They follow from the plan, or are the operator's."
  }),
  loadLeave: Schema.NullOr(Schema.Struct({ until: Timestamp, perSecond: Schema.Int })).annotate({
    description:
      "The operator's leave to load test mode: until then test keys have `perSecond` requests a second of the Consumer API, and no other limit."
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
  "`grantMessages`: whether consumers get a message when a queue admits them, by rate or by hand, and when they win a draw " +
  "or an auction: `off` (the default), `email`, `sms`, or `email_or_sms`, which is email where an address is known, else " +
  "SMS. It holds for live and test mode. Each grant has one message, within seconds as a rule; a crash of the server may repeat it. No " +
  "message is sent for a timed release, an appointment, or a win in a dutch auction, as each follows at once from what " +
  "the consumer does; for grants made while messages were off; for a grant that has ended or expired before its message " +
  "goes out; nor to a consumer who is archived, or whose address was not known by then. An address that cannot be " +
  "reached is tried again for two hours. The text comes from the experience's page of kind `transactional-email` or " +
  "`transactional-sms` that was published last (see _Experience pages_); without one it says in plain words what was granted and " +
  "until when. It never has the admission grant in it: link to where the consumer entered, or to your shop."

const challengeDescription =
  "`challenge`: when consumers must solve a challenge before a guest session, a one-time code or an entry. Its `mode` is " +
  "`off`, `always` or `adaptive`: from an address with more than a few arrivals a minute, or while many arrive at once. " +
  "Null: `adaptive` for live keys, `off` for test keys. Its `provider` is `proof_of_work` (the default, nothing leaves this " +
  "server), `turnstile` or `hcaptcha`; these two need `siteKey` and `secretKey`. The secret key is never shown again, and " +
  "stays where it is absent. Proof of work takes a provider's place while that is out of reach."

const mailboxDescription =
  "`oneAccountPerMailbox` (true): whether the spellings of one mailbox sign in to one account, where the provider is known " +
  "to ignore dots or what follows a plus: `a.b+drop@gmail.com` and `ab@gmail.com`. The account keeps the address that was " +
  "typed first. Accounts that exist already stay apart."

/** The body of `PUT /organizations/me`. */
export const ChangeOrganization = Schema.Struct(changeFields(Settings.fields, ["name"])).annotate({
  identifier: "ChangeOrganization"
})

export class OrganizationApi extends HttpApiGroup.make("organizations")
  .add(
    HttpApiEndpoint.get("getOrganization", "/organizations/me", { success: Organization }).annotateMerge(
      OpenApi.annotations({
        summary: "Get the organization",
        description: "The caller's own, one for its live and its test keys. What it has not set is null."
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
          "Send the fields to change: one that is absent keeps its value, null takes it back to its default. Plan and rate " +
          "limits are the operator's, and left as they are. A change holds in every process when it is answered, or within " +
          "2 seconds of it where one is slow. With a live key alone: a test key is a 403.\n\n" +
          "`allowedOrigins`: from where browsers may call the Consumer API, as they send it in `Origin`: `https://host[:port]`, or `http` on " +
          "loopback; null or empty: from anywhere. `timeZone` and `currencyCode`: of experiences made from now on that name " +
          "none (UTC and USD); `currencyCode` is also the currency of consumers' `totalOrderValue`, which follows its change. " +
          `\`accessTokenTtlSeconds\` (${accessTokenTtl.least} to ${accessTokenTtl.most}) and \`refreshTokenTtlSeconds\` ` +
          `(${refreshTokenTtl.least} to ${refreshTokenTtl.most}): of consumers' tokens made from now on; null: what the installation has set. ` +
          "`loyaltyFullScoreBalance`: the loyalty balance that counts as full loyalty (1000). `theme`: how experiences look " +
          "to consumers, as far as they do not say so themselves.\n\n" +
          "`defaultCountry`: the country of phone numbers in national form. `smsCountries`: the countries to which codes go by SMS; " +
          "null: `defaultCountry` alone, or any country if that is null too, which invites fraud. `smsCodesPerDay`: the most " +
          `codes by SMS in a day, of which one client address can use a fifth (${defaultSmsCodesPerDay}).\n\n` +
          "`operationsEmail`: gets a mail when deliveries to a webhook fail for good or a webhook is disabled, at most one an hour for " +
          "each webhook.\n\n" +
          `${grantMessagesDescription}\n\n${challengeDescription}\n\n${mailboxDescription}`
      })
    )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Organization",
      description: "What an organization has set for all of its experiences."
    })
  ) {}
