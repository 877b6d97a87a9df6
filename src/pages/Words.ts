/**
 * The words of pages: a JSON file for each language in `words/`. English is the reference: a key that another language
 * lacks does not compile. An experience can replace words by `i18n`, as `{ "de": { "enterQueue": "…" } }`; a text with a
 * placeholder that its key does not have is refused.
 *
 * Some languages address a person formally or informally. Their words are of one form, and those in `words/address/` of
 * the other, where they differ.
 */
import { Predicate } from "effect"
import { isolated } from "../domain/values/Direction.ts"
import { canonicalTag } from "../domain/values/LanguageTag.ts"
import addressDe from "./words/address/de.json" with { type: "json" }
import addressEs from "./words/address/es.json" with { type: "json" }
import addressFr from "./words/address/fr.json" with { type: "json" }
import addressNl from "./words/address/nl.json" with { type: "json" }
import ar from "./words/ar.json" with { type: "json" }
import de from "./words/de.json" with { type: "json" }
import en from "./words/en.json" with { type: "json" }
import es from "./words/es.json" with { type: "json" }
import fr from "./words/fr.json" with { type: "json" }
import he from "./words/he.json" with { type: "json" }
import id from "./words/id.json" with { type: "json" }
import it from "./words/it.json" with { type: "json" }
import ja from "./words/ja.json" with { type: "json" }
import ko from "./words/ko.json" with { type: "json" }
import nl from "./words/nl.json" with { type: "json" }
import pl from "./words/pl.json" with { type: "json" }
import ptBR from "./words/pt-BR.json" with { type: "json" }
import tr from "./words/tr.json" with { type: "json" }
import zhHans from "./words/zh-Hans.json" with { type: "json" }
import zhHant from "./words/zh-Hant.json" with { type: "json" }

/** The forms of a text that depend on a number, by its plural category (`Intl.PluralRules`). */
export type Forms = { readonly [Category in Intl.LDMLPluralRule]?: string } & { readonly other: string }

/** The keys whose text depends on a number. */
export type CountedKey = { [Key in keyof typeof en]: (typeof en)[Key] extends string ? never : Key }[keyof typeof en]

/** The keys of all other texts. */
export type PlainKey = Exclude<keyof typeof en, CountedKey>

/** The words of a page, by key. A language in which the number changes nothing has one form. */
export type Words = { readonly [Key in PlainKey]: string } & { readonly [Key in CountedKey]: string | Forms }

/** The languages, each in its own name. */
export const languages = {
  en: "English",
  de: "Deutsch",
  fr: "Français",
  es: "Español",
  it: "Italiano",
  "pt-BR": "Português (Brasil)",
  nl: "Nederlands",
  pl: "Polski",
  tr: "Türkçe",
  id: "Bahasa Indonesia",
  ja: "日本語",
  ko: "한국어",
  "zh-Hans": "简体中文",
  "zh-Hant": "繁體中文",
  ar: "العربية",
  he: "עברית"
} as const
export type Language = keyof typeof languages

const files: { readonly [Name in Language]: Words } = {
  en,
  de,
  fr,
  es,
  it,
  "pt-BR": ptBR,
  nl,
  pl,
  tr,
  id,
  ja,
  ko,
  "zh-Hans": zhHans,
  "zh-Hant": zhHant,
  ar,
  he
}

/** How a page addresses its reader. */
export type Address = "formal" | "informal"

/** The form of the words of a language, and the words that differ in the other one. */
export const otherAddress: {
  readonly [Name in Language]?: { readonly own: Address; readonly words: Partial<Words> }
} = {
  de: { own: "informal", words: addressDe },
  es: { own: "informal", words: addressEs },
  fr: { own: "formal", words: addressFr },
  nl: { own: "informal", words: addressNl }
}

const builtIn = (language: Language, address: Address | undefined): Words => {
  const other = otherAddress[language]
  return other === undefined || address === undefined || address === other.own
    ? files[language]
    : { ...files[language], ...other.words }
}

/** The language of a page if nothing else is asked for. */
export const defaultLanguage: Language = "en"

/** The direction of writing. */
export const directionOf = (language: string): "ltr" | "rtl" => (/^(ar|he)\b/.test(language) ? "rtl" : "ltr")

