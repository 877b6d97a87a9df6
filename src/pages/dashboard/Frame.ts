/** The shared parts of all screens of the dashboard: the document around them, and the parts of forms. */
import { isolated } from "../../domain/values/Direction.ts"
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import type { Operator } from "../../auth/operators/OperatorSessions.ts"
import type { Mode } from "../../domain/values/Ids.ts"
import type { TestClock } from "../../domain/organization/TestClock.ts"
import { type Millis, toText } from "../../domain/values/Time.ts"
import { TestClocks } from "../../store/testClock/TestClocks.ts"
import * as Answer from "../Answer.ts"
import type { Assets } from "../Assets.ts"
import { type Html, html, type Inserted, script, style } from "../Html.ts"
import { headersOf } from "../Security.ts"
import { formId } from "./FormId.ts"
import { groups, isIn } from "./Sections.ts"

/** A screen. */
export interface Screen {
  readonly title: string
  readonly body: Html
  /** Beside the title: its state, and links to other screens. */
  readonly badge?: Html
  readonly links?: Inserted
  /** Below the title: facts, and tabs. */
  readonly below?: Html
  readonly status?: number
  /** Seconds after which a request may succeed. */
  readonly retryAfterSeconds?: number
  /** Styles of a frame in it, which has the policy of the screen. */
  readonly styles?: ReadonlyArray<string>
  /** True if it frames a preview at an address of the dashboard. */
  readonly framesPreview?: boolean
}

/** Makes the function that answers with a screen. Without an operator it has no navigation. */
export const makeFrame = (assets: Assets["Service"]) =>
  Effect.fnUntraced(function* (
    { title, body, badge, links, below, status = 200, styles = [], framesPreview = false, retryAfterSeconds }: Screen,
    operator?: Operator
  ) {
    const css = yield* assets.text("dashboard.css")
    const text = yield* assets.text("dashboard.ts")
    const isTest = operator?.tenant.mode === "test"
    const { url } = yield* HttpServerRequest.HttpServerRequest
    const clock = operator === undefined ? undefined : (yield* TestClocks).of(operator.tenant)
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
        <body class="${isTest ? "test" : operator === undefined ? "alone" : "live"}">
          <a class="skip" href="#main">Skip to content</a>
          ${operator !== undefined && rail(operator, url)}
          <main id="main" tabindex="-1">
            ${clock !== undefined && clockNote(clock)}
            <div class="top">
              <h1 dir="auto">${title}</h1>
              ${badge} ${links !== undefined && html`<div class="links">${links}</div>`}
            </div>
            ${below} ${body}
          </main>
          ${text !== "" && script(text)}
        </body>
      </html>`
    const headers = {
      ...headersOf({ scripts: text === "" ? [] : [text], styles: [css, ...styles], formOrigins: [], framesPreview }),
      ...(retryAfterSeconds !== undefined && { "retry-after": `${retryAfterSeconds}` })
    }
    return yield* Answer.ofVisitor(page.text, status, headers)
  })

/** Says that test mode has a clock of its own, and what it shows. */
const clockNote = (clock: TestClock): Html => {
  const inWords = (at: Millis) => `${toText(at).slice(0, 19).replace("T", " ")} UTC`
  const { frozenAt, advance, problem } = clock
  return html`<p class="clock" role="note">
    Test mode has a test clock. It shows <time datetime="${toText(frozenAt)}">${inWords(frozenAt)}</time>.
    ${problem !== undefined && html`Its advance has failed: ${problem}`}
    ${problem === undefined && advance !== undefined && html`It goes on to ${inWords(advance.to)}.`}
  </p>`
}

const rail = ({ organizationName, tenant, role, personId, otherMode }: Operator, url: string): Html => {
  const path = url.split("?", 1)[0]!
  return html`
    <header class="rail">
      <strong dir="auto">${organizationName}</strong>
      <form action="/dashboard/search" role="search" aria-label="Everything" class="find">
        <input
          name="search"
          type="search"
          aria-label="Search everything"
          placeholder="Search (/)"
          value="${path === "/dashboard/search" && new URLSearchParams(url.split("?")[1]).get("search")}"
          minlength="2"
          maxlength="200"
          required
        />
      </form>
      <nav aria-label="Dashboard">
        ${groups.map(
          ({ title, sections }) => html`
            ${title !== undefined && html`<small>${title}</small>`}
            ${sections.map(
              (section) =>
                html`<a href="${section.path}" ${isIn(section, path) && html`aria-current="page"`}
                  >${section.title}</a
                > `
            )}
          `
        )}
      </nav>
      <nav aria-label="Account">
        ${modeSwitch(tenant.mode, otherMode)}
        <span class="muted">${role}</span>
        ${
          personId !== undefined &&
          html`<a href="/dashboard/switch" ${path === "/dashboard/switch" && html`aria-current="page"`}
            >Switch organization</a
          >`
        }
        <form method="post" action="/dashboard/sign-out"><button class="plain">Sign out</button></form>
      </nav>
    </header>
  `
}

const modeNames = { live: "Live", test: "Test mode" } as const

/** The mode, and the way to the other one for those who are invited to both. The others sign in with the other key. */
const modeSwitch = (mode: Mode, other: string | undefined): Html =>
  other === undefined
    ? html`<span class="mode">${modeNames[mode]}</span>`
    : html`<form method="post" action="/dashboard/switch" class="modes">
        <span class="mode" aria-current="true">${modeNames[mode]}</span>
        <input type="hidden" name="person" value="${other}" />${formId()}<button>
          ${mode === "live" ? modeNames.test : modeNames.live}
        </button>
      </form>`

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
