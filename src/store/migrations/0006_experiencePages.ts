/** Experience pages with their creative documents. */
import { Effect } from "effect"

export default Effect.void