/** The longest `Accept-Language` that is read. */
const acceptedLengthMax = 500

/** Returns the language of a request: the one that it names, else the best of `Accept-Language`. */
export const languageOf = (named: string | null | undefined, accepted: string | undefined): Language => {
  const known = typeof named === "string" ? supportedLanguage(named) : undefined
  if (known !== undefined) return known
  const preferences = (accepted ?? "").slice(0, acceptedLengthMax).split(",").map(preferenceOf)
  const ordered = preferences.filter(({ weight }) => weight > 0).toSorted((a, b) => b.weight - a.weight)
  for (const { tag } of ordered) {
    const found = supportedLanguage(tag)
    if (found !== undefined) return found
  }
  return defaultLanguage
}

const preferenceOf = (part: string) => {
  const [tag = "", ...parameters] = part.trim().split(";")
  const weight = parameters.map((text) => /^\s*q=([\d.]+)\s*$/i.exec(text)?.[1]).find((text) => text !== undefined)
  return { tag: tag.trim(), weight: weight === undefined ? 1 : Number(weight) || 0 }
}

/** Chinese is written in two ways, which regions imply. */
const traditional = /^zh-(hant|(?!hans)(.*-)?(tw|hk|mo)\b)/i

/** Returns the language that a tag names, in any of its forms; undefined if there are no words in it. */
export const supportedLanguage = (tag: string): Language | undefined => {
  const canonical = canonicalTag(tag)?.toLowerCase()
  if (canonical === undefined) return undefined
  const exact = names.find((name) => name.toLowerCase() === canonical)
  if (exact !== undefined) return exact
  const primary = canonical.split("-", 1)[0]!
  if (primary === "zh") return traditional.test(canonical) ? "zh-Hant" : "zh-Hans"
  return names.find((name) => name.toLowerCase().split("-", 1)[0] === primary)
}

const names = Object.keys(languages) as ReadonlyArray<Language>

/** The longest text that replaces a word. */
const replacedLengthMax = 1_000

/** Returns the words of a language, with those that the experience replaces. */
export const wordsIn = (
  language: Language,
  i18n?: { readonly [name: string]: unknown } | null,
  address?: Address
): Words => {
  const words = builtIn(language, address)
  const replaced = i18n?.[language] ?? replacedIn(i18n ?? {}, language)
  if (!Predicate.isObject(replaced)) return words
  const own = Object.entries(replaced).filter(([key, text]) => isReplacement(key, text))
  return own.length === 0 ? words : { ...words, ...(Object.fromEntries(own) as Partial<Words>) }
}

/** Languages of an experience whose tags are read. */
const tagsMax = 100

/** The words under another form of the language's tag, such as `iw` or `zh_TW`. */
const replacedIn = (i18n: { readonly [name: string]: unknown }, language: Language): unknown => {
  const tags = Object.keys(i18n).slice(0, tagsMax)
  return i18n[tags.find((tag) => supportedLanguage(tag) === language) ?? ""]
}

/** True if the text may stand for a built-in one: it is short enough, and has no other placeholders. */
export const isReplacement = (key: string, text: unknown): boolean =>
  Object.hasOwn(en, key) &&
  typeof text === "string" &&
  text.length <= replacedLengthMax &&
  placeholdersIn(text).every((name) => placeholdersIn(formFor(en[key as keyof Words])).includes(name))

/** Returns the names of the placeholders of a text. */
export const placeholdersIn = (text: string): ReadonlyArray<string> =>
  [...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!)

/** Returns the form of a text for a number; without a number the general one. */
export const formFor = (text: string | Forms, language: string = defaultLanguage, count?: number): string => {
  if (typeof text === "string") return text
  return (count === undefined ? undefined : text[new Intl.PluralRules(language).select(count)]) ?? text.other
}

/** The values of placeholders. */
export type Values = { readonly [name: string]: string | number }

/** Replaces the placeholders of a text. Values of the other direction of writing are isolated. */
export const filled = (text: string, values: Values): string =>
  text.replace(/\{(\w+)\}/g, (placeholder, name: string) => isolated(`${values[name] ?? placeholder}`, text))
