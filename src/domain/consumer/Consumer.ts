/** The consumer as an organization stores it. Guests are consumers too. */
import { Schema } from "effect"
import { Amount } from "../values/Amount.ts"
import { recordSchema } from "../values/Record.ts"
import { JsonObject, key, text } from "../values/Text.ts"
import { Timestamp } from "../values/Time.ts"

/** Limit of consumers created and changed in one request. */
export const consumersAtOnceMax = 500

/** Limit for the JSON of a consumer's attributes, and of its metadata, in characters. */
export const jsonLengthMax = 10_000

/** A guest has not signed in. */
export const ConsumerType = Schema.Literals(["guest", "authenticated"])
export type ConsumerType = typeof ConsumerType.Type

const isJsonObject = Schema.is(JsonObject)

/** Checks the depth first: JSON that is nested too deep is already refused and must not be serialized. */
const ShortJson = JsonObject.check(
  Schema.makeFilter(
    (value: { readonly [key: string]: unknown }) =>
      !isJsonObject(value) || JSON.stringify(value).length <= jsonLengthMax,
    {
      expected: `<=${jsonLengthMax}`,
      representation: { id: "usher/max_length", payload: null },
      toJsonSchema: () => ({})
    }
  )
)

/** A person's full name or preferred name. */
export const PersonName = text({ minLength: 1, maxLength: 200 })

/** The fields an admin sets. The email has its one spelling, and the phone number is in E.164. */
export const Settings = Schema.Struct({
  email: Schema.optionalKey(text({ minLength: 1, maxLength: 320 })),
  phone: Schema.optionalKey(text({ minLength: 1, maxLength: 64 })),
  fullName: Schema.optionalKey(PersonName),
  name: Schema.optionalKey(PersonName),
  externalId: Schema.optionalKey(key({ minLength: 1, maxLength: 200 })),
  loyaltyBalance: Amount,
  attributes: Schema.optionalKey(ShortJson),
  metadata: Schema.optionalKey(ShortJson)
})
export type Settings = typeof Settings.Type

/** Defaults of absent fields. */
export const defaults = { loyaltyBalance: 0n } satisfies Partial<Settings>

/** The consumer in responses. Unknown fields are null. Its order totals are computed, never set. */
export const Consumer = recordSchema("Consumer", {
  type: ConsumerType,
  email: Schema.NullOr(Schema.String),
  phone: Schema.NullOr(Schema.String),
  fullName: Schema.NullOr(Schema.String),
  name: Schema.NullOr(Schema.String),
  externalId: Schema.NullOr(Schema.String),
  loyaltyBalance: Amount,
  attributes: Schema.NullOr(JsonObject),
  metadata: Schema.NullOr(JsonObject),
  orderCount: Schema.Int,
  totalOrderValue: Schema.String.annotate({
    description:
      "The sum of its orders in the organization's currency, as decimal text. It may exceed the maximum of one amount. " +
      "It follows a change of that currency."
  }),
  totalOrderValues: Schema.Record(Schema.String, Schema.String).annotate({
    description:
      "The sum of its orders in each currency, by the currency's code. Amounts of different currencies are never added " +
      "up.",
    examples: [{ EUR: "39.80", USD: "120" }]
  }),
  lastOrderAt: Schema.NullOr(Timestamp)
})
export type Consumer = typeof Consumer.Type

/** How the list of consumers can be sorted. The first is the default. */
export const consumerSorts = ["createdAt", "email", "fullName", "lastOrderAt", "totalOrderValue"] as const

/** Entries of each list in an export; the newest. */
export const exportedMax = 10_000

/** Mechanisms whose journals an export searches for the events of a consumer; those it entered last. */
export const exportedJournalsMax = 200
