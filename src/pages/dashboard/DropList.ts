/** The list of drops: picture, name, state, sold of stock, waiting, the entries of the last day, and the next step. */
import { Effect } from "effect"
import type { Operator } from "../../auth/operators/OperatorSessions.ts"
import { declarations, kindNames, kinds } from "../../domain/mechanism/Mechanism.ts"
import { sourceNames } from "../../domain/organization/Analytics.ts"
import { type Html, html } from "../Html.ts"
import { lookOf } from "../Theme.ts"
import type { AdminAnswer, AdminApiClient } from "../ApiClients.ts"
import { countsOf, type Mechanism, pathOf } from "./drop/Drop.ts"
import { stateBadge, stateOf } from "./drop/Head.ts"
import { viewOf } from "./drop/Kinds.ts"
import { bar, count, counted } from "./Parts.ts"
import { stockIdOf } from "./stocks/Naming.ts"
import { newestStocks } from "./stocks/Sizes.ts"
import { zonedInstant } from "./Table.ts"

type Experience = AdminAnswer<"experiences", "listExperiences">["data"][number]

interface Row {
  readonly experience: Experience
  readonly mechanisms: ReadonlyArray<Mechanism>
  /** The units of each stock from which it sells. */
  readonly stocks: ReadonlyMap<string, number>
  /** Entries of the last day, by the hour; undefined unless it runs. */
  readonly curve: ReadonlyArray<number> | undefined
}

/** Mechanisms of one drop that the list counts. */
const mechanismsMax = "20"

/** Drops with a curve. Each costs a query of analytics. */
const curvesMax = 6

/** The events that are entries. */
const entries = kinds.flatMap((kind) => sourceNames(kind, declarations[kind].entries))

/** Makes the function that reads what the list shows of each drop. */
export const makeRows = (api: AdminApiClient["Service"]) => {
  const curveOf = (operator: Operator, experienceId: string) =>
    api
      .run(operator, "analytics", "queryAnalytics", {
        payload: {
          interval: "1h",
          timeRange: "24h",
          measures: entries.map((event) => ({ name: event, event, op: "count", unit: "1" })),
          where: { experienceId }
        }
      })
      .pipe(
        Effect.map(({ data }) => data.map(({ series }) => Object.values(series).reduce((sum, one) => sum + one, 0))),
        Effect.catchTag("Refusal", () => Effect.succeed([]))
      )

  return Effect.fnUntraced(function* (operator: Operator, experiences: ReadonlyArray<Experience>, now: number) {
    const rows = yield* Effect.forEach(
      experiences,
      (experience) =>
        api
          .run(operator, "distributions", "listDistributions", {
            query: { experienceId: experience.id, first: mechanismsMax }
          })
          .pipe(Effect.map(({ data }) => ({ experience, mechanisms: data }))),
      { concurrency: 8 }
    )
    const sellsFromStock = rows.some(({ mechanisms }) => mechanisms.some((one) => stockIdOf(one) !== undefined))
    const listed = sellsFromStock ? yield* newestStocks(api, operator) : []
    const stocks = new Map(listed.map(({ id, onHand }) => [id, onHand]))
    const sorted = rows.map((row) => ({ ...row, stocks })).toSorted((one, other) => rank(one, now) - rank(other, now))
    return yield* Effect.forEach(
      sorted,
      (row, index): Effect.Effect<Row, never, never> | ReturnType<typeof withCurve> =>
        index < curvesMax && stateOf(row.mechanisms).tone !== "next"
          ? withCurve(row)
          : Effect.succeed({ ...row, curve: undefined })
    )
    function withCurve(row: Omit<Row, "curve">) {
      return Effect.map(curveOf(operator, row.experience.id), (curve): Row => ({ ...row, curve }))
    }
  })
}

/** Running drops come first, then the next ones, then the others as they are. */
const rank = ({ mechanisms }: Pick<Row, "mechanisms">, now: number): number => {
  const { word, at = now } = stateOf(mechanisms)
  const order = ["Live", "Paused", "Settling", "Next", "Empty", "Over"].indexOf(word)
  return order * 1e15 + (word === "Next" ? at : 0)
}

/** The list. On a phone each row is a card. */
export const dropsOf = (rows: ReadonlyArray<Row>, sought: string, now: number): Html =>
  rows.length === 0
    ? html`<p class="lead">No drop has “${sought}” in its name. <a href="/dashboard">Show all</a></p>`
    : html`<ul class="drops">
        ${rows.map((row) => rowOf(row, now))}
      </ul>`

