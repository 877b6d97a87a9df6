/** The shared parts of all screens of the dashboard: the document around them, and the parts of forms. */
import { isolated } from "../../domain/values/Direction.ts"
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import type { Operator } from "../../auth/operators/OperatorSessions.ts"
import { mayDo } from "../../domain/organization/Person.ts"
import * as Answer from "../Answer.ts"
import type { Assets } from "../Assets.ts"
import { type Html, html, type Inserted, script, style } from "../Html.ts"
import { headersOf } from "../Security.ts"
import { formId } from "./FormId.ts"

/** A screen. */
export interface Screen {
  readonly title: string
  readonly body: Html
  readonly status?: number
  /** Seconds after which a request may succeed. */
  readonly retryAfterSeconds?: number
  /** Styles of a frame in it, which has the policy of the screen. */
  readonly styles?: ReadonlyArray<string>
}

/** Makes the function that answers with a screen. Without an operator it has no navigation. */
export const makeFrame = (assets: Assets["Service"]) =>
  Effect.fnUntraced(function* (
    { title, body, status = 200, styles = [], retryAfterSeconds }: Screen,
    operator?: Operator
  ) {
    const css = yield* assets.text("dashboard.css")
    const text = yield* assets.text("dashboard.ts")
    const isTest = operator?.tenant.mode === "test"
    const { url } = yield* HttpServerRequest.HttpServerRequest
    const page = html`<!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width,initial-scale=1" />
          <title>${isolated(title, "")}${isTest && " (test)"} · Usher</title>
          <meta name="description" content="Usher, the engine behind product drops: ${isolated(title, "")}" />
          <link rel="icon" href="data:," />
          ${style(css)}
        </head>
        <body class="${isTest ? "test" : "live"}">
          <a class="skip" href="#main">Skip to content</a>
          ${operator !== undefined && navigationOf(operator, url)}
          <main id="main" tabindex="-1">
            <h1 dir="auto">${title}</h1>
            ${body}
          </main>
          ${text !== "" && script(text)}
        </body>
      </html>`
    const headers = {
      ...headersOf({ scripts: text === "" ? [] : [text], styles: [css, ...styles], formOrigins: [] }),
      ...(retryAfterSeconds !== undefined && { "retry-after": `${retryAfterSeconds}` })
    }
    return yield* Answer.ofVisitor(page.text, status, headers)
  })

/** The section that a viewer does not have. */
const newDrop = "/dashboard/new"

/** The sections, in the order of the navigation. */
const sections = [
  ["/dashboard", "Now"],
  [newDrop, "New drop"],
  ["/dashboard/consumers", "Consumers"],
  ["/dashboard/orders", "Orders"],
  ["/dashboard/analytics", "Analytics"],
  ["/dashboard/pages", "Pages"],
  ["/dashboard/webhooks", "Webhooks"],
  ["/dashboard/keys", "Keys"],
  ["/dashboard/people", "People"],
  ["/dashboard/organization", "Settings"],
  ["/dashboard/audit-log", "Audit log"],
  ["/dashboard/system", "System"]
] as const

const navigationOf = ({ organizationName, tenant, role, personId }: Operator, url: string): Html => {
  const path = url.split("?", 1)[0]!
  const isHere = (section: string) => path === section || (section !== "/dashboard" && path.startsWith(`${section}/`))
  return html`
    <header>
      <nav aria-label="Account">
        <strong dir="auto">${organizationName}</strong>
        <span class="mode">${tenant.mode === "test" ? "Test mode" : "Live"}</span>
        <span class="muted">${role}</span>
        ${
          personId !== undefined &&
          html`<a href="/dashboard/switch" ${isHere("/dashboard/switch") && html`aria-current="page"`}
            >Switch organization</a
          >`
        }
        <form method="post" action="/dashboard/sign-out"><button class="plain">Sign out</button></form>
      </nav>
      <nav aria-label="Dashboard">
        ${sections.map(
          ([section, title]) =>
            (section !== newDrop || mayDo(role, "operator")) &&
            html`<a href="${section}" ${isHere(section) && html`aria-current="page"`}>${title}</a> `
        )}
      </nav>
    </header>
  `
}

/** A form with one button. `asks`: it leads to a question, and does nothing itself. */
export const action = (path: string, label: string, fields: Inserted = false, style = "", asks = false): Html =>
  html`<form method="post" action="${path}" class="action">
    ${fields}${asks ? false : formId()}<button class="${style}">${label}</button>
  </form>`

/** The result of an action, for the screen that comes after a form. It has the focus when the page opens. */
export const doneNote = (done: string | undefined): Html | false =>
  done !== undefined && html`<p class="done" role="status" tabindex="-1" autofocus>${done}</p>`

/** The errors of a form. They have the focus when the page opens. */
export const problemNote = (problem: string | undefined): Html | false =>
  problem !== undefined && html`<p class="error" role="alert" tabindex="-1" autofocus>${problem}</p>`

/** The effect of an action that is not confirmed yet. It has the focus when the page opens. */
export const confirmation = (says: string): Html => html`<p class="lead" tabindex="-1" autofocus>${says}</p>`

/** The screen that states the effect of an action, and asks whether to go on. The same fields are sent again. */
export const asked = (options: {
  readonly title: string
  readonly says: string
  /** The address of the action, and of the screen that it is on. */
  readonly path: string
  readonly back: string
  readonly button: string
  readonly fields?: URLSearchParams
  readonly isHarmful?: boolean
}): Screen => ({
  title: options.title,
  body: html`
    <form method="post" action="${options.path}" class="card">
      ${confirmation(options.says)}
      ${[...(options.fields ?? [])].map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}" />`)}
      ${formId()}
      <button class="${options.isHarmful === true ? "danger" : ""}">${options.button}</button>
      <a class="button quiet" href="${options.back}">Cancel</a>
    </form>
  `
})

/** A field of a form, with its label and a sentence that explains it. */
export const field = (
  label: string,
  name: string,
  attributes: {
    readonly type?: string
    readonly value?: string | number
    readonly min?: number
    readonly max?: number
    readonly isOptional?: boolean
    readonly autocomplete?: string
  } = {},
  hint?: string
): Html => html`
  <label
    >${label}
    <input
      name="${name}"
      type="${attributes.type ?? "text"}"
      value="${attributes.value ?? ""}"
      ${attributes.type === "number" && html`min="${attributes.min ?? 0}" max="${attributes.max ?? 1_000_000}" step="1"`}
      ${attributes.autocomplete !== undefined && html`autocomplete="${attributes.autocomplete}"`}
      ${attributes.isOptional !== true && html`required`}
    />${hint !== undefined && html`<span class="hint">${hint}</span>`}</label
  >
`
