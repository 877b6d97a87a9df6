/** The mark of a standing that is read while the database is away. */
import { Schema } from "effect"
import { SentTimestamp } from "../../domain/values/Time.ts"

/** The field of a standing that is read while the database is away. */
export const asOf = Schema.optionalKey(
  SentTimestamp.annotate({
    description:
      "Present only in responses to `…/status` (of appointments: `…/me`) while the database is away: the standing is the " +
      "last one that was recorded, and it is certain as of this instant. Nobody is admitted meanwhile. Such responses come " +
      "for up to a minute. The standing may have changed only if this node alone has lost the database."
  })
)
