import { Schema } from "effect"

/** The store cannot be reached, is too slow, or refused the work itself. The outcome of a write is then unknown. */
export class Unavailable extends Schema.TaggedError<Unavailable>()("Unavailable", {
  cause: Schema.Defect()
}) {}
