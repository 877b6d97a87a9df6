/** Fields of records that are copied from one mode to the other. */

export type Fields = Readonly<Record<string, unknown>>

/** Returns the fields that a body takes and that have a value. */
export const picked = (record: object, fields: object, without: ReadonlyArray<string> = []): Fields =>
  Object.fromEntries(
    Object.keys(fields).flatMap((name) => {
      const value = (record as Fields)[name]
      return value === null || value === undefined || without.includes(name) ? [] : [[name, value]]
    })
  )
