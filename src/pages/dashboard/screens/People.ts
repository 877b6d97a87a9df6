/** People: invite, change the role, remove; and the choice of organization of a person who is invited by several. */
import { Effect } from "effect"
import { isolated } from "../../../domain/values/Direction.ts"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { authorOf, mayDo, Role } from "../../../domain/organization/Person.ts"
import { isUuid } from "../../../domain/values/Ids.ts"
import { type Html, html } from "../../Html.ts"
import { notFound, Refusal } from "../../Refusal.ts"
import type { AdminAnswer, AdminApiClient } from "../../ApiClients.ts"
import { action, asked, field, problemNote } from "../Frame.ts"
import type { Sessions } from "../Guard.ts"
import { formId } from "../FormId.ts"
import { get, post, type Reply, type Route, type RouteRequest } from "../Route.ts"
import { instant, listQueryOf, pager, table } from "../Table.ts"

type Person = AdminAnswer<"people", "getPerson">
type Api = AdminApiClient["Service"]

const path = "/dashboard/people"

/** The rights of each role. */
const uses: { readonly [R in Role]: string } = {
  viewer: "reads everything",
  operator: "also controls mechanisms and edits",
  admin: "also manages keys, people and webhooks, and erases consumers"
}

/** The routes of people. */
export const make = (api: Api, sessions: Sessions): ReadonlyArray<Route> => {
  const show = makeShow(api)
  return [
    get("/people", (operator, sent) => show(operator, sent)),
    post("/people", "admin", makeInvite(api, show)),
    post("/people/:id/role", "admin", makeChangeRole(api)),
    post("/people/:id/remove", "admin", makeRemove(api)),
    get("/switch", () => Effect.map(sessions.memberships, choiceOf)),
    { method: "POST", path: "/switch", role: "viewer", run: makeSwitch(sessions) }
  ]
}

const makeShow = (api: Api) => {
  const authors = makeAuthors(api)
  return Effect.fnUntraced(function* (operator: Operator, { query, fields }: RouteRequest, problem?: string) {
    const isAdmin = mayDo(operator.role, "admin")
    const page = yield* api.run(operator, "people", "listPeople", { query: listQueryOf(query) })
    const author = yield* authors(operator)
    return {
      title: "People",
      status: problem === undefined ? 200 : 400,
      body: html`
        ${table<Person>(
          `People of ${operator.tenant.mode} mode`,
          page.data,
          [
            { title: "Email", cell: ({ id, email }) => html`${email}<br /><small>operator:${id}</small>` },
            { title: "Name", cell: ({ name }) => name ?? "–" },
            { title: "Role", cell: (person) => (isAdmin ? roleForm(person) : person.role) },
            { title: "Last sign-in", cell: ({ lastSignInAt }) => instant(lastSignInAt) },
            { title: "Invited by", cell: ({ createdBy }) => author(createdBy) },
            ...(isAdmin ? [{ title: "Remove", cell: removeForm }] : [])
          ],
          isAdmin
            ? "Nobody is invited yet. Until then the secret key is the only way in. Invite a colleague below."
            : "Nobody is invited yet. An admin can invite people."
        )}
        ${pager(page, path, query)}
        ${isAdmin && invitation(problem === undefined ? new URLSearchParams() : fields, problem)}
      `
    }
  })
}

const roleForm = ({ id, email, role }: Person): Html =>
  action(
    `${path}/${id}/role`,
    "Change",
    html`<select name="role" aria-label="Role of ${email}">
      ${Role.literals.map((one) => html`<option value="${one}" ${one === role && html`selected`}>${one}</option>`)}
    </select>`,
    "quiet",
    true
  )

const removeForm = ({ id, email }: Person): Html =>
  action(`${path}/${id}/remove`, `Remove ${email}`, false, "danger", true)

const find = (api: Api, operator: Operator, { params }: RouteRequest) =>
  api.run(operator, "people", "getPerson", { params: { id: params["id"]! } })

/** Makes the form that changes a role, once it is confirmed. */
const makeChangeRole = (api: Api) =>
  Effect.fnUntraced(function* (operator: Operator, sent: RouteRequest) {
    const { fields } = sent
    const person = yield* find(api, operator, sent)
    const role = Role.literals.find((one) => one === fields.get("role"))
    if (role === undefined) return yield* new Refusal({ status: 400, code: "INVALID", detail: "Choose a role." })
    if (!fields.has("confirmed")) {
      return asked({
        title: `Make ${person.email} ${role}?`,
        says: `${person.email} is ${person.role} now. As ${role} this person ${uses[role]}, from the next request on.`,
        path: `${path}/${person.id}/role`,
        back: path,
        button: `Make ${role}`,
        fields
      })
    }
    const { email } = yield* api.run(operator, "people", "changePerson", {
      params: { id: person.id },
      payload: { role }
    })
    return { goTo: path, done: `${email} is ${role} now.` }
  })

