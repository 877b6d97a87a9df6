/** Fields that the live facts of several kinds of mechanism have. */
import { Schema } from "effect"
import { SentTimestamp } from "../../domain/values/Time.ts"

export const count = (description: string) => Schema.NullOr(Schema.Int.annotate({ description }))

export const instant = Schema.NullOr(SentTimestamp)

export const unitsLeft = Schema.NullOr(Schema.Int).annotate({ description: "Null without a limit." })

export const isFull = Schema.NullOr(Schema.Boolean).annotate({
  description: "True while `capacity` allows no further consumer."
})
