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

/**
 * The `settings` with the changes made. An absent change keeps the setting; null resets it to its default or removes
 * it.
 */
export const withChanges = <S extends object>(
  settings: Partial<S>,
  changes: { readonly [K in keyof S]?: S[K] | null },
  names: Fields,
  defaults: Partial<S>
): Partial<S> => {
  const changed: { [name: string]: unknown } = { ...settings }
  for (const name of Object.keys(names)) {
    const value = changes[name as keyof S]
    if (value === undefined) continue
    if (value !== null) changed[name] = value
    else if (Object.hasOwn(defaults, name)) changed[name] = defaults[name as keyof S]
    else delete changed[name]
  }
  return changed as Partial<S>
}

/**
 * Makes the function that returns the settings of a kind of record with the changes made. The settings must be complete
 * with the changes and the defaults: every required one is in the body of a creation, in the defaults, or stored.
 */
export const revising =
  <S extends object>(names: Fields, defaults: Partial<S> = {}) =>
  (settings: Partial<S>, changes: { readonly [K in keyof S]?: S[K] | null }): S =>
    withChanges<S>(settings, changes, names, defaults) as S

/** A record's settings for `recordFields`: null where one is not set. */
export const withNulls = (settings: object, names: Fields): { readonly [name: string]: unknown } =>
  Object.fromEntries(
    Object.keys(names).map((name) => [name, (settings as { readonly [name: string]: unknown })[name] ?? null])
  )

function mapFields(fields: Fields, change: (name: string, field: Schema.Constraint) => Schema.Constraint) {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, change(name, field)]))
}

function isOptional(field: Schema.Constraint): field is Schema.optionalKey<Schema.Constraint> {
  return field.ast.context?.isOptional === true && "schema" in field
}

function inner(field: Schema.Constraint): Schema.Constraint {
  return isOptional(field) ? field.schema : field
}
