/** The tables of the dashboard, the values in them, the parts of their lists, and pages of a list by cursor. */
import { type Kind, kindNames } from "../../domain/mechanism/Mechanism.ts"
import { type Html, html, type Inserted } from "../Html.ts"
import { SegmentedCache } from "../../domain/values/SegmentedCache.ts"
import { type Millis, toText } from "../../domain/values/Time.ts"

/** A column. The first one is the header of its row. */
export interface Column<Row> {
  readonly title: string
  readonly cell: (row: Row) => Inserted
}

/**
 * A table with a caption. On a phone its rows are cards; the roles keep it a table for screen readers. Without rows it
 * shows the sentence with the next step.
 */
export const table = <Row>(
  caption: string,
  rows: ReadonlyArray<Row>,
  columns: ReadonlyArray<Column<Row>>,
  empty: Inserted
): Html =>
  rows.length === 0
    ? html`<p class="muted">${empty}</p>`
    : html`<div class="scroll" role="region" aria-label="${caption}" tabindex="0">
        <table role="table">
          <caption>
            ${caption}
          </caption>
          <thead role="rowgroup">
            <tr role="row">
              ${columns.map(({ title }) => html`<th scope="col" role="columnheader">${title}</th>`)}
            </tr>
          </thead>
          <tbody role="rowgroup">
            ${rows.map((row) => rowOf(row, columns))}
          </tbody>
        </table>
      </div>`

/** A mechanism as a table names it. */
interface NamedMechanism {
  readonly experienceId: string
  readonly name: string
  readonly type: Kind
}

/** The columns of a mechanism's name, with a link to its experience, and of its kind. */
export const mechanismColumns = (title: string): ReadonlyArray<Column<NamedMechanism>> => [
  { title, cell: ({ experienceId, name }) => html`<a href="/dashboard/experiences/${experienceId}">${name}</a>` },
  { title: "Kind", cell: ({ type }) => kindNames[type] }
]

const rowOf = <Row>(row: Row, columns: ReadonlyArray<Column<Row>>): Html =>
  html`<tr role="row">
    ${columns.map(({ cell, title }, index) =>
      index === 0
        ? html`<th scope="row" role="rowheader" dir="auto">${cell(row)}</th>`
        : html`<td role="cell" dir="auto" data-title="${title}">${cell(row)}</td>`
    )}
  </tr>`

/** Facts about one thing. */
export const facts = (entries: ReadonlyArray<readonly [term: string, fact: Inserted]>): Html =>
  html`<dl class="facts">
    ${entries.map(
      ([term, fact]) =>
        html`<div>
          <dt>${term}</dt>
          <dd dir="auto">${fact ?? "–"}</dd>
        </div>`
    )}
  </dl>`

/** Rows of one page. */
export const pageSize = 50

/** Returns the query of a list operation: its page, and those of the named filters that have a value. */
export const listQueryOf = (query: URLSearchParams, filters: ReadonlyArray<string> = []) => {
  const given = ["after", ...filters].flatMap((name) => {
    const value = query.get(name)?.trim() ?? ""
    return value === "" ? [] : [[name, value] as const]
  })
  return { first: `${pageSize}`, ...Object.fromEntries(given) } as { readonly [name: string]: string }
}

interface Page {
  readonly data: ReadonlyArray<unknown>
  readonly pageInfo: { readonly endCursor: string | null }
}

/** The links to the next page and to the first one. Both keep the filters. */
export const pager = ({ data, pageInfo }: Page, path: string, query: URLSearchParams): Html | false => {
  const hasNext = data.length === pageSize && pageInfo.endCursor !== null
  if (!hasNext && !query.has("after")) return false
  const address = (after: string | null) => {
    const next = new URLSearchParams(query)
    next.delete("after")
    if (after !== null) next.set("after", after)
    return `${path}?${next}`
  }
  return html`<nav aria-label="Pages" class="pages">
    ${query.has("after") && html`<a class="button quiet" href="${address(null)}">First page</a>`}
    ${hasNext && html`<a class="button quiet" href="${address(pageInfo.endCursor)}" rel="next">Next page</a>`}
  </nav>`
}

/** A select of a filter. Its first option is no filter. */
export const filter = (label: string, name: string, options: ReadonlyArray<string>, query: URLSearchParams): Html =>
  html`<label
    >${label}
    <select name="${name}">
      <option value="">All</option>
      ${options.map((option) => html`<option value="${option}" ${option === query.get(name) && html`selected`}>${option}</option>`)}
    </select></label
  >`

/** A text to search for. */
export const search = (label: string, query: URLSearchParams): Html =>
  html`<label
    >${label} <input name="search" type="search" value="${query.get("search") ?? ""}" minlength="2" maxlength="200"
  /></label>`

/** The form of a list's filters. It works without a script. */
export const filters = (path: string, fields: Inserted): Html =>
  html`<form method="get" action="${path}" class="filters" role="search">
    ${fields}<button class="quiet">Show</button>
  </form>`

const format = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" })

/** An instant in UTC. The script of the dashboard shows it in the operator's own time zone. */
export const instant = (at: Millis | null | undefined): Html =>
  typeof at === "number" && Number.isFinite(at)
    ? html`<time datetime="${toText(at)}">${format.format(at)} UTC</time>`
    : html`–`

/** An instant of a drop, on the clocks of its time zone, with the zone. The script of the dashboard leaves it so. */
export const zonedInstant = (at: Millis | null | undefined, timeZone: string): Html =>
  typeof at === "number" && Number.isFinite(at)
    ? html`<time datetime="${toText(at)}" data-clock>${zonedFormat(timeZone).format(at)}</time>`
    : html`–`

/** The formats of the zones that were shown last: making one takes longer than using it. */
const zonedFormats = new SegmentedCache<Intl.DateTimeFormat>(100)

const zonedFormat = (timeZone: string): Intl.DateTimeFormat => {
  const known = zonedFormats.get(timeZone)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat("en-GB", {
    day: "numeric",
    month: "short",
    year: "numeric",
    hour: "2-digit",
    minute: "2-digit",
    timeZoneName: "short",
    timeZone
  })
  zonedFormats.set(timeZone, made)
  return made
}

/** A value of a recorded event or an audited field. */
export const valueText = (value: unknown): string =>
  typeof value === "string" ? value : (JSON.stringify(value) ?? "–")
