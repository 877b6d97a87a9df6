/**
 * Cursors of lists. A cursor is Base64 text of a JSON object that names a row of one list, under one sort and one
 * filter, for one tenant. It is valid for 24 hours. Callers treat it as opaque.
 *
 * A cursor contains a digest with a secret of the installation. So every node accepts the cursors of all nodes, and
 * callers cannot make one. The digest is verified before anything else in a cursor is used. The position is then
 * checked against the types of the list, because another version of Usher may have issued it.
 */
import { Result, Schema } from "effect"
import { createHmac, timingSafeEqual } from "node:crypto"
import { isUuid } from "../../domain/values/Ids.ts"
import { isStorable } from "../../domain/values/Text.ts"
import type { Millis } from "../../domain/values/Time.ts"

/** How long a cursor is valid. */
export const cursorLifetimeMillis = 24 * 60 * 60 * 1_000

/** The types of sort fields, as Postgres names them. */
export type SortType = "timestamptz" | "text" | "bigint" | "numeric" | "uuid"

/** The list for which a cursor is valid. */
export interface Binding {
  readonly list: string
  readonly sortBy: string
  readonly sortDir: string
  /** Digest of the tenant and of every filter. */
  readonly filter: string
}

/** The row that a cursor names: its sort key and its id, as text. */
export interface Position {
  readonly key: string
  readonly id: string
}

/** The types of a position. A key of two values is the JSON text of both values. */
export interface PositionTypes {
  readonly key: readonly [SortType] | readonly [SortType, SortType]
  readonly id: SortType
}

/** The text is not a valid cursor. */
export interface CursorRefused {
  readonly expected: string
  readonly received: string
}

/** The content of a cursor. The time is in milliseconds since the epoch. */
const Cursor = Schema.fromJsonString(
  Schema.Struct({
    list: Schema.String,
    sortBy: Schema.String,
    sortDir: Schema.String,
    filter: Schema.String,
    key: Schema.String,
    id: Schema.String,
    issuedAt: Schema.Finite,
    check: Schema.String
  })
)
const decodeCursor = Schema.decodeUnknownResult(Cursor)

/** Returns the cursor of the row at this position, as Base64 that needs no escaping in a URL. */
export const writeCursor = (secret: Uint8Array, binding: Binding, { key, id }: Position, issuedAt: Millis): string => {
  const content = { ...binding, key, id, issuedAt }
  // Only characters that never encode to `+` or `/` are used. Blanks pad the text, so no `=` is needed.
  const json = JSON.stringify({ ...content, check: digestOf(secret, content).toString("base64url") }).replaceAll(
    /[^ -=@-}]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`
  )
  return Buffer.from(json.padEnd(Math.ceil(json.length / 3) * 3), "latin1").toString("base64")
}

/** Returns the position that a cursor names, if it is valid for this list at this time. */
export const readCursor = (
  secret: Uint8Array,
  text: string,
  binding: Binding,
  types: PositionTypes,
  now: Millis
): Result.Result<Position, CursorRefused> => {
  const decoded = decodeCursor(Buffer.from(text, "base64").toString("utf8"))
  if (Result.isFailure(decoded)) return refuse("a cursor of this list", "a malformed cursor")
  const { check, ...content } = decoded.success
  if (!isAuthentic(secret, content, check)) return refuse("a cursor of this list", "a damaged or forged cursor")
  if (content.list !== binding.list) return refuse("a cursor of this list", "a cursor of another list")
  if (content.sortBy !== binding.sortBy || content.sortDir !== binding.sortDir) {
    return refuse("a cursor of this sort order", "a cursor of another sort order")
  }
  if (content.filter !== binding.filter) return refuse("a cursor of these filters", "a cursor of other filters")
  if (now - content.issuedAt > cursorLifetimeMillis) return refuse("a cursor used within 24 hours", "an expired cursor")
  if (!fits(types, content)) return refuse("a cursor of this list", "a cursor of another version")
  return Result.succeed({ key: content.key, id: content.id })
}

type Content = Binding & Position & { readonly issuedAt: Millis }

function digestOf(secret: Uint8Array, { list, sortBy, sortDir, filter, key, id, issuedAt }: Content): Buffer {
  const parts = JSON.stringify([list, sortBy, sortDir, filter, key, id, issuedAt])
  return createHmac("sha256", secret).update(parts).digest()
}

function isAuthentic(secret: Uint8Array, content: Content, check: string): boolean {
  const given = Buffer.from(check, "base64url")
  const expected = digestOf(secret, content)
  return given.length === expected.length && timingSafeEqual(given, expected)
}

function refuse(expected: string, received: string): Result.Result<never, CursorRefused> {
  return Result.fail({ expected, received })
}

const decodePair = Schema.decodeUnknownResult(Schema.fromJsonString(Schema.Tuple([Schema.String, Schema.String])))

function fits({ key: types, id: idType }: PositionTypes, { key, id }: Position): boolean {
  if (!isOfType[idType](id)) return false
  if (types.length === 1) return isOfType[types[0]](key)
  const pair = decodePair(key)
  return Result.isSuccess(pair) && isOfType[types[0]](pair.success[0]) && isOfType[types[1]](pair.success[1])
}

/** Returns true if Postgres can read the text as a value of the type. */
const isOfType: { readonly [T in SortType]: (text: string) => boolean } = {
  text: isStorable,
  uuid: isUuid,
  numeric: (text) => /^-?\d{1,100}(\.\d{1,100})?$/.test(text),
  bigint: (text) => /^-?\d{1,19}$/.test(text) && BigInt.asIntN(64, BigInt(text)) === BigInt(text),
  timestamptz: (text) => text === "-infinity" || text === "infinity" || isInstant(text)
}

/** An instant as Postgres writes it. */
const instantPattern =
  /^(?<year>\d{4,6})-(?<month>\d\d)-(?<day>\d\d) ([01]\d|2[0-3])(:[0-5]\d){2}(\.\d{1,6})?[+-](0\d|1[0-5])(:[0-5]\d){0,2}$/

const yearMax = 294_275

function isInstant(text: string): boolean {
  const { year, month, day } = instantPattern.exec(text)?.groups ?? {}
  if (year === undefined || Number(year) < 1 || Number(year) > yearMax) return false
  // The calendar repeats every 400 years.
  const date = new Date(Date.UTC(2000 + (Number(year) % 400), Number(month) - 1, Number(day)))
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day)
}
