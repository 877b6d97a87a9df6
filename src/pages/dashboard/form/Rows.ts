/**
 * Numbered rows of fields in a form. Buttons of the form add, move and remove them, also without a script, and nothing is
 * stored by them: the form is shown again as they leave it.
 */
import { html, type Html } from "../../Html.ts"

/** The values of a row, by the suffixes of its fields. */
export type Row<Suffix extends string> = { readonly [S in Suffix]?: string }

/** Where a row is in its form. `action` is the address of the form. */
export interface RowPlace {
  readonly index: number
  readonly count: number
  readonly action: string
}

interface Options<Suffix extends string> {
  /** The beginning of the names of fields, and what a row is called. */
  readonly name: string
  /** The field with the number of rows, and the id of the part with the rows. */
  readonly all: string
  readonly suffixes: ReadonlyArray<Suffix>
  /** Rows that are shown and read; the others are left out. */
  readonly rowsMax: number
}

/** The rows of one kind of form. */
export class Rows<Suffix extends string> {
  readonly #options: Options<Suffix>

  constructor(options: Options<Suffix>) {
    this.#options = options
  }

  fieldName(index: number, suffix: Suffix): string {
    return `${this.#options.name}.${index}.${suffix}`
  }

  /** The number of rows in a form. */
  countIn(fields: URLSearchParams): number {
    const { all, rowsMax } = this.#options
    const sent = Number(fields.get(all) ?? 0)
    return Number.isInteger(sent) && sent > 0 ? Math.min(rowsMax, sent) : 0
  }

  rowsIn(fields: URLSearchParams): ReadonlyArray<Row<Suffix>> {
    return Array.from(
      { length: this.countIn(fields) },
      (_, index) =>
        Object.fromEntries(
          this.#options.suffixes.flatMap((suffix) => {
            const value = fields.get(this.fieldName(index, suffix))
            return value === null ? [] : [[suffix, value]]
          })
        ) as Row<Suffix>
    )
  }

  /** Puts these rows in the place of the ones that a form has. */
  write(fields: URLSearchParams, rows: ReadonlyArray<Row<Suffix>>): void {
    const { name, all } = this.#options
    const former = [...fields.keys()].filter((field) => field.startsWith(`${name}.`))
    for (const field of former) fields.delete(field)
    fields.set(all, `${rows.length}`)
    rows.forEach((row, index) => {
      for (const [suffix, value] of Object.entries<string | undefined>(row)) {
        if (value !== undefined) fields.set(this.fieldName(index, suffix as Suffix), value)
      }
    })
  }

  /** Does what the buttons of the rows ask for. Returns the form after it; undefined if none was used. */
  arranged(sent: URLSearchParams, added: Row<Suffix> | undefined): URLSearchParams | undefined {
    const [doing = "", at] = (sent.get("do") ?? "").split(".")
    const index = Number(at)
    const rows = [...this.rowsIn(sent)]
    if (doing === "add") rows.push(...(added === undefined ? [] : [added]))
    else if (doing === "remove") rows.splice(index, 1)
    else if (doing === "up" && index > 0) rows.splice(index - 1, 0, ...rows.splice(index, 1))
    else if (doing === "down") rows.splice(index + 1, 0, ...rows.splice(index, 1))
    else return undefined
    const fields = new URLSearchParams(sent)
    fields.delete("do")
    this.write(fields, rows)
    return fields
  }

  /** The buttons that move and remove a row. */
  buttons({ index, count, action }: RowPlace): Html {
    const { name } = this.#options
    const button = (doing: string, text: string) =>
      html`<button name="do" value="${doing}.${index}" class="quiet" formnovalidate formaction="${this.#here(action)}">
        ${text} <span class="unseen">${name} ${index + 1}</span>
      </button>`
    return html`<div class="actions">
      ${index > 0 && button("up", "Move up")} ${index + 1 < count && button("down", "Move down")}
      ${button("remove", "Remove")}
    </div>`
  }

  /** The button that adds a row. */
  addButton(fields: URLSearchParams, text: string, action: string): Html | false {
    return (
      this.countIn(fields) < this.#options.rowsMax &&
      html`<button name="do" value="add" class="quiet" formnovalidate formaction="${this.#here(action)}">
        ${text}
      </button>`
    )
  }

  /** The hidden field with the number of rows. */
  countField(fields: URLSearchParams): Html {
    return html`<input type="hidden" name="${this.#options.all}" value="${this.countIn(fields)}" />`
  }

  #here(action: string): string {
    return `${action}#${this.#options.all}`
  }
}
