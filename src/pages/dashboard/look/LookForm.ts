/** The form of a drop's look: pictures, colours with their contrast, and texts for each language. */
import type { Theme } from "../../../domain/experience/Experience.ts"
import { kindNames } from "../../../domain/mechanism/Mechanism.ts"
import { html, type Html } from "../../Html.ts"
import { roomKindOf } from "../../room/mechanism/Kinds.ts"
import { colourOf, contrast, lookOf, textOn } from "../../Theme.ts"
import { type Address, isReplacement, type Language, languages, type PlainKey, wordsIn } from "../../Words.ts"
import type { Drop, Experience } from "../drop/Drop.ts"
import type { Form } from "../form/Form.ts"
import { textIn } from "../form/Typed.ts"
import type { Look } from "./RoomPreview.ts"

type Colours = Pick<typeof Theme.Type, "primary" | "background" | "text">

/** The pictures and colours of the form, by the field of the theme. */
export const pictureFields = ["headerImageUrl", "logoUrl", "shareImageUrl"] as const
/** The fonts of the form, likewise. */
export const fontFields = { fontUrl: "Font of texts", headingFontUrl: "Font of titles" } as const
export const fontNames = Object.keys(fontFields) as ReadonlyArray<keyof typeof fontFields>
/** The texts of the theme. */
const shareFields = ["shareTitle", "shareDescription"] as const
const colourFields = { primary: "Accent colour", background: "Background", text: "Text" } as const
const examples = { primary: "#c9a86a", background: "#0e0d0b", text: "#f4efe6" } as const
const colourNames = Object.keys(colourFields) as ReadonlyArray<keyof Colours>

/** The texts that a brand writes itself, besides how each kind is entered. */
const texts: { readonly [Key in PlainKey]?: string } = {
  granted: "At a person's turn",
  continue: "Way to the shop",
  completed: "After the purchase",
  soldOut: "Sold out",
  ended: "After the end"
}

const tags = Object.keys(languages) as ReadonlyArray<Language>

const keysOf = ({ mechanisms }: Pick<Drop, "mechanisms">): ReadonlyArray<readonly [PlainKey, string]> => [
  ...new Map(
    mechanisms.map(({ type }) => [roomKindOf(type).action, `Button of the ${kindNames[type].toLowerCase()}`] as const)
  ),
  ...(Object.entries(texts) as ReadonlyArray<[PlainKey, string]>)
]

/** The text of an experience in place of a built-in one. */
const ownText = ({ i18n }: Experience, language: Language, key: PlainKey): string => {
  const own = i18n?.[language]
  const text = typeof own === "object" && own !== null ? (own as { readonly [key: string]: unknown })[key] : undefined
  return typeof text === "string" ? text : ""
}

const nameOf = (language: Language, key: PlainKey): string => `text.${language}.${key}`

/** The fields. */
export const lookFields = (form: Form, drop: Drop, inherited: typeof Theme.Type, sent?: URLSearchParams): Html => {
  const theme = drop.experience.theme ?? {}
  const typed = sent === undefined ? theme : lookIn(sent, drop).theme
  return html`
    <section class="card">
      <h2>Pictures</h2>
      ${form.picture("headerImageUrl", {
        label: "Picture",
        address: "Address of the picture",
        value: theme.headerImageUrl,
        hint: "Above the room, from edge to edge. Without one it is the picture of the first product."
      })}
      ${form.picture("logoUrl", { label: "Logo", address: "Address of the logo", value: theme.logoUrl })}
    </section>
    <section class="card">
      <h2>Colours</h2>
      <div class="columns">
        ${colourNames.map((name) =>
          form.input(name, {
            label: colourFields[name],
            value: theme[name] ?? "",
            isOptional: true,
            placeholder: inherited[name] ?? examples[name]
          })
        )}
      </div>
      ${contrasts({ ...inherited, ...typed })}
    </section>
    <section class="card">
      <h2>Fonts</h2>
      <p class="hint">Visitors get them from Usher. Until one is there, a room is shown in a font of the device.</p>
      ${fontNames.map((name) => form.font(name, { label: fontFields[name], value: theme[name] }))}
    </section>
    <section class="card">
      <h2>Stock</h2>
      ${inherited.showsUnitsLeft === true && html`<input type="hidden" name="showsUnitsLeft.inherited" value="1" />`}
      ${form.boxes("showsUnitsLeft", "Units that are left", [["yes", "The room shows how many"]], {
        ticked: (theme.showsUnitsLeft ?? inherited.showsUnitsLeft) === true ? ["yes"] : [],
        hint: "In queues and timed releases with a number of units."
      })}
    </section>
    ${sharing(form, drop, { ...inherited, ...typed })}
    <section class="card">
      <h2>Texts</h2>
      ${form.select("address", {
        label: "How visitors are addressed",
        value: theme.address ?? "",
        choices: addresses,
        hint: "Where a language has both: German, Spanish, French, Dutch."
      })}
      <p class="hint">A text here replaces the built-in one, which stands in the empty field.</p>
      ${tags.map((language) => textsOf(form, drop, language, { ...inherited, ...typed }.address))}
    </section>
  `
}

