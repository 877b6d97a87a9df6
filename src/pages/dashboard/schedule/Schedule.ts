/**
 * The schedule of a drop: its mechanisms with dates, rates and units, who may enter, a copy at another date, and the
 * archive. What can no longer be changed says why.
 */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { mayDo } from "../../../domain/organization/Person.ts"
import { html, type Html } from "../../Html.ts"
import type { Drop, Experience } from "../drop/Drop.ts"
import type { Tab, TabBody, TabNeeds } from "../drop/Tab.ts"
import { Form, type Sent } from "../form/Form.ts"
import type { RefusedForm } from "../form/Refused.ts"
import { timeZones, typedAt } from "../form/Typed.ts"
import { formId } from "../FormId.ts"
import { newestStocks } from "../stocks/Sizes.ts"
import { addLinks } from "./AddForm.ts"
import { copyForm } from "./CopyForm.ts"
import { mechanismForm } from "./MechanismForm.ts"
import { makeRoutes, type ScheduleForm } from "./ScheduleRoutes.ts"
import { sequenceForm } from "./SequenceForm.ts"
import { tabPath } from "./Sequences.ts"
import { sharingLink } from "./SharingForm.ts"

export const make = ({ api }: Pick<TabNeeds, "api">): Tab => {
  const show = makeShow({ api })
  return {
    path: tabPath,
    title: "Schedule",
    show: (operator, drop) => show(operator, drop),
    routes: (frame) => makeRoutes(api, show, frame)
  }
}

const makeShow = ({ api }: Pick<TabNeeds, "api">) =>
  Effect.fnUntraced(function* (operator: Operator, drop: Drop, refused?: RefusedForm<ScheduleForm>) {
    const { experience, mechanisms } = drop
    const path = `${drop.path}${tabPath}`
    const mayChange = mayDo(operator.role, "operator")
    const list = { query: { first: "100", sortDir: "desc" } } as const
    const audiences = mayChange ? (yield* api.run(operator, "audiences", "listAudiences", list)).data : []
    const stocks = yield* newestStocks(api, operator)
    const sentTo = (form: ScheduleForm, id?: string) =>
      refused?.form === form && refused.id === id ? refused : undefined
    const body: TabBody = {
      status: refused === undefined ? 200 : 400,
      body: html`
        ${mechanisms.map((one) => mechanismForm(one, { path, mayChange, stocks }, sentTo("mechanism", one.id)))}
        ${mechanisms.length === 0 && html`<p class="muted">Nothing is in this drop yet.</p>`}
        ${
          mayChange &&
          html`${experience.sequences.map((one) => sequenceForm(one, audiences, path, sentTo("sequence", one.id)))}
          ${dropForm(drop, path, sentTo("drop"))} ${addLinks(path)} ${sharingLink(path)}
          ${copyForm(drop, path, sentTo("copy"))} ${archiveForm(path)}`
        }
      `
    }
    return body
  })

const dropForm = ({ experience }: Drop, path: string, sent: Sent | undefined): Html => {
  const form = new Form(sent, "drop-")
  const fields = html`
    ${form.input("name", { label: "Name", value: experience.name, hint: "Consumers read it above the room." })}
    ${form.select("timeZone", {
      label: "Time zone",
      value: experience.timeZone,
      choices: timeZones(experience.timeZone),
      hint: "Of the times that rooms show. Instants stay as they are."
    })}
    ${boundField(form, experience, "openAt")} ${boundField(form, experience, "closeAt")}
  `
  return html`<section class="card">
    <h2>The drop</h2>
    ${form.summary("Nothing was changed. This needs another look:")}
    <form method="post" action="${path}/drop">
      ${formId()}
      <div class="columns">${fields}</div>
      <button>Save</button>
    </form>
  </section>`
}

const bounds = {
  openAt: { label: "The drop opens", hint: "Nothing in it opens before. Empty: each part opens at its own time." },
  closeAt: {
    label: "The drop closes",
    hint: "Everything in it closes then at the latest. Empty: each part closes at its own time."
  }
} as const

/** The field has what is set for the whole drop. What its parts are set to is no bound, and stands beside them. */
const boundField = (form: Form, { timeZone, window }: Experience, setting: keyof typeof bounds): Html => {
  const at = window[setting]
  const value = at === null ? "" : typedAt(at, timeZone)
  const { label, hint } = bounds[setting]
  return html`<input type="hidden" name="was.${setting}" value="${value}" />${form.input(setting, {
      label,
      type: "datetime-local",
      value,
      isOptional: true,
      hint: `${hint} Clocks of ${timeZone}.`
    })}`
}

const archiveForm = (path: string): Html =>
  html`<section class="card">
    <h2>Archive</h2>
    <p class="muted">Takes the drop out of every list. Everything in it ends.</p>
    <form method="post" action="${path}/archive"><button class="quiet danger">Archive…</button></form>
  </section>`
