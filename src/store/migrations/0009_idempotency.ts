/** The first answers to requests that may be repeated. */
import { Effect } from "effect"

export default Effect.void
