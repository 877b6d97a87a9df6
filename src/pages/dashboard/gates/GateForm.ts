/** The form of a gate: its name, hosts and rules, and what happens while Usher is out of reach. */
import { defaults } from "../../../domain/gate/Gate.ts"
import { html, type Html } from "../../Html.ts"
import type { Refusal } from "../../Refusal.ts"
import { Form, problemsOf, type Problems, type Sent } from "../form/Form.ts"
import { textIn } from "../form/Typed.ts"
import { formId } from "../FormId.ts"
import type { Screen } from "../Frame.ts"
import type { NamedQueues } from "./Queues.ts"
import { ruleFieldAt, ruleFields, rulesIn, writeRules } from "./RuleFields.ts"
import type { Gate } from "./Words.ts"

/** The fields of a new gate: one rule to begin with. */
export const newFields = (): URLSearchParams => {
  const fields = new URLSearchParams({ failMode: defaults.failMode, returnPath: defaults.returnPath })
  fields.set("rules", "1")
  return fields
}

/** The fields of a gate as it is. */
export const fieldsOf = ({ name, hosts, failMode, cookie, returnPath, rules }: Gate): URLSearchParams => {
  const fields = new URLSearchParams({
    name,
    hosts: hosts.join("\n"),
    failMode,
    returnPath,
    "cookie.name": cookie.name ?? "",
    "cookie.domain": cookie.domain ?? "",
    "cookie.path": cookie.path ?? ""
  })
  writeRules(fields, rules)
  return fields
}

/** Returns the settings of a form, and what the page itself finds wrong. */
export const settingsIn = (fields: URLSearchParams) => {
  const { rules, problems: wrong } = rulesIn(fields)
  const cookie = Object.fromEntries(
    (["name", "domain", "path"] as const).flatMap((setting) => {
      const text = textIn(fields, `cookie.${setting}`)
      return text === undefined ? [] : [[setting, text]]
    })
  )
  const settings = {
    name: textIn(fields, "name") ?? "",
    hosts: hostsIn(fields),
    rules,
    failMode: fields.get("failMode") ?? defaults.failMode,
    cookie,
    returnPath: textIn(fields, "returnPath") ?? defaults.returnPath
  }
  const isNeeded = "This is needed."
  const problems = new Map([
    ...(settings.name === "" ? [["name", isNeeded] as const] : []),
    ...(settings.hosts.length === 0 ? [["hosts", isNeeded] as const] : []),
    ...wrong
  ])
  return { settings, problems }
}

/** The hosts, also of addresses that were copied from a browser. */
const hostsIn = (fields: URLSearchParams): ReadonlyArray<string> =>
  (fields.get("hosts") ?? "")
    .split(/[\s,]+/)
    .filter((text) => text !== "")
    .map((text) => text.replace(/^https?:\/\//i, "").split("/", 1)[0]!)

/** Returns the problems of a refusal at the fields of the form. A host that is wrong is named. */
export const problemsIn = (refusal: Pick<Refusal, "wrong" | "detail">, fields: URLSearchParams): Problems => {
  const hosts = hostsIn(fields)
  const wrong = refusal.wrong?.map(({ path, sentence }) => {
    const host = path[0] === "hosts" ? hosts[Number(path[1])] : undefined
    return { path, sentence: host === undefined ? sentence : `${host}: ${sentence}` }
  })
  return problemsOf({ ...refusal, ...(wrong !== undefined && { wrong }) }, fieldAt)
}

const fieldAt = ([setting = "", ...below]: ReadonlyArray<string>): string | undefined => {
  if (setting === "rules") return ruleFieldAt(below) ?? "rules"
  if (setting === "cookie") return `cookie.${below[0] ?? "domain"}`
  return setting
}

interface Options {
  readonly title: string
  /** The address of the form, and the one to which "Cancel" leads. */
  readonly action: string
  readonly back: string
  readonly button: string
  readonly queues: NamedQueues
}

/** The screen with the form. It shows what was typed. */
export const formScreen = ({ title, action, back, button, queues }: Options, { fields, problems }: Sent): Screen => {
  const form = new Form({ fields, ...(problems !== undefined && { problems }) })
  const parts = html`${siteFields(form)} ${ruleFields(form, fields, queues, action)} ${fieldsForRest(form)}`
  return {
    title,
    status: problems === undefined ? 200 : 400,
    body: html`
      ${form.summary("Nothing was saved yet. This needs another look:")}
      <form method="post" action="${action}" class="drop">
        ${formId()}
        <!-- Enter in a field saves the gate, and does not move rules. -->
        <button class="unseen" tabindex="-1" aria-hidden="true">${button}</button>
        ${parts}
        <button>${button}</button>
        <a class="button quiet" href="${back}">Cancel</a>
      </form>
    `
  }
}

const siteFields = (form: Form): Html =>
  html`<section class="card">
    <h2>The site</h2>
    ${form.input("name", { label: "Name", hint: "For your team." })}
    ${form.area("hosts", {
      label: "Hosts",
      rows: 3,
      isOptional: false,
      placeholder: "shop.example",
      hint: "One in each line, without a port. Visitors come back from the room to these alone."
    })}
    ${form.select("failMode", {
      label: "While Usher is out of reach",
      choices: [
        ["closed", "Lets nobody new in"],
        ["open", "Lets everybody pass"]
      ],
      hint: "New visitors then see a page that tries again by itself. Those inside go on in both cases. A rule can say otherwise."
    })}
  </section>`

const fieldsForRest = (form: Form): Html =>
  html`<section class="card">
    <h2>The way back</h2>
    <p class="muted">
      The room leads visitors back to this path of your site, where the gate sets its cookie. Most sites need no other
      values.
    </p>
    <div class="columns">
      ${form.input("returnPath", { label: "Return path", hint: "Your site must not use it." })}
      ${form.input("cookie.name", { label: "Name of the cookie", isOptional: true, hint: "Empty: one for each drop." })}
      ${form.input("cookie.domain", {
        label: "Domain of the cookie",
        isOptional: true,
        placeholder: "shop.example",
        hint: "For hosts that share visitors. Empty: each host for itself."
      })}
      ${form.input("cookie.path", { label: "Path of the cookie", isOptional: true, placeholder: "/", hint: "Empty: the whole site." })}
    </div>
  </section>`
