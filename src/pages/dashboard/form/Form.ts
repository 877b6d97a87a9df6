/**
 * A form with what was typed and what is wrong at each field. A form that was refused is shown again with both, and
 * with a list of the problems above it, which leads to the fields.
 */
import { fontType } from "../../../domain/catalogue/Font.ts"
import { isShownPicture, uploadTypes } from "../../../domain/catalogue/Picture.ts"
import { html, type Html, type Inserted } from "../../Html.ts"
import type { Refusal, Wrong } from "../../Refusal.ts"

/** What is wrong, by the name of a field. Problems of no field have names that no field has. */
export type Problems = ReadonlyMap<string, string>

/** A form that was sent, and what is wrong with it. */
export interface Sent {
  readonly fields: URLSearchParams
  readonly problems?: Problems
}

/** The name of the field with the file of a picture. */
export const fileOf = (name: string): string => `${name}.file`

interface FieldOptions {
  readonly label: string
  /** What the page has before a person types. */
  readonly value?: string | number | undefined
  readonly hint?: Inserted
  readonly isOptional?: boolean
  /** What stands behind the field, such as a unit. */
  readonly after?: Inserted
}

interface InputOptions extends FieldOptions {
  readonly type?: "text" | "number" | "url" | "email" | "date" | "time" | "datetime-local" | "password"
  readonly min?: number
  readonly max?: number
  /** Whether a number may be a fraction. */
  readonly isFraction?: boolean
  readonly placeholder?: string
  readonly autocomplete?: string
  readonly list?: string
  /** Attributes by which the script finds it. */
  readonly marks?: Html | undefined
}

/** A choice: its value, and how it is called. */
export type Choice = readonly [value: string, label: string]

/** The fields of one form. */
export class Form {
  readonly #sent: Sent | undefined
  /** The labels of the fields that were written, for the list above them. */
  readonly #labels = new Map<string, string>()

  readonly #scope: string

  /** `scope` tells the forms of one screen apart. */
  constructor(sent?: Sent, scope = "") {
    this.#sent = sent
    this.#scope = scope
  }

  /** What the person typed, or else the value of the page. */
  valueOf(name: string, fallback: string | number = ""): string {
    return this.#sent?.fields.get(name) ?? `${fallback}`
  }

  /** True if a box is ticked, or was before the form was sent. */
  isTicked(name: string, value: string, fallback: boolean): boolean {
    return this.#sent === undefined ? fallback : this.#sent.fields.getAll(name).includes(value)
  }

