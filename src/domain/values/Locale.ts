/**
 * Where and in what money: time zones and currencies.
 */
import { DateTime, Option, Schema } from "effect"

/** A time zone of the IANA database, by name; fixed offsets such as `+01:00` are not zones. */
export const TimeZone = Schema.String.check(
  Schema.makeFilter((name: string) => /^[A-Za-z]/.test(name) && Option.isSome(DateTime.zoneMakeNamed(name)), {
    expected: "a time zone of the IANA database",
    representation: { id: "usher/picklist", payload: null },
    toJsonSchema: () => ({})
  })
).annotate({ examples: ["Europe/Berlin"] })

/** A currency, in the shape of ISO 4217. */
export const CurrencyCode = Schema.String.check(
  Schema.makeFilter((code: string) => /^[A-Z]{3}$/.test(code), {
    expected: "a currency code of three capital letters (ISO 4217)",
    representation: { id: "usher/picklist", payload: null },
    toJsonSchema: () => ({ pattern: "^[A-Z]{3}$" })
  })
).annotate({ examples: ["EUR"] })

/** How many digits after the point amounts of a currency have; 2 where nothing is known of it. */
export const fractionDigitsOf = (currencyCode: string): number =>
  new Intl.NumberFormat("en", { style: "currency", currency: currencyCode }).resolvedOptions().maximumFractionDigits ??
  2

/** Where a mechanism happens, and in what money: what it takes from its experience. */
export interface RegionalDefaults {
  readonly timeZone: string
  readonly currencyCode: string
}

/** Where neither the record nor its organization names a zone. */
export const defaultTimeZone = "UTC"

/** Where neither the record nor its organization names a currency. */
export const defaultCurrencyCode = "USD"
