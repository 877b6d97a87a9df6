/**
 * The tab Now of a drop: its figures with what they are of, a chart of each mechanism, what staff may do beside it, and
 * the last events. The script follows the stream of the experience, fetches the figures and the acts at each change,
 * continues the charts with them, and fetches the events when there are new ones. Without a script the page shows what
 * it knew.
 */
import { Effect } from "effect"
import { mayDo } from "../../../domain/organization/Person.ts"
import { type Html, html } from "../../Html.ts"
import { type Look, lookOf } from "../../Theme.ts"
import { action as oneButton, doneNote } from "../Frame.ts"
import { post } from "../Route.ts"
import { makeShopNote } from "../screens/Organization.ts"
import { makeActs } from "./Acts.ts"
import { makeChart } from "./Chart.ts"
import { type Drop, pathOf } from "./Drop.ts"
import { figuresOf, makeSeen } from "./Figures.ts"
import { makeHappened } from "./Happened.ts"
import { makeLive, titleOf, withChart } from "./Live.ts"
import { steeringOf } from "./SteerForms.ts"
import * as Steering from "./Steering.ts"
import { makeStockParts } from "./StockParts.ts"
import type { Tab, TabNeeds } from "./Tab.ts"

/** The tab. */
export const make = ({ api, sessions }: TabNeeds): Tab => {
  const steer = Steering.make(api)
  const happened = makeHappened(api)
  const actsOf = makeActs(api)
  const show = makeShow(api, happened, actsOf)
  const live = makeLive({ api, sessions }, happened, actsOf)

  return {
    path: "",
    title: "Now",
    show,
    routes: ({ read }) => [
      ...live(read),
      ...Steering.actions.map((action) =>
        post(
          `/experiences/:id/${action}`,
          "operator",
          Effect.fnUntraced(function* (operator, { params, fields }) {
            const experienceId = params["id"]!
            const outcome = yield* steer(operator, { experienceId, action, fields })
            return "ask" in outcome ? outcome.ask : { goTo: `${pathOf(experienceId)}?${outcome.done}` }
          })
        )
      )
    ]
  }
}

const makeShow = (
  api: TabNeeds["api"],
  happened: ReturnType<typeof makeHappened>,
  actsOf: ReturnType<typeof makeActs>
): Tab["show"] => {
  const shopNoteFor = makeShopNote(api)
  const seenOf = makeSeen(api)
  const chart = makeChart(api, actsOf)
  const stocksOf = makeStockParts(api)
  return Effect.fnUntraced(function* (operator, drop, { query }) {
    const { experience, mechanisms, path, now } = drop
    const shopNote = yield* shopNoteFor(operator)
    const seen = yield* seenOf(operator, mechanisms)
    const charts = yield* Effect.forEach(
      withChart(seen),
      (one) =>
        Effect.map(chart(operator, one, experience.timeZone, now), (drawn) => [one.mechanism.id, drawn] as const),
      { concurrency: 2 }
    )
    const last = yield* happened(operator, drop)
    const stocks = yield* stocksOf(operator, mechanisms)
    const drawn = new Map(charts)
    const isOne = mechanisms.length === 1
    const maySteer = mayDo(operator.role, "operator")
    return {
      body: html`
        ${resultOf(drop, query, maySteer)} ${themeNote(lookOf(experience.theme))} ${shopNote}
        <div data-live="${path}/figures" data-events="${path}/events" data-happened="${path}/happened">
          ${stocks}
          ${seen.map(
            (one) => html`
              <section class="mechanism" data-mechanism="${one.mechanism.id}">
                ${titleOf(one.mechanism, isOne)} ${figuresOf(one, now)}
                <div class="beside">
                  ${maySteer && steeringOf(one.mechanism, path, isOne)}
                  <div>${drawn.get(one.mechanism.id)} ${isOne && last}</div>
                </div>
              </section>
            `
          )}
          ${!isOne && last}
        </div>
        ${mechanisms.length === 0 && html`<p class="lead">This drop has nothing in it yet.</p>`}
      `
    }
  })
}

/** The result of the last act, and what takes it back. */
const resultOf = ({ mechanisms, path }: Drop, query: URLSearchParams, maySteer: boolean): Html | false => {
  const done = Steering.resultOf(query)(mechanisms)
  if (done === undefined) return false
  const undo = maySteer ? Steering.undoOf(query, mechanisms) : undefined
  return html`<div class="result">
    ${doneNote(done)}
    ${
      undo !== undefined &&
      oneButton(
        `${path}/${undo.action}`,
        "Undo",
        html`<input type="hidden" name="mechanism" value="${undo.mechanism}" />
          <input type="hidden" name="reason" value="OTHER" />
          ${undo.number !== undefined && html`<input type="hidden" name="${undo.number.setting}" value="${undo.number.former}" /><input type="hidden" name="was" value="${undo.number.present}" />`}`,
        "quiet"
      )
    }
  </div>`
}

/** The values of the theme that the room does not use. */
const themeNote = ({ replaced, hidden }: Look): Html =>
  html`${
    replaced.length > 0 &&
    html`<p class="error">
      The room replaces these values of the theme, which are invalid or leave text hard to read: ${replaced.join(", ")}
    </p>`
  }${
    hidden.length > 0 &&
    html`<p class="error">
      The room does not show these pictures of the theme, because only https addresses are safe: ${hidden.join(", ")}
    </p>`
  }`
