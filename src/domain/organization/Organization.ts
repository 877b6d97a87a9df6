/** The organization, and its settings for all its experiences. Its live and its test keys share one organization. */
import { Schema } from "effect"
import { OrganizationChallenge } from "../challenge/Challenge.ts"
import { Theme } from "../experience/Experience.ts"
import { EmailText } from "../values/Email.ts"
import { CountryCode, CurrencyCode, TimeZone } from "../values/Locale.ts"
import { Name, text } from "../values/Text.ts"

/** The name of an organization that the first start has made. Nobody has given it one yet. */
export const unnamedOrganization = "default"

/** Limit of allowed origins. */
export const originsMax = 100

/** Bounds of the token lifetimes that an organization can set, in seconds. */
export const accessTokenTtl = { least: 60, most: 86_400 } as const
export const refreshTokenTtl = { least: 3_600, most: 31_536_000 } as const

/** The balance that counts as full loyalty if the organization has not set one. */
export const defaultLoyaltyFullScoreBalance = 1_000

/** Countries in the list of an organization: more than there are. */
export const smsCountriesMax = 300

/** Codes by SMS in a day, if the organization has not set a number. */
export const defaultSmsCodesPerDay = 1_000

const smsCodesPerDayMax = 10_000_000

const loyaltyBalanceMax = 1_000_000_000_000

/** Hosts of the local machine, which need no encryption because no network is involved. */
const loopback = /^(?:localhost|[a-z0-9-]+\.localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

/** An origin as browsers send it: `https://host[:port]`, or `http` on loopback. */
export const AllowedOrigin = text({ maxLength: 300 }).check(
  Schema.makeFilter(isAllowedOrigin, {
    expected:
      "an origin as browsers send it: https://host[:port], or http on loopback, in lower case and without a path",
    representation: { id: "usher/string", payload: null },
    toJsonSchema: () => ({ pattern: "^https?://[^/?#@]+$" })
  })
)

const ttl = ({ least, most }: { readonly least: number; readonly most: number }) =>
  Schema.Int.check(Schema.isBetween({ minimum: least, maximum: most }))

/**
 * The channel of messages about grants, for consumers that a queue admits or that win a draw or an auction. With
 * `email_or_sms`, consumers without an email address get an SMS.
 */
export const GrantMessages = Schema.Literals(["off", "email", "sms", "email_or_sms"])

/** The settings of an organization. Absent keys mean the defaults. */
export const Settings = Schema.Struct({
  name: Name,
  /** Origins from which browsers may call the Consumer API; absent or empty: any. */
  allowedOrigins: Schema.optionalKey(Schema.Array(AllowedOrigin).check(Schema.isMaxLength(originsMax))),
  /** Default of its experiences; absent: UTC. */
  timeZone: Schema.optionalKey(TimeZone),
  /** Default of its experiences; absent: USD. */
  currencyCode: Schema.optionalKey(CurrencyCode),
  /** Lifetime of tokens issued from now on; absent: the installation's setting. */
  accessTokenTtlSeconds: Schema.optionalKey(ttl(accessTokenTtl)),
  refreshTokenTtlSeconds: Schema.optionalKey(ttl(refreshTokenTtl)),
  /** The loyalty balance that counts as full loyalty; absent: 1000. */
  loyaltyFullScoreBalance: Schema.optionalKey(
    Schema.Finite.check(Schema.isGreaterThan(0), Schema.isLessThanOrEqualTo(loyaltyBalanceMax))
  ),
  /** Absent: off. */
  grantMessages: Schema.optionalKey(GrantMessages),
  /** The country of phone numbers in national form; absent: such numbers are refused. */
  defaultCountry: Schema.optionalKey(CountryCode),
  /** The countries to which codes go by SMS; absent: `defaultCountry`, or any country if that is absent too. */
  smsCountries: Schema.optionalKey(Schema.Array(CountryCode).check(Schema.isMaxLength(smsCountriesMax))),
  /** The most codes by SMS in a day; absent: `defaultSmsCodesPerDay`. */
  smsCodesPerDay: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: smsCodesPerDayMax }))),
  /** The gate for bots; absent: the defaults. */
  challenge: Schema.optionalKey(OrganizationChallenge),
  /** Whether the spellings of one mailbox sign in to one account; absent: true. */
  oneAccountPerMailbox: Schema.optionalKey(Schema.Boolean),
  /** The address for mail about what fails; absent: no mail. */
  operationsEmail: Schema.optionalKey(EmailText),
  /** Default look of its experiences. */
  theme: Schema.optionalKey(Theme)
})
export type Settings = typeof Settings.Type

/** True if the organization has turned on messages about grants. */
export const sendsGrantMessages = ({ grantMessages = "off" }: Pick<Settings, "grantMessages">): boolean =>
  grantMessages !== "off"

/** True if codes may go to a phone number of this country. Numbers without a country are satellites and the like. */
export const takesSms = (
  { smsCountries, defaultCountry }: Pick<Settings, "smsCountries" | "defaultCountry">,
  country: string | undefined
): boolean => {
  const countries = smsCountries ?? (defaultCountry === undefined ? undefined : [defaultCountry])
  return countries === undefined || (country !== undefined && countries.includes(country))
}

type Look = typeof Theme.Type

/** Returns an experience's look: its own fields over those of the organization. */
export const themeOf = (own: Look | null, organization: Look | null): Look | null =>
  own === null || organization === null ? (own ?? organization) : { ...organization, ...own }

/** Origins are compared only in the spelling that browsers use. Patterns are not supported. */
function isAllowedOrigin(origin: string): boolean {
  if (!URL.canParse(origin) || origin.includes("*")) return false
  const url = new URL(origin)
  const isSafe = url.protocol === "https:" || (url.protocol === "http:" && loopback.test(url.hostname))
  return isSafe && url.origin === origin
}
