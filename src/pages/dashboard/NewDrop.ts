/** Creates a drop from a template. */
import { Clock, Effect } from "effect"
import type { Operator } from "../../auth/operators/OperatorSessions.ts"
import { html } from "../Html.ts"
import type { AdminApiClient } from "../ApiClients.ts"
import { field, problemNote, type Screen } from "./Frame.ts"
import { bodyOf, templates } from "./Templates.ts"

/** The screen with one form for each template, and the errors of the sent one. */
export const newDropScreen = (sent?: { readonly fields: URLSearchParams; readonly problem: string }): Screen => ({
  title: "New drop",
  status: sent === undefined ? 200 : 400,
  body: html`
    ${problemNote(sent?.problem)}
    <p>Choose how consumers get their chance. Everything can be changed later on the Admin API.</p>
    <div class="cards">${templates.map((template) => formOf(template, sent?.fields))}</div>
  `
})

const formOf = ({ name, title, use, asks }: (typeof templates)[number], sent: URLSearchParams | undefined) => {
  const own = sent?.get("template") === name ? sent : undefined
  const valueOf = (asked: string, fallback: string | number) => own?.get(asked) ?? fallback
  return html`
    <form method="post" action="/dashboard/new" class="card">
      <h2>${title}</h2>
      <p>${use}</p>
      <input type="hidden" name="template" value="${name}" />
      ${field("Name", "name", { value: valueOf("name", "") }, "Consumers see it.")}
      ${field(
        "Opens in minutes",
        "opensInMinutes",
        { type: "number", value: valueOf("opensInMinutes", 30), max: 525_600 },
        "0 opens it at once."
      )}
      ${asks.map((asked) =>
        field(
          asked.label,
          asked.name,
          { type: "number", ...asked, value: valueOf(asked.name, asked.value) },
          asked.hint
        )
      )}
      <button>Create ${title.toLowerCase()}</button>
    </form>
  `
}

/** Makes the function that creates the drop of a sent form. Returns its experience, or the screen again. */
export const make = (api: AdminApiClient["Service"]) =>
  Effect.fnUntraced(function* (operator: Operator, fields: URLSearchParams) {
    const found = bodyOf(fields, yield* Clock.currentTimeMillis)
    if ("wrong" in found)
      return { screen: newDropScreen({ fields, problem: `${found.wrong}: the value does not fit.` }) }
    return yield* api.run(operator, "experiences", "createExperience", { payload: found.body }).pipe(
      Effect.map(({ id }) => ({ experienceId: id })),
      Effect.catchTag("Refusal", (refusal) =>
        refusal.status === 400
          ? Effect.succeed({ screen: newDropScreen({ fields, problem: refusal.detail ?? "A value does not fit." }) })
          : Effect.fail(refusal)
      )
    )
  })
