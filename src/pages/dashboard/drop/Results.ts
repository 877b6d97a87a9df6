/**
 * The tab Results of a drop: from the visit of its room to the purchase, revenue by currency, a comparison with a former
 * drop, the lists as files, and the proofs of its draws.
 */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { type Html, html } from "../../Html.ts"
import type { AdminAnswer, AdminApiClient } from "../../ApiClients.ts"
import type { Refusal } from "../../Refusal.ts"
import { bar, card, count, counted } from "../Parts.ts"
import { facts } from "../Table.ts"
import { countsOf, type Drop, makeMechanismsOf, type Mechanism } from "./Drop.ts"
import { makeSeen, type Seen } from "./Figures.ts"
import { viewOf } from "./Kinds.ts"
import { allPlaces, money, span } from "./KindView.ts"
import { makeRoutes, onceMoreCard } from "./OnceMore.ts"
import type { Tab, TabNeeds } from "./Tab.ts"

/** Former drops that one can be compared with. */
const formerMax = "50"

/** The tab. */
export const make = ({ api }: TabNeeds): Tab => {
  const mechanismsOf = makeMechanismsOf(api)
  const seenOf = makeSeen(api)
  const revenueOf = makeRevenue(api)
  const waitsOf = makeWaits(api)
  const visitsOf = makeVisits(api)
  return {
    path: "/results",
    title: "Results",
    routes: (frame) => makeRoutes(api, frame),
    show: Effect.fnUntraced(function* (operator, drop, { query }) {
      const { experience, mechanisms, path } = drop
      const seen = yield* seenOf(operator, mechanisms)
      const revenue = yield* revenueOf(operator, experience.id)
      const waits = yield* waitsOf(operator, seen)
      const visits = yield* visitsOf(operator, experience.id)
      const { data } = yield* api.run(operator, "experiences", "listExperiences", {
        query: { first: formerMax, sortDir: "desc" }
      })
      const others = data.filter(({ id }) => id !== experience.id)
      const former = others.find(({ id }) => id === query.get("with"))
      const compared = former && {
        name: former.name,
        total: totalOf(yield* mechanismsOf(operator, former.id)),
        revenue: yield* revenueOf(operator, former.id)
      }
      return {
        body: html`
          <div class="cards">${seen.map((one) => funnelOf(one, visits, seen.length === 1))}</div>
          ${visits > 0 && visitsHint} ${waitsCard(waits)} ${revenueCard(revenue)}
          ${comparison(drop, revenue, compared, others, `${path}/results`)} ${onceMoreCard(drop)} ${files(drop)}
          ${proofs(drop)}
        `
      }
    })
  }
}

const percent = (value: number, of: number): string => (of === 0 ? "–" : `${Math.round((100 * value) / of)} %`)

/** Makes the function that counts the visits of a drop's room in the last year. */
const makeVisits = (api: AdminApiClient["Service"]) => (operator: Operator, experienceId: string) =>
  api
    .run(operator, "analytics", "queryAnalytics", {
      payload: {
        interval: "1d",
        timeRange: "365d",
        measures: [{ name: "visits", event: "room_visited", op: "count", unit: "1" }],
        where: { experienceId }
      }
    })
    .pipe(
      Effect.map(({ data }) => data.reduce((all, { series }) => all + (series["visits"] ?? 0), 0)),
      Effect.catchTag("Refusal", () => Effect.succeed(0))
    )

const visitsHint = html`<p class="muted">
  A visit is a load of the room’s page that this server answered. One person may visit several times, and who enters by
  the API visits no page.
</p>`

const funnelOf = ({ mechanism, facts }: Seen, visits: number, isOne: boolean): Html => {
  const steps = viewOf(mechanism).steps(mechanism, facts)
  // A cache in front of the room, or another app, may bring more entries than visits.
  const first = Math.max(visits, steps[0]!.value)
  const title = visits > 0 ? "From visit to purchase" : "From entry to purchase"
  return card(
    isOne ? title : html`${title} · <bdi>${mechanism.name}</bdi>`,
    html`<dl class="funnel">
      ${[...(visits > 0 ? [{ name: "Visits", value: visits }] : []), ...steps].map(
        ({ name, value }) => html`
          <div>
            <dt>${name}</dt>
            <dd>${count(value)} <small>${percent(value, first)}</small></dd>
            ${bar([{ value, style: "main" }], first, `${count(value)} of ${count(first)}`)}
          </div>
        `
      )}
    </dl>`
  )
}