const rowOf = (
  { experience: { id, name, theme, openAt, timeZone }, mechanisms, stocks, curve }: Row,
  now: number
): Html => {
  const { headerImageUrl, logoUrl } = lookOf(theme)
  const picture = headerImageUrl ?? logoUrl
  const kinds = [...new Set(mechanisms.map(({ type }) => kindNames[type]))].join(", ")
  const { sells, sold, buying, stock, waiting } = totalsOf(mechanisms, stocks)
  return html`
    <li class="card">
      ${
        picture === undefined
          ? html`<span class="picture" aria-hidden="true">${[...name][0]?.toUpperCase() ?? ""}</span>`
          : html`<img class="picture" src="${picture}" alt="" loading="lazy" />`
      }
      <div class="name">
        <a href="${pathOf(id)}"><bdi>${name}</bdi></a> ${stateBadge(mechanisms, now)}
        <small
          >${kinds === "" ? "nothing in it yet" : kinds}
          ${openAt !== null && html` · opens ${zonedInstant(openAt, timeZone)}`}</small
        >
      </div>
      <dl>
        <div>
          <dt>Sold</dt>
          <dd>${sells ? count(sold) : "–"} ${stock !== undefined && html`<small>of ${count(stock)}</small>`}</dd>
          ${
            stock !== undefined &&
            bar(
              [
                { value: sold, style: "ok" },
                { value: buying, style: "main" }
              ],
              stock,
              `${sold} of ${stock} sold`
            )
          }
        </div>
        <div>
          <dt>Waiting</dt>
          <dd>${count(waiting)}</dd>
        </div>
      </dl>
      ${curve !== undefined && curve.length > 1 ? sparkline(curve) : html`<span></span>`} ${nextStep(id, mechanisms)}
    </li>
  `
}

/**
 * What all mechanisms of a drop have sold and hold together. Those that sell from one stock have its units together. The
 * number is unknown if one has no limit.
 */
const totalsOf = (mechanisms: ReadonlyArray<Mechanism>, stocks: Row["stocks"]) => {
  const sums = { sells: false, sold: 0, buying: 0, waiting: 0 }
  const shared = new Set(mechanisms.flatMap((one) => stockIdOf(one) ?? []))
  let stock: number | undefined = [...shared].reduce((sum, id) => sum + (stocks.get(id) ?? 0), 0)
  for (const mechanism of mechanisms) {
    const own = viewOf(mechanism).stock?.(mechanism)
    const { completed, admitted, waiting } = countsOf(mechanism)
    sums.waiting += waiting
    if (own === undefined) continue
    sums.sells = true
    sums.sold += completed
    sums.buying += admitted
    if (stockIdOf(mechanism) !== undefined) continue
    stock = own === null || stock === undefined ? undefined : stock + own
  }
  return { ...sums, stock: stock === 0 ? undefined : stock }
}

const [curveWidth, curveHeight] = [120, 32]

/** A small curve, whose title says what it shows. */
const sparkline = (values: ReadonlyArray<number>): Html => {
  const most = Math.max(1, ...values)
  const points = values.map((value, index) => {
    const x = (index * curveWidth) / (values.length - 1)
    return `${x.toFixed(1)},${(curveHeight - 2 - (value * (curveHeight - 4)) / most).toFixed(1)}`
  })
  const sum = values.reduce((all, value) => all + value, 0)
  return html`<svg
    class="curve"
    viewBox="0 0 ${curveWidth} ${curveHeight}"
    preserveAspectRatio="xMinYMid"
    role="img"
    aria-label="${counted(sum, "entry", "entries")} in the last 24 hours"
  >
    <polyline class="first" points="${points.join(" ")}"></polyline>
  </svg>`
}

/** What staff do next with a drop in its state. */
const nextStep = (id: string, mechanisms: ReadonlyArray<Mechanism>): Html => {
  const { word } = stateOf(mechanisms)
  const step = (path: string, text: string) => html`<a class="button quiet" href="${pathOf(id)}${path}">${text}</a>`
  switch (word) {
    case "Live":
      return step("", "Watch it")
    case "Paused":
      return step("", "Resume it")
    case "Settling":
      return step("", "See who still buys")
    case "Over":
      return step("/results", "See the results")
    case "Next":
    case "Empty":
      return step("", "Get it ready")
  }
}
