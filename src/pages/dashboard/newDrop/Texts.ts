/** Texts of a drop in place of the built-in ones, by language. */
import { html, type Html } from "../../Html.ts"
import { roomKindOf } from "../../room/mechanism/Kinds.ts"
import { type Language, languages, type PlainKey, wordsIn } from "../../Words.ts"
import type { Form } from "../form/Form.ts"
import { textIn } from "../form/Typed.ts"
import type { Part } from "./Parts.ts"

/** The languages with fields of their own. The others are in the drop's tab for its look. */
const shown: ReadonlyArray<Language> = ["en", "de"]

const labels: { readonly [Key in PlainKey]?: string } = {
  granted: "At a person's turn",
  continue: "Way to the shop",
  completed: "After the purchase",
  soldOut: "Sold out"
}

/** The texts that a form asks for: how each part is entered, and what all parts say. */
const keysOf = (parts: ReadonlyArray<Part>): ReadonlyArray<readonly [PlainKey, string]> => [
  ...new Map(
    parts.map(({ kind, title }) => [roomKindOf(kind).action, `Button of the ${title.toLowerCase()}`] as const)
  ),
  ...(Object.entries(labels) as ReadonlyArray<[PlainKey, string]>)
]

export const textFields = (form: Form, parts: ReadonlyArray<Part>): Html => html`
  <details class="card">
    <summary>Texts in English and German</summary>
    <p class="hint">
      Rooms speak 16 languages. A text here replaces the built-in one, which stands in the empty field.
    </p>
    <div class="columns">
      ${keysOf(parts).map(([key, label]) =>
        shown.map((language) =>
          form.input(`text.${language}.${key}`, {
            label: `${label}, ${languages[language]}`,
            isOptional: true,
            placeholder: wordsIn(language)[key]
          })
        )
      )}
    </div>
  </details>
`

/** Returns the texts as an experience holds them; none if nothing was typed. */
export const textsIn = (fields: URLSearchParams, parts: ReadonlyArray<Part>) => {
  const typed = shown.flatMap((language) => {
    const texts = keysOf(parts).flatMap(([key]) => {
      const text = textIn(fields, `text.${language}.${key}`)
      return text === undefined ? [] : [[key, text] as const]
    })
    return texts.length === 0 ? [] : [[language, Object.fromEntries(texts)] as const]
  })
  return typed.length === 0 ? undefined : Object.fromEntries(typed)
}