type Waits = AdminAnswer<"distributions", "getDistributionWaits">

/** A mechanism in which people wait, and how long they did. */
interface Waited {
  readonly name: string
  readonly waits: Waits
  /** How often the told ranges were right; undefined if nothing is known. */
  readonly ranges: { readonly told: number; readonly right: number } | undefined
}

/** Makes the function that measures the waits in the mechanisms that have some. One that is too large to measure has none. */
const makeWaits = (api: AdminApiClient["Service"]) => (operator: Operator, all: ReadonlyArray<Seen>) =>
  Effect.map(
    Effect.forEach(all, ({ mechanism: { id, name }, facts }) =>
      api.run(operator, "distributions", "getDistributionWaits", { params: { id } }).pipe(
        Effect.map((waits): ReadonlyArray<Waited> => {
          const ranges = facts !== undefined && "waitRanges" in facts ? (facts.waitRanges ?? undefined) : undefined
          return waits.granted + waits.left > 0 ? [{ name, waits, ranges }] : []
        }),
        Effect.catchTag("Refusal", () => Effect.succeed([]))
      )
    ),
    (found) => found.flat()
  )

const waited = (seconds: number | null): string => (seconds === null ? "–" : span(seconds * 1_000))

const waitsCard = (all: ReadonlyArray<Waited>): Html | false =>
  all.length > 0 &&
  card(
    "Waits",
    all.map(
      ({ name, waits, ranges }) => html`
        ${all.length > 1 && html`<h3><bdi>${name}</bdi></h3>`}
        ${facts([
          ["Half had a turn within", waited(waits.medianSeconds)],
          ["95 of 100 had one within", waited(waits.p95Seconds)],
          [
            "Left before",
            waits.left === 0
              ? "nobody"
              : `${counted(waits.left, "person", "people")}, half of them within ${waited(waits.leftMedianSeconds)}`
          ],
          ...(ranges === undefined
            ? []
            : [
                [
                  "Ranges that rooms showed",
                  `${percent(ranges.right, ranges.told)} of ${count(ranges.told)} were right`
                ] as const
              ])
        ])}
      `
    )
  )

interface Revenue {
  readonly currency: string
  readonly total: number
  readonly orders: number
}

/**
 * Makes the function that adds up the orders of an experience that were not cancelled, by currency. The API names the
 * currencies if there are several, because it does not add them up; else it is that of any order.
 */
const makeRevenue = (api: AdminApiClient["Service"]) => {
  const sumsOf = Effect.fnUntraced(function* (operator: Operator, experienceId: string, currencyCode?: string) {
    const measures = (["created", "cancelled"] as const).flatMap((type) => [
      { name: `${type} total`, event: `order_${type}`, op: "sum", unit: "amount", field: "total" },
      { name: type, event: `order_${type}`, op: "count", unit: "1" }
    ])
    const { data: buckets } = yield* api.run(operator, "analytics", "queryAnalytics", {
      payload: { interval: "1d", timeRange: "365d", measures, where: { experienceId, currencyCode } }
    })
    const sum = (name: string) => buckets.reduce((all, { series }) => all + (series[name] ?? 0), 0)
    return { total: sum("created total") - sum("cancelled total"), orders: sum("created") - sum("cancelled") }
  })

  const ofOneCurrency = Effect.fnUntraced(function* (operator: Operator, experienceId: string) {
    const query = { experienceId, first: "1", sortDir: "desc" }
    const sums = yield* sumsOf(operator, experienceId)
    const { data } = yield* api.run(operator, "orders", "listOrders", { query })
    return data.map(({ currencyCode }): Revenue => ({ currency: currencyCode, ...sums }))
  })

  return (operator: Operator, experienceId: string) =>
    ofOneCurrency(operator, experienceId).pipe(
      Effect.catchTag("Refusal", (refusal) => {
        const currencies = currenciesIn(refusal)
        if (currencies.length === 0) return Effect.fail(refusal)
        return Effect.forEach(currencies, (currency) =>
          Effect.map(sumsOf(operator, experienceId, currency), (sums): Revenue => ({ currency, ...sums }))
        )
      })
    )
}

