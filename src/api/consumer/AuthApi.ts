/** Sessions on the Consumer API. */
import { Schema } from "effect"
import { HttpApiEndpoint, HttpApiGroup, OpenApi } from "effect/http-api"
import { Id } from "../../domain/values/Ids.ts"
import { JsonObject, key, text } from "../../domain/values/Text.ts"
import { SentTimestamp } from "../../domain/values/Time.ts"
import { EmailText } from "../../domain/values/Email.ts"
import { TypedCode } from "../../domain/values/TypedCode.ts"
import { Country, PhoneText } from "../Addresses.ts"
import { ServerAction, SessionCreation, SessionEnd, SessionUpgrade } from "../Credentials.ts"
import { ChallengeRequired } from "../Challenge.ts"
import { RateLimitExceededWithHeaders } from "../Errors.ts"
import { CompletePathOnly, RateCategory } from "../Annotations.ts"

const claimsLengthMax = 10_000

const tokens = {
  accessToken: Schema.String,
  refreshToken: Schema.String,
  refreshTokenTtlSeconds: Schema.Int
}

/** A new guest session and its tokens. */
export const GuestSession = Schema.Struct({
  session: Schema.Struct({
    type: Schema.Literal("guest"),
    consumerId: Id,
    guestId: Id,
    expiresAt: SentTimestamp
  }),
  ...tokens
}).annotate({ identifier: "GuestSession" })

/** A new session of an identified consumer, and its tokens. */
export const AuthenticatedSession = Schema.Struct({
  session: Schema.Struct({
    type: Schema.Literal("authenticated"),
    consumerId: Id,
    email: Schema.optionalKey(Schema.String),
    phone: Schema.optionalKey(Schema.String),
    expiresAt: SentTimestamp
  }),
  ...tokens
}).annotate({ identifier: "AuthenticatedSession" })

/** The next tokens of a session. */
export const RefreshedSession = Schema.Struct({ ...tokens, accessTokenExpiresAt: SentTimestamp }).annotate({
  identifier: "RefreshedSession"
})

/** A code that a browser can exchange for a session. */
export const ExchangeCode = Schema.Struct({
  exchangeCode: Schema.String,
  expiresAt: SentTimestamp,
  resolution: Schema.Literals(["created", "existing"])
}).annotate({ identifier: "ExchangeCode" })

/** 401: the refresh token is invalid, was used before, or its session has ended. */
export class InvalidRefreshToken extends Schema.Error<InvalidRefreshToken>("InvalidRefreshToken")(
  { error: Schema.Literal("Invalid refresh token") },
  { httpApiStatus: 401, description: "The refresh token is not accepted" }
) {}

/** 401: the code is wrong, or no code is valid. */
export class InvalidOneTimeCode extends Schema.Error<InvalidOneTimeCode>("InvalidOneTimeCode")(
  { error: Schema.Literals(["otp_invalid", "otp_expired"]), message: Schema.String },
  { httpApiStatus: 401, description: "The one-time code is not accepted" }
) {}

/** 401: the code cannot be exchanged. */
export class InvalidExchangeCode extends Schema.Error<InvalidExchangeCode>("InvalidExchangeCode")(
  { error: Schema.Literals(["invalid_exchange_code", "exchange_code_expired"]) },
  { httpApiStatus: 401, description: "The exchange code is not accepted" }
) {}

/** The digits of a one-time code. */
export const OneTimeCode = TypedCode.check(Schema.isMinLength(6), Schema.isMaxLength(12))
  .check(
    Schema.makeFilter((value: string) => /^\d*$/.test(value), {
      expected: "digits",
      representation: { id: "usher/string", payload: null },
      toJsonSchema: () => ({ pattern: "^\\d{6,12}$" })
    })
  )
  .pipe(
    Schema.annotateEncoded({
      description: "Its digits. Blanks and invisible characters are ignored, and the digits of every script count.",
      examples: ["123456", "123 456"]
    })
  )

/** The name of an attempt, which only the client that makes it knows. */
export const Attempt = text({ minLength: 16, maxLength: 255 })

/** The request that the code answers. */
export const CodeRequestId = Schema.optionalKey(
  Id.annotate({
    description: "From the response to the request for the code. Without it, the code that was sent last counts."
  })
)

/** A request names one address. With two, it would not be clear which one counts. */
const absent = (expected: string) => Schema.optionalKey(Schema.Null.annotate({ expected }))
const byEmail = { email: EmailText, phone: absent("no phone number together with an email") }
const byPhone = {
  phone: PhoneText,
  email: absent("no email together with a phone number"),
  defaultCountry: Schema.optionalKey(Country)
}
const identityPart = key({ minLength: 1, maxLength: 500 })

