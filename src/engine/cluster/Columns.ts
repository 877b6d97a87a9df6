/**
 * Values of the same shape as columns: one for each field, and one value where all are the same. A message between
 * nodes has a hundred questions that differ in little, and a structured clone of columns costs a tenth of one of objects.
 */

/** The values of one place in the data. `by` tells the part of each value, where they have several shapes. */
export type Column =
  | { readonly same: unknown }
  | { readonly each: ReadonlyArray<unknown> }
  | { readonly names: ReadonlyArray<string>; readonly fields: ReadonlyArray<Column> }
  | { readonly by: Uint8Array; readonly parts: ReadonlyArray<Column> }

/** Values of more shapes than this are kept as they are. */
const shapesMax = 16

type Fields = { readonly [name: string]: unknown }

/** Returns the values as a column. Only plain objects are taken apart. */
export function toColumn(values: ReadonlyArray<unknown>): Column {
  const [first] = values
  if (values.every((value) => Object.is(value, first))) return { same: first }
  if (!isPlain(first)) return { each: values }
  const names = Object.keys(first)
  if (!values.every((value) => hasNames(value, names))) return byShape(values)
  const fields = names.map((name) => toColumn(values.map((value) => (value as Fields)[name])))
  return fields.every(isSame) ? { same: first } : { names, fields }
}

/** Returns the values again. Equal parts of them may be one object. */
export function fromColumn(column: Column, count: number): ReadonlyArray<unknown> {
  if ("each" in column) return column.each
  if ("same" in column) return Array.from({ length: count }, () => column.same)
  if ("by" in column) {
    const parts = column.parts.map((part, index) => {
      const size = column.by.reduce((sum, other) => (other === index ? sum + 1 : sum), 0)
      return fromColumn(part, size)[Symbol.iterator]()
    })
    return Array.from(column.by, (part) => parts[part]!.next().value)
  }
  const fields = column.fields.map((field) => fromColumn(field, count))
  return Array.from({ length: count }, (_, index) => {
    const value: { [name: string]: unknown } = {}
    for (let field = 0; field < fields.length; field++) value[column.names[field]!] = fields[field]![index]
    return value
  })
}

function byShape(values: ReadonlyArray<unknown>): Column {
  const shapes: Array<{ readonly names: ReadonlyArray<string> | undefined; readonly values: Array<unknown> }> = []
  const by = new Uint8Array(values.length)
  for (const [index, value] of values.entries()) {
    let shape = shapes.findIndex(({ names }) => (names === undefined ? !isPlain(value) : hasNames(value, names)))
    if (shape === -1) shape = shapes.push({ names: isPlain(value) ? Object.keys(value) : undefined, values: [] }) - 1
    if (shape >= shapesMax) return { each: values }
    shapes[shape]!.values.push(value)
    by[index] = shape
  }
  return { by, parts: shapes.map((shape) => toColumn(shape.values)) }
}

const isSame = (column: Column): boolean => "same" in column

const isPlain = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** Whether the value is a plain object with these names, in this order. */
function hasNames(value: unknown, names: ReadonlyArray<string>): boolean {
  if (!isPlain(value)) return false
  let index = 0
  for (const name in value) if (names[index++] !== name) return false
  return index === names.length
}