/** The currencies that a refused sum names. */
const currenciesIn = ({ wrong = [] }: Refusal): ReadonlyArray<string> =>
  wrong.flatMap(({ path, sentence }) => (path.at(-1) === "currencyCode" ? (sentence.match(/\b[A-Z]{3}\b/g) ?? []) : []))

const revenueText = (revenue: ReadonlyArray<Revenue>): string =>
  revenue.length === 0 ? "–" : revenue.map(({ total, currency }) => money(`${total}`, currency)).join(" + ")

const revenueCard = (revenue: ReadonlyArray<Revenue>): Html =>
  card(
    "Revenue",
    revenue.length === 0
      ? html`<p class="muted">
          No order names this drop yet. Shops report them with the Admin API, or by a <a href="/dashboard/keys">key</a>
          of a payment provider.
        </p>`
      : facts(
          revenue.map(({ currency, total, orders }) => [
            currency,
            `${money(`${total}`, currency)} in ${counted(orders, "order", "orders")}`
          ])
        )
  )

interface Total {
  readonly entered: number
  readonly bought: number
}

const totalOf = (mechanisms: ReadonlyArray<Mechanism>): Total =>
  mechanisms.reduce(
    ({ entered, bought }, mechanism) => ({
      entered: entered + allPlaces(mechanism),
      bought: bought + countsOf(mechanism).completed
    }),
    { entered: 0, bought: 0 }
  )

interface Compared {
  readonly name: string
  readonly total: Total
  readonly revenue: ReadonlyArray<Revenue>
}

const comparison = (
  { experience, mechanisms }: Drop,
  revenue: ReadonlyArray<Revenue>,
  former: Compared | undefined,
  others: ReadonlyArray<{ readonly id: string; readonly name: string }>,
  path: string
): Html | false => {
  if (others.length === 0) return false
  const column = (name: string, total: Total, own: ReadonlyArray<Revenue>) => html`
    <tr>
      <th scope="row" dir="auto">${name}</th>
      <td data-title="Entered">${count(total.entered)}</td>
      <td data-title="Bought">${count(total.bought)} <small>${percent(total.bought, total.entered)}</small></td>
      <td data-title="Revenue">${revenueText(own)}</td>
    </tr>
  `
  return card(
    "Compared with a former drop",
    html`
      <form method="get" action="${path}" class="filters">
        <label
          >Drop
          <select name="with">
            ${others.map(({ id, name }) => html`<option value="${id}" ${name === former?.name && html`selected`}>${name}</option>`)}
          </select></label
        >
        <button class="quiet">Compare</button>
      </form>
      ${
        former !== undefined &&
        html`<table>
          <caption>
            Both drops
          </caption>
          <thead>
            <tr>
              ${["Drop", "Entered", "Bought", "Revenue"].map((title) => html`<th scope="col">${title}</th>`)}
            </tr>
          </thead>
          <tbody>
            ${column(experience.name, totalOf(mechanisms), revenue)}
            ${column(former.name, former.total, former.revenue)}
          </tbody>
        </table>`
      }
    `
  )
}

const files = ({ mechanisms, path }: Drop): Html | false =>
  mechanisms.length > 0 &&
  card(
    "Files",
    html`<ul class="plain">
      ${mechanisms.map(
        ({ id, name }) =>
          html`<li>
            <a href="${path}/people.csv?mechanism=${id}">Everybody in <bdi>${name}</bdi> as CSV</a>
          </li>`
      )}
    </ul>`
  )

/** The proofs of the draws. Anyone may read them, so their links can be shared. */
const proofs = ({ mechanisms, roomUrl }: Drop): Html | false => {
  const draws = mechanisms.flatMap((one) => (one.type === "draw" ? [one] : []))
  return (
    draws.length > 0 &&
    card(
      "Proofs",
      html`<ul class="plain">
        ${draws.map(
          ({ id, name, drawnAt }) =>
            html`<li>
              ${
                drawnAt === null
                  ? html`<bdi>${name}</bdi> <small>has a proof when it is drawn</small>`
                  : html`<a href="${roomUrl}/proof?at=${id}">Proof of <bdi>${name}</bdi></a>
                      <button type="button" class="quiet" data-copy="${roomUrl}/proof?at=${id}" hidden>
                        Copy link
                      </button>`
              }
            </li>`
        )}
      </ul>`
    )
  )
}
