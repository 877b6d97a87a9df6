/** Consumers as an organization keeps them, and audiences whose members follow from what is known of consumers. */
import { Effect } from "effect"

export default Effect.void
