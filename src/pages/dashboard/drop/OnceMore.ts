/** A mechanism of a drop once more, with other settings: a form, and the figures beside the recorded ones. */
import { Effect } from "effect"
import { changeable } from "../../../engine/replay/Settings.ts"
import { rowsOf } from "../../../engine/replay/FigureRows.ts"
import type { AdminAnswer, AdminApiClient } from "../../ApiClients.ts"
import { type Html, html } from "../../Html.ts"
import { notFound } from "../../Refusal.ts"
import { Form, type Sent } from "../form/Form.ts"
import { refusing } from "../form/Refused.ts"
import { typedAt } from "../form/Typed.ts"
import { card } from "../Parts.ts"
import { get, type Reply, type Route } from "../Route.ts"
import { changesIn, termField } from "../schedule/MechanismForm.ts"
import { termsInUse } from "../schedule/Terms.ts"
import { allPlaces } from "./KindView.ts"
import type { Drop, Mechanism } from "./Drop.ts"
import type { TabFrame } from "./Tab.ts"

type Replay = AdminAnswer<"distributions", "replayDistribution">
type Figures = Replay["recorded"]

const path = "/experiences/:id/results/once-more"

/** The card of the tab Results that leads to the form. */
export const onceMoreCard = ({ mechanisms, path }: Drop): Html | false => {
  const entered = mechanisms.filter((mechanism) => allPlaces(mechanism) > 0)
  return (
    entered.length > 0 &&
    card(
      "Once more, with other settings",
      html`<p class="muted">
          What a higher rate, more units or more time to buy would have done, if the same people had come.
        </p>
        <ul class="plain">
          ${entered.map(
            ({ id, name }) =>
              html`<li>
                <a href="${path}/results/once-more?mechanism=${id}">Play <bdi>${name}</bdi> once more</a>
              </li>`
          )}
        </ul>`
    )
  )
}

/** The form and its answer have one address, so that it can be shared. Nothing changes. */
export const makeRoutes = (api: AdminApiClient["Service"], { read, write }: TabFrame): ReadonlyArray<Route> => [
  get(
    path,
    Effect.fnUntraced(function* (operator, { params, query }) {
      const drop = yield* read(operator, params["id"]!)
      const wanted = query.get("mechanism")
      const mechanism = drop.mechanisms.find(({ id }) => wanted === null || id === wanted)
      if (mechanism === undefined) return yield* notFound
      const screen = (sent: Sent, replay?: Replay): Reply =>
        write(drop, {
          body: html`${formOf(drop, mechanism, sent)} ${replay && figuresOf(mechanism, replay)}`,
          status: sent.problems === undefined ? 200 : 400
        })
      const { changes: settings, problems } = changesIn(mechanism, query)
      if (problems.size > 0) return screen({ fields: query, problems })
      const payload = Object.keys(settings).length === 0 ? {} : { settings }
      const { orShown } = refusing<"onceMore">(query, (refused) => Effect.succeed(screen(refused)))
      return yield* api
        .run(operator, "distributions", "replayDistribution", { params: { id: mechanism.id }, payload })
        .pipe(
          Effect.map((replay) => screen({ fields: query }, replay)),
          orShown({ form: "onceMore" }, ([, setting]) => setting)
        )
    })
  )
]

const formOf = ({ path }: Drop, mechanism: Mechanism, sent: Sent): Html => {
  const form = new Form(sent)
  const playable = changeable(mechanism.type)
  const terms = termsInUse(mechanism).filter(
    ({ setting, type }) => type !== "instant" && playable.includes(setting.split(".")[0]!)
  )
  const fields = terms.map((term) => termField(form, mechanism, term, []))
  return card(
    html`<bdi>${mechanism.name}</bdi>, once more`,
    html`${form.summary("Nothing was played. This needs another look:")}
      <form method="get" action="${path}/results/once-more">
        <input type="hidden" name="mechanism" value="${mechanism.id}" />
        <div class="columns">${fields}</div>
        <button>Play once more</button>
      </form>`
  )
}

const figuresOf = (mechanism: Mechanism, { events, recorded, changed }: Replay): Html => {
  const [was, would] = [rowsIn(mechanism, recorded), changed && rowsIn(mechanism, changed.figures)]
  return card(
    would === null ? "As it was" : "As it was, and as it would have been",
    html`<p>${changed?.assumption ?? "Change a setting above to see what it would have led to."}</p>
      <table>
        <caption>
          ${events.toLocaleString("en")} recorded events follow from the rules
        </caption>
        <thead>
          <tr>
            ${["Figure", "Recorded", ...(would === null ? [] : ["With these settings"])].map(
              (title) => html`<th scope="col">${title}</th>`
            )}
          </tr>
        </thead>
        <tbody>
          ${was.map(
            ([name, value], index) =>
              html`<tr>
                <th scope="row">${name.charAt(0).toUpperCase()}${name.slice(1)}</th>
                <td data-title="Recorded">${value}</td>
                ${would !== null && html`<td data-title="With these settings">${would[index]![1]}</td>`}
              </tr>`
          )}
        </tbody>
      </table>`
  )
}

const rowsIn = ({ timeZone }: Mechanism, figures: Figures) => {
  const { soldOutAt } = figures
  return rowsOf({ ...figures, soldOutAt: soldOutAt === null ? null : typedAt(soldOutAt, timeZone).replace("T", " ") })
}