/** What programs show where a link to the room is shared, with its fields. */
const sharing = (form: Form, { experience }: Drop, theme: typeof Theme.Type): Html => {
  const picture = lookOf(theme).shareImageUrl ?? lookOf(theme).headerImageUrl
  return html`<section class="card">
    <h2>Where a link is shared</h2>
    ${form.input("shareTitle", {
      label: "Title",
      value: experience.theme?.shareTitle ?? "",
      isOptional: true,
      placeholder: experience.name
    })}
    ${form.area("shareDescription", {
      label: "Description",
      value: experience.theme?.shareDescription ?? "",
      rows: 2,
      hint: "One or two sentences. Without one it is how the room works."
    })}
    ${form.picture("shareImageUrl", {
      label: "Picture where it is shared",
      address: "Address of that picture",
      value: experience.theme?.shareImageUrl,
      hint: "Wider than high. Without one it is the picture of the room."
    })}
    <figure class="share">
      ${picture !== undefined && html`<img src="${picture}" alt="" />`}
      <figcaption>
        <strong dir="auto">${theme.shareTitle ?? experience.name}</strong>
        ${theme.shareDescription !== undefined && html`<span dir="auto">${theme.shareDescription}</span>`}
        <small class="muted">As it is shared once it is saved</small>
      </figcaption>
    </figure>
  </section>`
}

const addresses = [
  ["", "As the language does by default"],
  ["formal", "Formally"],
  ["informal", "Informally"]
] as const

const textsOf = (form: Form, drop: Drop, language: Language, address: Address | undefined): Html => {
  const words = wordsIn(language, null, address)
  const keys = keysOf(drop)
  const isOpen = keys.some(
    ([key]) => form.valueOf(nameOf(language, key), ownText(drop.experience, language, key)) !== ""
  )
  return html`<details ${isOpen && html`open`}>
    <summary lang="${language}">${languages[language]}</summary>
    <div class="columns">
      ${keys.map(([key, label]) =>
        form.input(nameOf(language, key), {
          label: `${label}, ${languages[language]}`,
          value: ownText(drop.experience, language, key),
          isOptional: true,
          placeholder: words[key]
        })
      )}
    </div>
  </details>`
}

/** What people can read on these colours, by WCAG 2.2. */
const contrasts = (theme: typeof Theme.Type): Html => {
  const colours = colourNames.flatMap((name) => {
    const colour = colourOf(theme[name] ?? "")
    return colour === undefined ? [] : [[name, colour] as const]
  })
  const { primary, background, text } = Object.fromEntries(colours)
  const { replaced } = lookOf(theme)
  const sentences = [
    primary &&
      `Text on the accent colour is ${textOn(primary).name}: contrast ${shown(contrast(textOn(primary).colour, primary))}.`,
    primary &&
      background &&
      `A button on the background: contrast ${shown(contrast(primary, background))}; below 3 it gets a border.`,
    text &&
      background &&
      `Text on the background: contrast ${shown(contrast(text, background))}; at least 4.5 is needed.`,
    replaced.length > 0 && `Rooms replace what cannot be read: ${replaced.join(", ")}.`
  ].filter((sentence) => typeof sentence === "string")
  return sentences.length === 0
    ? html`<p class="hint">Without colours the room is light or dark, as the visitor's device is.</p>`
    : html`<ul class="hint">
        ${sentences.map((sentence) => html`<li>${sentence}</li>`)}
      </ul>`
}

const shown = (ratio: number): string => `${Math.floor(ratio * 10) / 10}`

const unfit = "At most 1,000 characters, and only the placeholders of the built-in text."

/** What a sent form asks for, and what is wrong with its colours. */
export interface TypedLook {
  readonly theme: typeof Theme.Type
  readonly i18n: Look["i18n"]
  readonly problems: ReadonlyMap<string, string>
}

/** Returns the look of a form. Parts of the experience's look that the form does not ask for stay. */
export const lookIn = (fields: URLSearchParams, drop: Pick<Drop, "experience" | "mechanisms">): TypedLook => {
  const { experience } = drop
  const problems = new Map<string, string>()
  const theme: { [field: string]: unknown } = { ...experience.theme }
  if (fields.has("showsUnitsLeft")) theme["showsUnitsLeft"] = true
  else if (fields.has("showsUnitsLeft.inherited")) theme["showsUnitsLeft"] = false
  else delete theme["showsUnitsLeft"]
  for (const name of [...pictureFields, ...fontNames, ...shareFields, ...colourNames, "address"]) {
    const value = textIn(fields, name)
    if (value === undefined) delete theme[name]
    else theme[name] = value
  }
  for (const name of colourNames) {
    const value = textIn(fields, name)
    if (value !== undefined && colourOf(value) === undefined) problems.set(name, "Enter a colour such as #c9a86a.")
  }
  for (const language of tags) {
    for (const [key] of keysOf(drop)) {
      const text = textIn(fields, nameOf(language, key))
      if (text !== undefined && !isReplacement(key, text)) problems.set(nameOf(language, key), unfit)
    }
  }
  return { theme, i18n: textsIn(fields, drop), problems }
}

/** The texts of all languages, with those that the form does not ask for. */
const textsIn = (fields: URLSearchParams, drop: Pick<Drop, "experience" | "mechanisms">): Look["i18n"] => {
  const i18n: { [language: string]: unknown } = { ...drop.experience.i18n }
  for (const language of tags) {
    const former = i18n[language]
    const own: { [key: string]: unknown } = { ...(typeof former === "object" ? former : {}) }
    for (const [key] of keysOf(drop)) {
      const text = textIn(fields, nameOf(language, key))
      if (text === undefined) delete own[key]
      else own[key] = text
    }
    if (Object.keys(own).length === 0) delete i18n[language]
    else i18n[language] = own
  }
  return Object.keys(i18n).length === 0 ? null : i18n
}
