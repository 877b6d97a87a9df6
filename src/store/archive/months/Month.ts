/** A calendar month in UTC, as `2026-05`. A mechanism belongs to the month of its creation. */
import { Schema } from "effect"

const pattern = /^(\d{4})-(0[1-9]|1[0-2])$/

export const Month = Schema.String.check(
  Schema.makeFilter((text) => pattern.test(text), { expected: "a month such as 2026-06" })
).pipe(Schema.brand("Month"))
export type Month = typeof Month.Type

/** Reads a month; undefined if the text has another shape. */
export const parseMonth = (text: string): Month | undefined => (pattern.test(text) ? Month.make(text) : undefined)

/** The month of an instant, in milliseconds. */
export const monthOf = (at: number): Month => Month.make(new Date(at).toISOString().slice(0, 7))

/** The first instants of the month and of the next one, as SQL literals. */
export const boundsOf = (month: Month): { readonly from: string; readonly to: string } => {
  const [year, number] = month.split("-").map(Number) as [number, number]
  const literal = (at: number) => `'${new Date(at).toISOString()}'::timestamptz`
  return { from: literal(Date.UTC(year, number - 1)), to: literal(Date.UTC(year, number)) }
}
