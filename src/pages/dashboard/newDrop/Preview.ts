/**
 * What consumers will read of a drop that is being typed: name, picture, price and buttons in two languages, and when
 * each part opens and closes, in the zone of the drop. It is written again whenever something is typed.
 */
import { isShownPicture } from "../../../domain/catalogue/Picture.ts"
import { kindNames, kinds, fieldOf } from "../../../domain/mechanism/Mechanism.ts"
import { instantOf, type Millis } from "../../../domain/values/Time.ts"
import { html, type Html } from "../../Html.ts"
import { formatsOf } from "../../Formats.ts"
import { roomKindOf } from "../../room/mechanism/Kinds.ts"
import { wordsIn } from "../../Words.ts"
import { textIn } from "../form/Typed.ts"
import { bodyOf, partsIn } from "./Body.ts"
import { textsIn } from "./Texts.ts"

const languages = ["en", "de"] as const

/** The times of a mechanism, in the order in which they pass. */
const times = {
  lobbyOpenAt: "The lobby opens",
  openAt: "Opens",
  closeAt: "Closes",
  drawAt: "The winners are drawn",
  slotsFrom: "The first day of slots",
  slotsUntil: "The last day of slots is over"
} as const

interface Step {
  readonly at: Millis
  readonly what: string
  readonly name: string
}

export const previewOf = (fields: URLSearchParams, brand: string, now: Millis): Html => {
  const chosen = partsIn(fields)
  const name = textIn(fields, "name") ?? "Your drop"
  const picture = textIn(fields, "product.picture") ?? ""
  const price = textIn(fields, "product.price")
  const isNew = (fields.get("product") ?? "new") === "new"
  const i18n = textsIn(fields, chosen) ?? null
  const buttonsIn = (language: (typeof languages)[number]) => [
    ...new Set(chosen.map(({ kind }) => wordsIn(language, i18n)[roomKindOf(kind).action]))
  ]
  return html`<div class="room">
      <small dir="auto">${brand}</small>
      ${isNew && isShownPicture(picture) && html`<img src="${picture}" alt="${textIn(fields, "product.alt") ?? ""}" />`}
      <strong dir="auto">${name}</strong>
      ${isNew && price !== undefined && html`<span>${price} ${textIn(fields, "currency")?.toUpperCase()}</span>`}
      ${languages.map((language) => html`<span lang="${language}">${buttonsIn(language).join(" · ")}</span>`)}
    </div>
    <ol class="steps">
      ${stepsOf(fields, now).map(
        ({ at, what, name: of }) =>
          html`<li><strong>${what}</strong> <small dir="auto">${of}</small><br />${shown(fields, at)}</li>`
      )}
    </ol>`
}

/** An instant in the zone of the drop. */
const shown = (fields: URLSearchParams, at: Millis): string => {
  const timeZone = fields.get("timeZone") ?? "UTC"
  return formatsOf("en", timeZone).instant(at)
}

/** Everything that will happen, in its order. A part without an opening is open at once. */
const stepsOf = (fields: URLSearchParams, now: Millis): ReadonlyArray<Step> => {
  const { sequences } = bodyOf(fields, now).body as {
    readonly sequences: ReadonlyArray<{ readonly [field: string]: unknown }>
  }
  const steps = kinds.flatMap((kind) =>
    [sequences[0]![fieldOf[kind]] ?? []].flat().flatMap((one) => {
      const settings = one as { readonly [setting: string]: unknown }
      const title = kindNames[kind]
      const own = settings["openAt"] === undefined ? [{ at: now, what: "Opens at once", name: title }] : []
      return [
        ...own,
        ...Object.entries(times).flatMap(([setting, what]): ReadonlyArray<Step> => {
          const at = instantOf(`${settings[setting] as string | undefined}`)
          const isDouble = setting === "closeAt" && settings["drawAt"] !== undefined
          return at === undefined || isDouble ? [] : [{ at, what, name: title }]
        })
      ]
    })
  )
  return steps.toSorted((a, b) => a.at - b.at)
}
