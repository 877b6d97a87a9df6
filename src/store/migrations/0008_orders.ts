/** Orders, and how often a consumer may order. */
import { Effect } from "effect"

export default Effect.void
