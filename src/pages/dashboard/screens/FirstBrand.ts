/** What the first sign-in asks for: the name that consumers will read, and the colour and logo of every room. */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { unnamedOrganization } from "../../../domain/organization/Organization.ts"
import { type Html, html } from "../../Html.ts"
import type { AdminApiClient } from "../../ApiClients.ts"
import { colourOf } from "../../Theme.ts"
import { Form, type Sent } from "../form/Form.ts"
import { type Call, refusing } from "../form/Refused.ts"
import { textIn } from "../form/Typed.ts"
import { makeUpload } from "../form/Upload.ts"
import { formId } from "../FormId.ts"
import { postFiles, type Reply, type Route, type RouteRequest } from "../Route.ts"
import { mayChange, nameField } from "./Organization.ts"

const action = "/organization/first"

export const make = (api: AdminApiClient["Service"]): ReadonlyArray<Route> => [
  postFiles(action, "admin", makeSave(api))
]

/** Asks until somebody has given the name. */
export const firstBrand = (operator: Operator): Html | false =>
  operator.organizationName === unnamedOrganization && mayChange(operator) && formOf()

const formOf = (sent?: Sent): Html => {
  const form = new Form(sent)
  const fields = html`${nameField(form, "")}
  ${form.input("primary", {
    label: "Colour of buttons",
    isOptional: true,
    placeholder: "#c9a86a",
    hint: "A drop may have its own."
  })}
  ${form.picture("logoUrl", { label: "Logo", address: "Address of the logo", hint: "Above every room." })}`
  return html`<section class="card">
    <h2>What is your brand called?</h2>
    ${form.summary("Nothing was saved. This needs another look:")}
    <form method="post" action="/dashboard${action}" enctype="multipart/form-data">
      ${formId()}${fields}
      <button>Save</button>
    </form>
  </section>`
}

const makeSave = (api: AdminApiClient["Service"]) => {
  const upload = makeUpload(api)
  return Effect.fnUntraced(function* (operator: Operator, sent: RouteRequest) {
    const { fields } = sent
    const { refuse, orShown } = refusing<"first">(fields, (refused): Call<Reply> =>
      Effect.succeed({ title: "Your brand", status: 400, body: formOf(refused) })
    )
    const problems = yield* upload(operator, sent, ["logoUrl"])
    const primary = textIn(fields, "primary")
    const logoUrl = textIn(fields, "logoUrl")
    if (primary !== undefined && colourOf(primary) === undefined) {
      problems.set("primary", "Enter a colour such as #c9a86a.")
    }
    if (problems.size > 0) return yield* refuse({ form: "first", problems })
    const { theme } = yield* api.run(operator, "organizations", "getOrganization", {})
    const look = { ...theme, ...(primary !== undefined && { primary }), ...(logoUrl !== undefined && { logoUrl }) }
    const payload = { name: textIn(fields, "name") ?? "", ...(Object.keys(look).length > 0 && { theme: look }) }
    return yield* api.run(operator, "organizations", "changeOrganization", { payload }).pipe(
      Effect.map(({ name }): Reply => ({ goTo: "/dashboard", done: `Saved. Consumers read the name ${name}.` })),
      orShown({ form: "first" }, (at) => at.at(-1))
    )
  })
}
