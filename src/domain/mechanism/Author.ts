/**
 * Who did something to a consumer's place. Events that a consumer or time brings about have no author.
 */
import { Schema } from "effect"

/**
 * The API key that was used, as records name it; absent if the consumer or time did it. Events of before keys were recorded
 * say `operator`.
 */
export const by = Schema.optionalKey(Schema.String)

/** The field, where there is an author. */
export const authored = (author: string | undefined): { readonly by?: string } =>
  author === undefined ? {} : { by: author }