const claims = JsonObject.check(
  Schema.makeFilter((value) => JSON.stringify(value).length <= claimsLengthMax, {
    expected: `<=${claimsLengthMax}`,
    representation: { id: "usher/max_length", payload: null },
    toJsonSchema: () => ({})
  })
).annotate({
  description: `At most ${claimsLengthMax} characters of JSON. \`email\`, \`fullName\` and \`name\` fill empty fields of the consumer.`
})

export class AuthGroup extends HttpApiGroup.make("auth")
  .add(
    HttpApiEndpoint.post("guest", "/auth/guest", {
      headers: { "idempotency-key": Schema.optionalKey(Attempt) },
      success: GuestSession,
      error: ChallengeRequired
    })
      .middleware(SessionCreation)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Start a guest session",
          description:
            "With the same `Idempotency-Key`, which a client draws at random, it returns the same guest again for a minute."
        })
      ),
    HttpApiEndpoint.post("requestOneTimeCode", "/auth/otp/request", {
      payload: Schema.Union([Schema.Struct(byEmail), Schema.Struct(byPhone)]),
      success: Schema.Struct({
        ok: Schema.Literal(true),
        requestId: Id.annotate({
          description: "Send it with the code. The verification then counts only for this request for a code."
        })
      }).annotate({ identifier: "OneTimeCodeRequest" }),
      error: [RateLimitExceededWithHeaders, ChallengeRequired]
    })
      .annotate(RateCategory, "otpRequest")
      .annotate(CompletePathOnly, true)
      .middleware(SessionCreation)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Send a one-time code",
          description:
            "Sends a code to an email or a phone number, not both. It is valid for 10 minutes and one use. It has 6 digits, " +
            "or 12 while the wrong tries of a day for the address, and those that its open codes allow, reach 50. Without its " +
            "`requestId` only the code that was sent last is accepted. The response does not reveal whether such a consumer " +
            "exists. One address gets at most 5 codes in 10 minutes; the codes that each other client " +
            "requested count as one. Codes by SMS go to the organization's `smsCountries` (400), at most `smsCodesPerDay` a " +
            "day (429)."
        })
      ),
    HttpApiEndpoint.post("verifyOneTimeCode", "/auth/otp/verify", {
      payload: Schema.Union([
        Schema.Struct({ ...byEmail, code: OneTimeCode, requestId: CodeRequestId }),
        Schema.Struct({ ...byPhone, code: OneTimeCode, requestId: CodeRequestId })
      ]),
      success: AuthenticatedSession,
      error: InvalidOneTimeCode
    })
      .middleware(SessionUpgrade)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Start a session with a one-time code",
          description:
            "With a guest's access token the guest becomes this consumer and keeps its id and places, unless the address is " +
            "another consumer's. The first proof of an address by a code ends the consumer's other sessions. With " +
            "`requestId` the verification and its tries count for that request's code alone. A code is invalid after 5 wrong " +
            "tries. One client address has 50 wrong tries in 10 minutes (429)."
        })
      ),
    HttpApiEndpoint.post("authorizeExternal", "/auth/external/authorize", {
      payload: Schema.Struct({
        provider: identityPart,
        issuer: identityPart,
        subject: identityPart,
        claims: Schema.optionalKey(claims)
      }),
      success: ExchangeCode
    })
      .annotate(RateCategory, "externalAuthorization")
      .middleware(ServerAction)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Vouch for a consumer",
          description:
            "Finds or creates the consumer by provider, issuer and subject. The code is valid for 60 seconds and one use."
        })
      ),
    HttpApiEndpoint.post("exchangeExternal", "/auth/external/exchange", {
      payload: Schema.Struct({ exchangeCode: Schema.String }),
      success: AuthenticatedSession,
      error: InvalidExchangeCode
    })
      .middleware(SessionCreation)
      .annotateMerge(OpenApi.annotations({ summary: "Start a session with an exchange code" })),
    HttpApiEndpoint.post("refresh", "/auth/refresh", {
      headers: { "idempotency-key": Schema.optionalKey(Attempt) },
      payload: Schema.Struct({ refreshToken: Schema.String }),
      success: RefreshedSession,
      error: InvalidRefreshToken
    })
      .middleware(SessionCreation)
      .annotateMerge(
        OpenApi.annotations({
          summary: "Refresh a session",
          description:
            "A refresh token is valid once. For 10 seconds after it was replaced it returns the same successor again, for " +
            "two tabs that refresh at once and for a lost response. With the same `Idempotency-Key`, which a client draws at " +
            "random for each refresh, it does so until its successor is used. Later, or after its successor was used, it " +
            "ends the session for every client that holds a token of it."
        })
      ),
    HttpApiEndpoint.post("logout", "/auth/logout")
      .middleware(SessionEnd)
      .annotateMerge(
        OpenApi.annotations({ summary: "End the session", description: "Ends it at once, with its refresh token." })
      )
  )
  .annotateMerge(
    OpenApi.annotations({
      title: "Sessions",
      description: "Guests, one-time codes, consumers that a shop vouches for, and the refresh and end of a session."
    })
  ) {}
