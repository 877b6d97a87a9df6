/**
 * Identifiers. Records have UUIDs. Usher creates UUIDv7, which sort by age. Requests may contain any UUID; it is
 * converted to lower case.
 */
import { Schema, SchemaTransformation } from "effect"
import type { Millis } from "./Time.ts"

const uuidPattern = /^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$/

/** True if the text is an identifier. */
export const isUuid = (text: string): boolean => uuidPattern.test(text)

/** Returns when the identifier was made: a UUIDv7 begins with it, in milliseconds. 0 for any other identifier. */
export const createdAtOf = (id: string): Millis =>
  id[14] === "7" ? Number.parseInt(id.slice(0, 8), 16) * 65_536 + Number.parseInt(id.slice(9, 13), 16) : 0

/** A UUID in lower case. */
export const Id = Schema.String.check(
  Schema.makeFilter(isUuid, {
    expected: "a UUID",
    representation: { id: "usher/uuid", payload: null },
    toJsonSchema: () => ({ format: "uuid" })
  })
)
  .annotate({ examples: ["0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"] })
  .pipe(
    Schema.decodeTo(
      Schema.String,
      SchemaTransformation.transform({ decode: (text) => text.toLowerCase(), encode: (text) => text })
    )
  )

/**
 * Whether a record belongs to the organization's real business or to its tests. A `test` key never reads `live`
 * records.
 */
export const Mode = Schema.Literals(["live", "test"])
export type Mode = typeof Mode.Type

/** The tenant of a request. Every record belongs to exactly one. */
export interface Tenant {
  readonly organizationId: string
  readonly mode: Mode
}

/** True if organization and mode are equal. */
export const sameTenant = (a: Tenant, b: Tenant): boolean => a.organizationId === b.organizationId && a.mode === b.mode