/** Makes the form that removes a person, once it is confirmed. */
const makeRemove = (api: Api) =>
  Effect.fnUntraced(function* (operator: Operator, sent: RouteRequest) {
    const { id, email } = yield* find(api, operator, sent)
    const isOwn = id === operator.personId
    if (!sent.fields.has("confirmed")) {
      return asked({
        title: `Remove ${email}?`,
        says: isOwn
          ? "This is you: you are signed out at once, and only another admin can invite you again."
          : `${email} is signed out at once. An admin can invite the address again.`,
        path: `${path}/${id}/remove`,
        back: path,
        button: "Remove",
        isHarmful: true
      })
    }
    yield* api.run(operator, "people", "archivePerson", { params: { id } })
    if (isOwn) return { goTo: "/dashboard/sign-in" }
    return { goTo: path, done: `${email} was removed. Its sessions have ended.` }
  })

const invitation = (fields: URLSearchParams, problem: string | undefined): Html => html`
  <form method="post" action="${path}" class="card">
    <h2>Invite a person</h2>
    ${problemNote(problem)} ${field("Email", "email", { type: "email", value: fields.get("email") ?? "" })}
    ${field("Name", "name", { value: fields.get("name") ?? "", isOptional: true })}
    <label
      >Role
      <select name="role">
        ${Role.literals.map(
          (role) =>
            html`<option value="${role}" ${role === fields.get("role") && html`selected`}>
              ${role}: ${uses[role]}
            </option>`
        )}
      </select></label
    >
    <p class="hint">The email contains no link. Tell the person the address of this dashboard.</p>
    ${formId()}<button>Invite</button>
  </form>
`

const makeInvite = (api: Api, show: ReturnType<typeof makeShow>) => (operator: Operator, sent: RouteRequest) => {
  const name = sent.fields.get("name")?.trim() ?? ""
  const payload = {
    email: sent.fields.get("email")?.trim() ?? "",
    role: sent.fields.get("role"),
    ...(name !== "" && { name })
  }
  return api.run(operator, "people", "createPerson", { payload }).pipe(
    Effect.map(({ email }): Reply => ({ goTo: path, done: `${email} was invited.` })),
    Effect.catchTag("Refusal", (refusal) =>
      refusal.status === 400 || refusal.status === 409
        ? show(operator, sent, refusal.detail ?? "A value is not valid.")
        : Effect.fail(refusal)
    )
  )
}

type Memberships = Effect.Success<Sessions["memberships"]>

const choiceOf = (memberships: Memberships) => ({
  title: "Switch organization",
  body: table<Memberships[number]>(
    "Organizations that invited you",
    memberships,
    [
      { title: "Organization", cell: ({ organizationName }) => organizationName },
      { title: "Mode", cell: ({ tenant }) => (tenant.mode === "test" ? "Test mode" : "Live") },
      { title: "Role", cell: ({ role }) => role },
      {
        title: "Switch",
        cell: ({ personId, organizationName, tenant }) =>
          action(
            "/dashboard/switch",
            `Go to ${isolated(organizationName, "")}, ${tenant.mode}`,
            html`<input type="hidden" name="person" value="${personId}" />`,
            "quiet"
          )
      }
    ],
    "This session began with a secret key, which belongs to one organization. Sign in with an invited address to switch."
  )
})

const makeSwitch = (sessions: Sessions) =>
  Effect.fnUntraced(function* (_: Operator, { fields }: RouteRequest) {
    const personId = fields.get("person") ?? ""
    const hasChanged = isUuid(personId) && (yield* sessions.become(personId))
    return hasChanged ? { goTo: "/dashboard" } : yield* notFound
  })

/** People whose names are looked up: present and removed ones, the newest first. */
const peopleMax = "100"

/** Makes the function that reads the people of a tenant by the names that records give them. */
const makeColleagues = (api: AdminApiClient["Service"]) =>
  Effect.fnUntraced(function* (operator: Operator) {
    const pages = yield* Effect.forEach(["false", "true"], (archived) =>
      api.run(operator, "people", "listPeople", { query: { first: peopleMax, sortDir: "desc", archived } })
    )
    return new Map(
      pages.flatMap(({ data }) => data.map(({ id, name, email }) => [authorOf(id), name ?? email] as const))
    )
  })

/** Makes the function that reads the people of a tenant and returns how an author is written. */
export const makeAuthors = (api: AdminApiClient["Service"]) => {
  const colleagues = makeColleagues(api)
  return (operator: Operator) =>
    Effect.map(colleagues(operator), (names) => (by: unknown): Html => {
      if (typeof by !== "string") return html`–`
      const name = names.get(by)
      return name === undefined ? html`${by}` : html`${name}<br /><small>${by}</small>`
    })
}

/** Makes the function that reads the people of a tenant and returns the name of an author in a sentence. */
export const makeAuthorNames = (api: AdminApiClient["Service"]) => {
  const colleagues = makeColleagues(api)
  return (operator: Operator) =>
    Effect.map(colleagues(operator), (names) => (by: unknown): string => {
      if (typeof by !== "string") return "Staff"
      return (
        names.get(by) ??
        (by.startsWith("api_key:") ? "The shop" : by.startsWith("rehearsal:") ? "A rehearsal" : "Staff")
      )
    })
}

/** Writes an author. */
export type Author = (by: unknown) => Html
