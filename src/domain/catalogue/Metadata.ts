/**
 * Free JSON beside the fields of a catalogue record: short, because lists carry many of them.
 */
import { Schema } from "effect"
import { JsonObject } from "../values/Text.ts"

/** Characters of JSON that a product's or a variant's metadata has at most. */
export const metadataLengthMax = 4_000
/** Characters of JSON that a sync source keeps of where it came from at most. */
export const sourceDataLengthMax = 10_000

const shortJson = (lengthMax: number) =>
  JsonObject.check(
    Schema.makeFilter((value) => JSON.stringify(value).length <= lengthMax, {
      expected: `<=${lengthMax}`,
      representation: { id: "usher/max_length", payload: null },
      toJsonSchema: () => ({})
    })
  ).annotate({ description: `At most ${lengthMax} characters of JSON.` })

/** What an organization notes on a product or a variant. */
export const Metadata = shortJson(metadataLengthMax)

/** What an organization notes on a sync source. */
export const SourceData = shortJson(sourceDataLengthMax)
