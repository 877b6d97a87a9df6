/** Tries a request at a gate, and says in words what happens to it. Nothing is changed by that. */
import { Effect } from "effect"
import type { GateTest } from "../../../api/admin/GateApi.ts"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { html, type Html } from "../../Html.ts"
import type { AdminApiClient } from "../../ApiClients.ts"
import { Form, problemsOf, type Sent } from "../form/Form.ts"
import { textIn } from "../form/Typed.ts"
import { testText, type Gate } from "./Words.ts"

/** What was tried, and what came of it. */
export interface Tried extends Sent {
  readonly result?: GateTest
}

/** What the request is: a page that a browser opens, or a call of a program. */
const kinds = [
  ["page", "A page that a browser opens"],
  ["program", "A call of a program"]
] as const

const methods = ["GET", "POST", "PUT", "DELETE", "HEAD"].map((method) => [method, method] as const)

/** Makes the function that tries the request of a form. */
export const makeTry = (api: AdminApiClient["Service"]) =>
  Effect.fnUntraced(function* (operator: Operator, id: string, fields: URLSearchParams) {
    const header = textIn(fields, "test.header")
    const cookie = textIn(fields, "test.cookie")
    const payload = {
      method: fields.get("test.method") ?? "GET",
      url: addressIn(fields),
      headers: {
        accept: fields.get("test.kind") === "program" ? "application/json" : "text/html",
        ...(cookie !== undefined && { cookie }),
        ...(header !== undefined && headerIn(header))
      }
    }
    return yield* api.run(operator, "gates", "testGate", { params: { id }, payload }).pipe(
      Effect.map((result): Tried => ({ fields, result })),
      Effect.catchIf(
        ({ status }) => status === 400,
        (refusal) => Effect.succeed<Tried>({ fields, problems: problemsOf(refusal, fieldAt) })
      )
    )
  })

/** An address without a scheme is meant as one of the web. */
const addressIn = (fields: URLSearchParams): string => {
  const text = textIn(fields, "test.url") ?? ""
  return text === "" || /^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `https://${text}`
}

/** `Name: value` */
const headerIn = (text: string): { readonly [name: string]: string } => {
  const colon = text.indexOf(":")
  return colon < 0 ? { [text]: "" } : { [text.slice(0, colon).trim()]: text.slice(colon + 1).trim() }
}

const fieldAt = ([setting = ""]: ReadonlyArray<string>): string =>
  setting === "headers" ? "test.header" : setting === "method" ? "test.method" : "test.url"

/** The form, with the answer to what was tried. */
export const testForm = ({ hosts, rules }: Gate, action: string, tried: Tried | undefined): Html => {
  const form = new Form(tried, "test-")
  const when = (rules.find(({ then }) => then !== "pass") ?? rules[0])?.when
  const example = `https://${hosts[0] ?? "shop.example"}${when?.pathPrefix ?? when?.path ?? "/"}`
  const { result } = tried ?? {}
  const fields = html`
    ${form.input("test.url", { label: "Address", value: example, hint: "With the query, if it has one." })}
    <div class="columns">
      ${form.select("test.method", { label: "Method", choices: methods })}
      ${form.select("test.kind", { label: "It is", choices: kinds })}
      ${form.input("test.header", { label: "A header", isOptional: true, placeholder: "x-monitoring: yes" })}
      ${form.input("test.cookie", {
        label: "Cookies",
        isOptional: true,
        placeholder: "name=value",
        hint: "As the browser sends them."
      })}
    </div>
  `
  return html`<section class="card" id="test">
    <h2>What happens to this address?</h2>
    ${result !== undefined && html`<p class="answer" role="status" tabindex="-1" autofocus>${testText(result)}</p>`}
    ${form.summary("Nothing was tried. This needs another look:")}
    <form method="post" action="${action}#test">${fields}<button class="quiet">Try it</button></form>
    <p class="hint">
      It is the decision of gates in the field, with the rules and queues of this moment. It changes nothing. Whether a
      grant in a cookie has ended early is not checked, and a crawler counts as not verified.
    </p>
  </section>`
}
