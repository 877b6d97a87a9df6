/** Free JSON of catalogue records. It is short, because lists contain many records. */
import { Schema } from "effect"
import { JsonObject } from "../values/Text.ts"

/** Limit for the JSON metadata of a product or a variant, in characters. */
export const metadataLengthMax = 4_000
/** Limit for the JSON data of a sync source, in characters. */
export const sourceDataLengthMax = 10_000

const shortJson = (lengthMax: number) =>
  JsonObject.check(
    Schema.makeFilter((value) => JSON.stringify(value).length <= lengthMax, {
      expected: `<=${lengthMax}`,
      representation: { id: "usher/max_length", payload: null },
      toJsonSchema: () => ({})
    })
  ).annotate({ description: `At most ${lengthMax} characters of JSON.` })

/** Free data of an organization about a product or a variant. */
export const Metadata = shortJson(metadataLengthMax)

/** Free data of an organization about a sync source. */
export const SourceData = shortJson(sourceDataLengthMax)
