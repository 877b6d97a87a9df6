/**
 * The values that every part of a room needs to show itself: the words of its language, the experience, and the targets
 * of forms.
 */
import type { Admission } from "../../store/experience/SequenceAccess.ts"
import type { ConsumerAnswer } from "../ApiClients.ts"
import type { Formats } from "../Formats.ts"
import { html, type Html, type Inserted } from "../Html.ts"
import { type CountedKey, filled, formFor, type Language, type PlainKey, type Values, type Words } from "../Words.ts"
import type { Alert } from "../../domain/message/Alert.ts"
import type { WaitRange } from "../../domain/queue/wait/WaitRange.ts"
import { type Millis, toText } from "../../domain/values/Time.ts"

/** An experience as the Consumer API answers it. */
export type Experience = ConsumerAnswer<"experiences", "get">

/** An announced drop that opens later. */
export type NextDrop = NonNullable<ConsumerAnswer<"experiences", "next">["experience"]>

export interface Scene {
  readonly language: Language
  readonly words: Words
  readonly formats: Formats
  readonly experience: Experience
  readonly now: Millis
  /** True if a test clock shows the time. */
  readonly hasTestClock: boolean
  /** A guest has a session and no address. */
  readonly visitor: "none" | "guest" | "authenticated"
  /** True if codes go out by SMS. */
  readonly takesPhones: boolean
  /** True if emails go out. */
  readonly takesMail: boolean
  /** True if consumers with an address get a message at their turn. */
  readonly sendsTurns: boolean
  /** The shop's address to which a visitor continues; undefined without one. */
  readonly shopUrl: string | undefined
  /** Whether the visitor may enter the mechanism that is shown; undefined if that is not known. */
  readonly admission?: Admission | undefined
  /** The variants of the product that the system has assigned to the visitor there; undefined if it assigns none. */
  readonly assigned?: ReadonlySet<string> | undefined
  /** When the visitor's place there is called; undefined if no rate tells it. */
  readonly waitRange?: WaitRange | undefined
  /** True if something opens later. */
  readonly opensLater?: boolean
  /** The mechanism on whose card a reminder is offered. */
  readonly remindsAt?: string | undefined
  /** The email that the visitor may have asked for there; undefined if that is not known. */
  readonly alert?: Alert | undefined
  /** The next drop of the brand; absent if none is announced. */
  readonly nextDrop?: NextDrop | undefined
  /** Returns the address of another room. It keeps the language. */
  readonly roomPath: (experienceId: string) => string
  /** Returns the address of a part of the room. It keeps the language and the way back. */
  readonly path: (name: string, more?: { readonly [name: string]: string }) => string
}

/** The header of a piece with the instant at which it was written, in milliseconds. A script counts by it. */
export const timeOf = ({ now }: Scene) => ({ "x-server-time": `${now}` })

/** True if the brand shows how many units are left. */
export const showsUnitsLeft = ({ experience }: Scene): boolean => experience.theme?.showsUnitsLeft === true

/** Returns the text of a key. */
export const say = ({ words }: Scene, key: PlainKey, values: Values = {}): string => filled(words[key], values)

/** Returns the text of a key in the form for its number, `{count}`. */
export const sayCounted = ({ words, language, formats }: Scene, key: CountedKey, count: number): string =>
  filled(formFor(words[key], language, count), { count: formats.number(count) })

/** The text of a key in which placeholders are elements. */
export const phrase = ({ words }: Scene, key: PlainKey, values: { readonly [name: string]: Inserted }): Html =>
  html`${words[key].split(/(\{\w+\})/).map((part) => {
    const name = /^\{(\w+)\}$/.exec(part)?.[1]
    return name === undefined || !Object.hasOwn(values, name) ? part : values[name]
  })}`

/** An instant in words. */
export const instant = ({ formats }: Scene, at: Millis): Html =>
  html`<time datetime="${toText(at)}">${formats.instant(at)}</time>`

/** Makes a script ask for the page again at the instant of a `time` element. */
export const turning = html` data-until="then"`

/** A time that a script counts down to; without one it stays a time. */
export const countdown = (scene: Scene, key: "opensIn" | "timeLeft", at: Millis): Html =>
  html`<p class="muted">${say(scene, key)}</p>
    <p class="big">
      <time data-until${key === "timeLeft" && html` data-warn="${say(scene, "oneMinute")}"`} datetime="${toText(at)}"
        >${scene.formats.short(at)}</time
      >
    </p>`

/** The heading of a part. A script moves the focus there. */
export const heading = (text: string): Html => html`<h2 tabindex="-1">${text}</h2>`

/** The same with a name, which may be of the other direction of writing. */
export const nameHeading = (name: string): Html => html`<h2 tabindex="-1" dir="auto">${name}</h2>`

/** The heading of a screen that the visitor asked for. It has the focus when the page opens. */
export const screenHeading = (text: string): Html => html`<h2 tabindex="-1" autofocus>${text}</h2>`

export interface FormOptions {
  /** The mechanism that the action is for. */
  readonly at?: string
  readonly label: string
  readonly fields?: Inserted
  /** `main`: stays within a thumb's reach. A small one stands apart, for what cannot be undone. */
  readonly style?: "main" | "quiet" | "small" | undefined
  /** The id of the button, which keeps the focus when the part is replaced. */
  readonly id?: string
}

/** A form whose button runs an action. */
export const form = (scene: Scene, action: string, { at, label, fields, style, id }: FormOptions): Html =>
  html`<form method="post" action="${scene.path(action)}"${style !== undefined && style !== "quiet" && html` class="${style}"`}>${at !== undefined && hidden("at", at)}${fields}
    <button${style !== undefined && style !== "main" && html` class="${style === "small" ? "plain" : style}"`}${id !== undefined && html` id="${id}"`}>${label}</button></form>`

/** A sentence that reassures. */
export const assured = (text: string): Html => html`<p class="keep">${text}</p>`

export const hidden = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${value}" />`

/** A list of terms and their values. */
export const facts = (rows: ReadonlyArray<readonly [term: string, value: Inserted] | undefined>): Html => {
  const shown = rows.filter((row) => row !== undefined)
  return shown.length === 0
    ? html``
    : html`<dl>
        ${shown.map(
          ([term, value]) =>
            html`<div>
              <dt>${term}</dt>
              <dd>${value}</dd>
            </div>`
        )}
      </dl>`
}
