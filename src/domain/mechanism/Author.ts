/**
 * Who did something to a consumer's place. Events that a consumer or time brings about have no author.
 */
import { Schema } from "effect"

/**
 * The name of the API key that was used; absent if the consumer or time did it. Events from before keys were recorded
 * say `operator`.
 */
export const by = Schema.optionalKey(Schema.String)

/** Returns the `by` field; empty if there is no author. */
export const authored = (author: string | undefined): { readonly by?: string } =>
  author === undefined ? {} : { by: author }