  input(name: string, options: InputOptions): Html {
    const { type = "text", placeholder, autocomplete, list, marks, isOptional = false, isFraction = false } = options
    const { min = 0, max = 1_000_000_000 } = options
    return this.#field(
      name,
      options,
      (attributes) =>
        html`<input
          ${attributes}
          ${marks}
          type="${type}"
          value="${this.valueOf(name, options.value)}"
          ${type === "number" && html`min="${min}" max="${max}" step="${isFraction ? "any" : "1"}" inputmode="${isFraction ? "decimal" : "numeric"}"`}
          ${placeholder !== undefined && html`placeholder="${placeholder}"`}
          ${autocomplete !== undefined && html`autocomplete="${autocomplete}"`}
          ${list !== undefined && html`list="${list}"`}
          ${!isOptional && html`required`}
        />`
    )
  }

  /** A picture: a file to upload, or an address. Its form has files (`enctype`). */
  picture(
    name: string,
    options: Pick<FieldOptions, "label"> & {
      readonly address: string
      readonly value?: string | undefined
      readonly hint?: string
    }
  ): Html {
    const { label, address, value, hint } = options
    const chosen = this.valueOf(name, value)
    return html`<div class="upload">
      ${isShownPicture(chosen) && html`<img src="${chosen}" alt="" />`}
      ${this.#field(
        fileOf(name),
        { label, hint: `${hint ?? ""} PNG, JPEG, WebP or AVIF, at most 5 MB.` },
        (attributes) => html`<input ${attributes} type="file" accept="${uploadTypes.join(",")}" />`
      )}
      ${this.#field(
        name,
        { label: address, hint: "In place of a file: an https address that browsers can open." },
        (attributes) =>
          html`<input
            ${attributes}
            value="${chosen}"
            inputmode="url"
            pattern="[a-z]+:.+|/pictures/.+"
            placeholder="https://cdn.example/aurora.jpg"
          />`
      )}
    </div>`
  }

  /** A font: a file to upload, or the address of one. Its form has files (`enctype`). */
  font(name: string, { label, value }: Pick<FieldOptions, "label"> & { readonly value?: string | undefined }): Html {
    return html`<div class="upload">
      ${this.#field(
        fileOf(name),
        { label, hint: "WOFF2, at most 300 KB." },
        (attributes) => html`<input ${attributes} type="file" accept=".woff2,${fontType}" />`
      )}
      ${this.#field(
        name,
        { label: `${label}: address`, hint: "Of a font that was uploaded before. Empty: none." },
        (attributes) => html`<input ${attributes} value="${this.valueOf(name, value)}" pattern="/fonts/.+" />`
      )}
    </div>`
  }

  area(name: string, options: FieldOptions & { readonly rows?: number; readonly placeholder?: string }): Html {
    const { rows = 4, placeholder, isOptional = true } = options
    const more = html`rows="${rows}" spellcheck="false"
    ${placeholder !== undefined && html`placeholder="${placeholder}"`} ${!isOptional && html`required`}`
    // The parser of HTML drops a line break before the text, and anything else there would become a part of it.
    const text = `\n${this.valueOf(name, options.value)}`
    return this.#field(name, options, (attributes) => html`<textarea ${attributes} ${more}>${text}</textarea>`)
  }

  select(name: string, options: FieldOptions & { readonly choices: ReadonlyArray<Choice> }): Html {
    const chosen = this.valueOf(name, options.value)
    return this.#field(
      name,
      options,
      (attributes) =>
        html`<select ${attributes}>
          ${options.choices.map(([value, label]) => html`<option value="${value}" dir="auto" ${value === chosen && html`selected`}>${label}</option>`)}
        </select>`
    )
  }

  /** Boxes of one name. */
  boxes(
    name: string,
    legend: string,
    choices: ReadonlyArray<Choice>,
    options: { readonly ticked?: ReadonlyArray<string>; readonly hint?: Inserted } = {}
  ): Html {
    this.#labels.set(name, legend)
    const problem = this.#problemAt(name)
    return html`<fieldset id="${this.#idOf(name)}" tabindex="-1">
      <legend>${legend}</legend>
      ${choices.map(
        ([value, label]) =>
          html`<label class="tick"
            ><input
              type="checkbox"
              name="${name}"
              value="${value}"
              ${this.isTicked(name, value, options.ticked?.includes(value) === true) && html`checked`}
            />
            ${label}</label
          >`
      )}
      ${options.hint !== undefined && html`<p class="hint">${options.hint}</p>`}${problem}
    </fieldset>`
  }

  /** The problems of a refused form. They have the focus when the page opens. Write it after the fields. */
  summary(nothing: string): Html | false {
    const problems = [...(this.#sent?.problems ?? [])]
    if (problems.length === 0) return false
    return html`<div class="card problems" role="alert" tabindex="-1" autofocus>
      <p class="error">${nothing}</p>
      <ul>
        ${problems.map(([name, sentence]) => {
          const label = this.#labels.get(name)
          return html`<li>
            ${label === undefined ? sentence : html`<a href="#${this.#idOf(name)}">${label}</a>: ${sentence}`}
          </li>`
        })}
      </ul>
    </div>`
  }

  #field(name: string, { label, hint, after }: FieldOptions, control: (attributes: Html) => Html): Html {
    this.#labels.set(name, label)
    const id = this.#idOf(name)
    const problem = this.#problemAt(name)
    const described = [hint !== undefined && `${id}-hint`, problem !== false && `${id}-problem`].filter(Boolean)
    const attributes = html`id="${id}" name="${name}"
    ${described.length > 0 && html`aria-describedby="${described.join(" ")}"`}
    ${problem !== false && html`aria-invalid="true"`}`
    return html`<div class="field">
      <label for="${id}">${label}</label>
      ${after === undefined ? control(attributes) : html`<span class="pair">${control(attributes)}${after}</span>`}
      ${hint !== undefined && html`<span class="hint" id="${id}-hint">${hint}</span>`}${problem}
    </div>`
  }

  #idOf(name: string): string {
    return `f-${this.#scope}${name}`
  }

  #problemAt(name: string): Html | false {
    const problem = this.#sent?.problems?.get(name)
    return problem !== undefined && html`<p class="error" id="${this.#idOf(name)}-problem">${problem}</p>`
  }
}

/**
 * Returns the problems of a refusal at the fields of a form. `fieldAt` returns the field for the path of a value; without
 * one the problem is told above the form.
 */
export const problemsOf = (
  { wrong = [], detail }: Pick<Refusal, "wrong" | "detail">,
  fieldAt: (path: ReadonlyArray<string>) => string | undefined
): Problems => {
  const problems = new Map<string, string>()
  for (const one of wrong) {
    const name = fieldAt(one.path)
    if (name !== undefined) problems.set(name, problems.get(name) ?? one.sentence)
    else problems.set(one.path.join("."), generalOf(one))
  }
  return problems.size > 0 ? problems : new Map([["", detail ?? "A value is not valid."]])
}

const generalOf = ({ path, sentence }: Wrong): string => `${path.join(", ")}: ${sentence}`
