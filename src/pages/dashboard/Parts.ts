/** The parts of which screens are made: cards, figures, bars, badges, and links that look like buttons. */
import { type Html, html, type Inserted } from "../Html.ts"

/** A card. */
export const card = (title: Inserted, body: Inserted, style = ""): Html =>
  html`<section class="card ${style}">
    <h2>${title}</h2>
    ${body}
  </section>`

/** What a badge tells: it runs, it comes, it needs a look, it is wrong, or it is over. */
export type Tone = "ok" | "next" | "warn" | "bad" | "over"

export const badge = (text: Inserted, tone: Tone): Html => html`<span class="badge ${tone}">${text}</span>`

/** A link to another screen that looks like a button. `primary` is for the one main step of a screen. */
export const linkButton = (href: string, text: Inserted, style: "primary" | "quiet" = "quiet"): Html =>
  html`<a class="button ${style}" href="${href}">${text}</a>`

/** A figure: a number with what it is of, and a sentence about it. */
export interface Figure {
  readonly label: string
  readonly value: Inserted
  /** What the number is of, such as "of 300" or "/min". */
  readonly of?: string | undefined
  readonly hint?: Inserted
  readonly bar?: Html | undefined
  /** The name by which the script finds the number. */
  readonly series?: string | undefined
}

/** Figures side by side. The first is the widest. */
export const figures = (all: ReadonlyArray<Figure>): Html =>
  html`<dl class="card figures">
    ${all.map(
      ({ label, value, of, hint, bar, series }) => html`
        <div>
          <dt>${label}</dt>
          <dd>
            <span ${series !== undefined && html`data-series="${series}"`}>${value}</span>
            ${of !== undefined && html`<small>${of}</small>`}
          </dd>
          ${bar} ${hint !== undefined && html`<dd class="hint">${hint}</dd>`}
        </div>
      `
    )}
  </dl>`

/** A part of a bar. */
export interface Share {
  readonly value: number
  readonly style: "ok" | "main" | "warn" | "calm" | "free"
}

/** A bar below a figure. */
export const bar = (shares: ReadonlyArray<Share>, of: number, label: string): Html =>
  html`<dd class="bar">${barPicture(shares, of, label)}</dd>`

/** The parts of a whole, side by side, in an SVG because a policy forbids styles of single elements. */
export const barPicture = (shares: ReadonlyArray<Share>, of: number, label: string): Html => {
  const width = 1_000
  const whole = Math.max(
    of,
    shares.reduce((sum, { value }) => sum + value, 0),
    1
  )
  let x = 0
  const parts = shares.map(({ value, style }) => {
    const share = (value * width) / whole
    const part = html`<rect class="${style}" x="${x.toFixed(1)}" width="${share.toFixed(1)}" height="10"></rect>`
    x += share
    return part
  })
  return html`<svg viewBox="0 0 ${width} 10" preserveAspectRatio="none" role="img" aria-label="${label}">${parts}</svg>`
}

const format = new Intl.NumberFormat("en")

/** A count with separators. */
export const count = (value: number): string => format.format(value)

/** A count with its noun, such as "1 person" or "1,146 people". */
export const counted = (value: number, one: string, many: string): string =>
  `${count(value)} ${value === 1 ? one : many}`
