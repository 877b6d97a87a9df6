/** Rows as CSV (RFC 4180). A cell that a spreadsheet would take for a formula is made text. */

/** The value of a cell. */
export type Cell = string | number | null | undefined

/** Returns a row with its line break. */
export const csvRow = (cells: ReadonlyArray<Cell>): string => `${cells.map(written).join(",")}\r\n`

const written = (cell: Cell): string => {
  if (typeof cell === "number") return `${cell}`
  const text = cell ?? ""
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
