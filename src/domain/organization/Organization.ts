/**
 * The organization: whose experiences they are, and what it has set for all of them (completions 4, "Organization"). It is
 * one for its live and its test pair of keys.
 */
import { Schema } from "effect"
import { Theme } from "../experience/Experience.ts"
import { CurrencyCode, TimeZone } from "../values/Locale.ts"
import { Name, text } from "../values/Text.ts"

/** Origins an organization can name. */
export const originsMax = 100

/** How long tokens may live, where an organization says so itself; in seconds. */
export const accessTokenTtl = { least: 60, most: 86_400 } as const
export const refreshTokenTtl = { least: 3_600, most: 31_536_000 } as const

/** The balance that counts as full loyalty where the organization has set none (completions 3, "Queue"). */
export const defaultLoyaltyFullScoreBalance = 1_000

const loyaltyBalanceMax = 1_000_000_000_000

/** Hosts of the machine itself, which are reached without a network that could be listened to. */
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
 * The channel of messages about grants: to consumers that a queue admits, or that win a draw or an auction. With
 * `email_or_sms` a message goes by SMS where no email address is known.
 */
export const GrantMessages = Schema.Literals(["off", "email", "sms", "email_or_sms"])

/** What the organization sets; absent keys mean the defaults. */
export const Settings = Schema.Struct({
  name: Name,
  /** From where browsers may call the Consumer API; absent or empty: from anywhere. */
  allowedOrigins: Schema.optionalKey(Schema.Array(AllowedOrigin).check(Schema.isMaxLength(originsMax))),
  /** Of experiences that name none; absent: UTC. */
  timeZone: Schema.optionalKey(TimeZone),
  /** Of experiences that name none; absent: USD. */
  currencyCode: Schema.optionalKey(CurrencyCode),
  /** How long tokens made from now on are valid; absent: what the installation has set. */
  accessTokenTtlSeconds: Schema.optionalKey(ttl(accessTokenTtl)),
  refreshTokenTtlSeconds: Schema.optionalKey(ttl(refreshTokenTtl)),
  /** The loyalty balance that counts as full loyalty; absent: 1000. */
  loyaltyFullScoreBalance: Schema.optionalKey(
    Schema.Finite.check(Schema.isGreaterThan(0), Schema.isLessThanOrEqualTo(loyaltyBalanceMax))
  ),
  /** Absent: off. */
  grantMessages: Schema.optionalKey(GrantMessages),
  /** How its experiences look, as far as they do not say so themselves (interface document 2.3). */
  theme: Schema.optionalKey(Theme)
})
export type Settings = typeof Settings.Type

/** True if the organization's messages about grants are on. */
export const sendsGrantMessages = ({ grantMessages = "off" }: Pick<Settings, "grantMessages">): boolean =>
  grantMessages !== "off"

type Look = typeof Theme.Type

/** What of an experience's look comes from its organization: whatever it does not say itself. */
export const themeOf = (own: Look | null, organization: Look | null): Look | null =>
  own === null || organization === null ? (own ?? organization) : { ...organization, ...own }

/** A browser's spelling of an origin is the only one that is ever compared; there are no patterns. */
function isAllowedOrigin(origin: string): boolean {
  if (!URL.canParse(origin) || origin.includes("*")) return false
  const url = new URL(origin)
  const isSafe = url.protocol === "https:" || (url.protocol === "http:" && loopback.test(url.hostname))
  return isSafe && url.origin === origin
}
