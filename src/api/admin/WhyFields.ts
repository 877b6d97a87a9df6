/** Why staff act on a mechanism: the fields of the bodies of their actions. */
import { Schema } from "effect"
import { StaffReason } from "../../domain/mechanism/Author.ts"
import { text } from "../../domain/values/Text.ts"

/** UTF-16 units of a note. */
export const noteLengthMax = 500

const nullable = <S extends Schema.Constraint>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))

/** A note for colleagues. */
export const noteField = {
  note: nullable(
    text({ minLength: 1, maxLength: noteLengthMax }).pipe(
      Schema.annotateEncoded({
        description: "For colleagues: only the audit log keeps it. Name no consumer, because notes are not erased."
      })
    )
  )
}

/** The reason and the note. */
export const whyFields = {
  reason: nullable(
    StaffReason.annotate({ description: "Recorded in the history with the author. Consumers may be shown it." })
  ),
  ...noteField
}

/** The body of an action that needs no other field. It may be absent. */
export const whyBody = [Schema.Struct(whyFields), Schema.Null] as const

/** The reason and the note of a body. */
export interface Why {
  readonly reason?: StaffReason | null
  readonly note?: string | null
}

/** Returns the `reason` of a command. */
export const reasonOf = (why: Why | null | undefined): { readonly reason?: StaffReason } =>
  typeof why?.reason === "string" ? { reason: why.reason } : {}
