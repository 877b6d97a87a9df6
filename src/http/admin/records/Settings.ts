/**
 * The settings of a record: changed by a body of the Admin API, and as a record shows them.
 */
import type { Schema } from "effect"

type Fields = Schema.Struct.Fields

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
