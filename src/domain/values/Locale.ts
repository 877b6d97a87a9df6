/** Time zones and currencies. */
import { DateTime, Option, Schema } from "effect"

/** The name of a time zone in the IANA database. Fixed offsets such as `+01:00` are not accepted. */
export const TimeZone = Schema.String.check(
  Schema.makeFilter((name: string) => /^[A-Za-z]/.test(name) && Option.isSome(DateTime.zoneMakeNamed(name)), {
    expected: "a time zone of the IANA database",
    representation: { id: "usher/picklist", payload: null },
    toJsonSchema: () => ({})
  })
).annotate({ examples: ["Europe/Berlin"] })

/** A currency code in the format of ISO 4217. */
export const CurrencyCode = Schema.String.check(
  Schema.makeFilter((code: string) => /^[A-Z]{3}$/.test(code), {
    expected: "a currency code of three capital letters (ISO 4217)",
    representation: { id: "usher/picklist", payload: null },
    toJsonSchema: () => ({ pattern: "^[A-Z]{3}$" })
  })
).annotate({ examples: ["EUR"] })

const regions = new Intl.DisplayNames(["en"], { type: "region", fallback: "none" })

/** A country code of two capital letters (ISO 3166). */
export const CountryCode = Schema.String.check(
  Schema.makeFilter((code: string) => /^[A-Z]{2}$/.test(code) && code !== "ZZ" && regions.of(code) !== undefined, {
    expected: "a country code of two capital letters (ISO 3166)",
    representation: { id: "usher/picklist", payload: null },
    toJsonSchema: () => ({ pattern: "^[A-Z]{2}$" })
  })
).annotate({ examples: ["DE"] })

/**
 * The currencies whose minor unit is not a hundredth, by the digits after the point: list one of ISO 4217, published by
 * SIX on 2024-06-25. It is pinned here and not taken from `Intl`, whose digits differ for some currencies and may change
 * with a release of Node. A recorded auction must decide the same under each.
 */
const minorUnits: { readonly [digits: number]: string } = {
  0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
  3: "BHD IQD JOD KWD LYD OMR TND",
  4: "CLF UYW"
}

const fractionDigits: ReadonlyMap<string, number> = new Map(
  Object.entries(minorUnits).flatMap(([digits, codes]) =>
    codes.split(" ").map((code) => [code, Number(digits)] as const)
  )
)

/** Returns the number of digits after the point for amounts of a currency; 2 for an unknown one. */
export const fractionDigitsOf = (currencyCode: string): number => fractionDigits.get(currencyCode) ?? 2

/** The time zone and currency that a mechanism takes from its experience. */
export interface RegionalDefaults {
  readonly timeZone: string
  readonly currencyCode: string
}

/** The time zone if neither the record nor its organization has one. */
export const defaultTimeZone = "UTC"

/** The currency if neither the record nor its organization has one. */
export const defaultCurrencyCode = "USD"
