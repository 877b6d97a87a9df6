/** What an analytics query looks things up by. */
import { Effect } from "effect"

export default Effect.void
