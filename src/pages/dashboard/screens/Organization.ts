/** The settings of the organization: the name that consumers read, and the shops to which rooms lead. */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { mayDo } from "../../../domain/organization/Person.ts"
import { type Html, html } from "../../Html.ts"
import type { AdminAnswer, AdminApiClient } from "../../ApiClients.ts"
import { field, problemNote } from "../Frame.ts"
import { get, post, type Reply, type RouteRequest } from "../Route.ts"
import { facts } from "../Table.ts"

type Organization = AdminAnswer<"organizations", "getOrganization">

export const path = "/dashboard/organization"

/** The name of an organization that the first start has made (`cli/runtime/Welcome.ts`). */
const unnamed = "default"

/** The routes of settings. */
export const make = (api: AdminApiClient["Service"]) => {
  const show = makeShow(api)
  return [get("/organization", (operator) => show(operator)), post("/organization", "admin", makeChange(api, show))]
}

interface Outcome {
  readonly problem?: string
  readonly fields?: URLSearchParams
}

/** True if the operator can change the organization. A test key cannot. */
const mayChange = ({ role, tenant }: Operator): boolean => mayDo(role, "admin") && tenant.mode === "live"

const makeShow = (api: AdminApiClient["Service"]) =>
  Effect.fnUntraced(function* (operator: Operator, { problem, fields }: Outcome = {}) {
    const { name, allowedOrigins } = yield* api.run(operator, "organizations", "getOrganization", {})
    return {
      title: "Settings",
      status: problem === undefined ? 200 : 400,
      body: html`
        ${problemNote(problem)}
        ${
          mayChange(operator)
            ? html`<form method="post" action="${path}" class="card">
                ${nameField(fields?.get("name") ?? name)}
                <label
                  >Addresses of your shops
                  <textarea name="allowedOrigins" rows="4" spellcheck="false" placeholder="https://shop.example">
${"\n"}${fields?.get("allowedOrigins") ?? (allowedOrigins ?? []).join("\n")}</textarea>
                  <span class="hint"
                    >One on each line. Rooms lead to these shops, and only their pages may use the Consumer API. Without
                    one, rooms lead to the address of a product, and any page may use the API.</span
                  ></label
                >
                <button>Save</button>
              </form>`
            : html`<section class="card">${known({ name, allowedOrigins })}</section>
                <p class="muted">An admin can change this in live mode.</p>`
        }
      `
    }
  })

const nameField = (value: string): Html =>
  field("Name", "name", { value, autocomplete: "organization" }, "Consumers read it in rooms and messages.")

const known = ({ name, allowedOrigins }: Pick<Organization, "name" | "allowedOrigins">): Html =>
  facts([
    ["Name", name],
    ["Addresses of your shops", (allowedOrigins ?? []).join(" ")]
  ])

/** Makes the form that changes what it has fields for. */
const makeChange = (api: AdminApiClient["Service"], show: ReturnType<typeof makeShow>) =>
  Effect.fnUntraced(function* (operator: Operator, { fields }: RouteRequest) {
    const origins = fields.get("allowedOrigins")
    const payload = {
      name: fields.get("name")?.trim() ?? "",
      ...(origins !== null && { allowedOrigins: origins.split(/\s+/).filter((origin) => origin !== "") })
    }
    return yield* api.run(operator, "organizations", "changeOrganization", { payload }).pipe(
      Effect.map(({ name }): Reply => ({ goTo: path, done: `Saved. Consumers read the name ${name}.` })),
      Effect.catchTag("Refusal", (refusal) =>
        refusal.status === 400
          ? show(operator, { problem: refusal.detail ?? "A value is not valid.", fields })
          : Effect.fail(refusal)
      )
    )
  })

/** Asks for the name that consumers will read, until somebody has given one. */
export const naming = (operator: Operator): Html | false =>
  operator.organizationName === unnamed &&
  mayChange(operator) &&
  html`<form method="post" action="${path}" class="card">
    <h2>What is your brand called?</h2>
    ${nameField("")}
    <button>Save</button>
  </form>`

/** Warns of an organization whose rooms lead to no shop but a product's. */
export const makeShopNote = (api: AdminApiClient["Service"]) =>
  Effect.fnUntraced(function* (operator: Operator) {
    const { allowedOrigins } = yield* api.run(operator, "organizations", "getOrganization", {})
    return (
      (allowedOrigins ?? []).length === 0 &&
      html`<p class="muted">
        No shop is allowed yet: the room leads only to the address of a product, and visitors from another shop cannot
        return to it. <a href="${path}">Add the address of your shop</a>
      </p>`
    )
  })
