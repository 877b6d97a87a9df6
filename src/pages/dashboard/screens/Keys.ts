/** The API keys of the organization. Replacing a key needs the present secret key; the new one is shown once. */
import { Effect } from "effect"
import type { ApiKeys } from "../../../auth/keys/ApiKeys.ts"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { mayDo } from "../../../domain/organization/Person.ts"
import { sameTenant } from "../../../domain/values/Ids.ts"
import { type Html, html } from "../../Html.ts"
import { unavailable } from "../../Refusal.ts"
import type { AdminAnswer, AdminApiClient } from "../../ApiClients.ts"
import { formId } from "../FormId.ts"
import { doneNote, problemNote } from "../Frame.ts"
import { get, post, type RouteRequest } from "../Route.ts"
import { instant, table } from "../Table.ts"
import type { KeyKind } from "../../../domain/organization/ApiKey.ts"

type Key = AdminAnswer<"apiKeys", "listApiKeys">["data"][number]

const path = "/dashboard/keys"

const uses: { readonly [K in KeyKind]: string } = {
  publishable: "Browsers and apps send it. Replacing it stops every shop page that uses the old one.",
  secret:
    "Servers send it. Replacing it stops every server that uses the old one, and ends dashboard sessions begun with it."
}

/** The routes of keys. */
export const make = (api: AdminApiClient["Service"], keys: ApiKeys["Service"]) => {
  const show = makeShow(api)
  return [
    get("/keys", (operator) => show(operator)),
    ...(["publishable", "secret"] as const).map((kind) =>
      post(`/keys/${kind}/rotate`, "admin", makeRotate(api, keys, kind, show))
    )
  ]
}

const makeShow = (api: AdminApiClient["Service"]) =>
  Effect.fnUntraced(function* (operator: Operator, problem?: string) {
    const { data } = yield* api.run(operator, "apiKeys", "listApiKeys", { query: { first: "100" } })
    return {
      title: "Keys",
      status: problem === undefined ? 200 : 403,
      body: html`
        ${problemNote(problem)}
        ${table<Key>(
          `Keys of ${operator.tenant.mode} mode`,
          data,
          [
            { title: "Key", cell: ({ display }) => html`<code>${display}</code>` },
            { title: "Kind", cell: ({ kind }) => kind },
            { title: "Use", cell: ({ kind }) => uses[kind] },
            { title: "Created", cell: ({ createdAt }) => instant(createdAt) }
          ],
          "There is no key. Create one with `usher keys rotate`."
        )}
        ${
          mayDo(operator.role, "admin")
            ? html`<div class="cards">${data.map(rotationOf)}</div>`
            : html`<p class="muted">An admin can replace keys.</p>`
        }
      `
    }
  })

const rotationOf = ({ kind, display }: Key): Html => html`
  <form method="post" action="${path}/${kind}/rotate" class="card">
    <h2>Replace the ${kind} key</h2>
    <p>${display} is revoked immediately. The new key is shown once.</p>
    <label
      >Current secret key
      <input name="key" type="password" required autocomplete="off" spellcheck="false" />
      <span class="hint">Required again, so that nobody can replace keys from an unattended screen.</span></label
    >
    ${formId()}<button class="danger">Replace the ${kind} key</button>
  </form>
`

/** Makes the form that replaces a key of this kind. */
const makeRotate = (
  api: AdminApiClient["Service"],
  keys: ApiKeys["Service"],
  kind: KeyKind,
  show: ReturnType<typeof makeShow>
) =>
  Effect.fnUntraced(function* (operator: Operator, { fields }: RouteRequest) {
    const holder = yield* Effect.catchTag(keys.lookup((fields.get("key") ?? "").trim()), "Unavailable", () =>
      unavailable()
    )
    if (holder?.kind !== "secret" || !sameTenant(holder.tenant, operator.tenant)) {
      return yield* show(operator, `This is not the secret key of ${operator.tenant.mode} mode. Nothing was replaced.`)
    }
    const { key } = yield* api.run(operator, "apiKeys", "rotateApiKey", { params: { kind } })
    return {
      title: "Key replaced",
      body: html`
        <section class="card">
          ${doneNote(`The old ${kind} key no longer works.`)}
          <p>This is the new key. It is shown once; copy it now.</p>
          <p><code class="secret">${key}</code></p>
          ${kind === "secret" && html`<p>Sessions that began with the old key have ended. Sign in again.</p>`}
          <p><a class="button" href="${path}">I have copied it</a></p>
        </section>
      `,
      again: { goTo: path, done: `The ${kind} key was replaced before. The new one was shown then, and only once.` }
    }
  })
