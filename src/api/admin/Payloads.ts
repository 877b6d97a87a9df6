/**
 * The bodies and records of the Admin API, derived from the settings of a record, so that a setting is declared once.
 *
 * In a body that creates, a setting with a default may be absent or null. In a body that changes, every setting may be
 * absent, which keeps its value; null resets it to its default. A record shows every setting, null where it is not set.
 */
import { Schema } from "effect"

type Fields = Schema.Struct.Fields

/** The schema of a setting, without the option to leave its key out. */
type Setting<F> = F extends Schema.optionalKey<infer S> ? S : F
type Nullable<F> = Setting<F> extends Schema.Constraint ? Schema.optionalKey<Schema.NullOr<Setting<F>>> : never

type CreateFields<F extends Fields, Required extends keyof F> = {
  readonly [K in keyof F]: K extends Required ? F[K] : Nullable<F[K]>
}
type ChangeFields<F extends Fields, Required extends keyof F> = {
  readonly [K in keyof F]: K extends Required
    ? F[K] extends Schema.Constraint
      ? Schema.optionalKey<F[K]>
      : never
    : Nullable<F[K]>
}
type RecordFields<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends Schema.optionalKey<infer S> ? Schema.NullOr<S> : F[K]
}

/** The body that creates a record: the required settings, and optionally the others. */
export const createFields = <F extends Fields, const Required extends keyof F & string>(
  settings: F,
  required: ReadonlyArray<Required>
): CreateFields<F, Required> =>
  mapFields(settings, (name, field) =>
    required.includes(name as Required) ? field : Schema.optionalKey(Schema.NullOr(inner(field)))
  ) as CreateFields<F, Required>

/** The body that changes a record. */
export const changeFields = <F extends Fields, const Required extends keyof F & string>(
  settings: F,
  required: ReadonlyArray<Required>
): ChangeFields<F, Required> =>
  mapFields(settings, (name, field) =>
    Schema.optionalKey(required.includes(name as Required) ? inner(field) : Schema.NullOr(inner(field)))
  ) as ChangeFields<F, Required>

/** The settings as a record shows them. */
export const recordFields = <F extends Fields>(settings: F): RecordFields<F> =>
  mapFields(settings, (_, field) => (isOptional(field) ? Schema.NullOr(field.schema) : field)) as RecordFields<F>

/** An object with these fields and no others. The issue of an unknown field names the known ones. */
export const closed = <const F extends Fields>(fields: F) => {
  const names = Object.keys(fields)
  const toJsonSchema = () => ({ not: {} })
  const otherName = Schema.String.check(Schema.makeFilter((name: string) => !names.includes(name), { toJsonSchema }))
  const expected = `one of the fields ${names.join(", ")}`
  const nothing = Schema.Unknown.check(
    Schema.makeFilter(() => false, { expected, representation: { id: "usher/picklist", payload: null }, toJsonSchema })
  )
  return Schema.StructWithRest(Schema.Struct(fields), [Schema.Record(otherName, nothing)])
}

function mapFields(fields: Fields, change: (name: string, field: Schema.Constraint) => Schema.Constraint) {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, change(name, field)]))
}

function isOptional(field: Schema.Constraint): field is Schema.optionalKey<Schema.Constraint> {
  return field.ast.context?.isOptional === true && "schema" in field
}

function inner(field: Schema.Constraint): Schema.Constraint {
  return isOptional(field) ? field.schema : field
}
