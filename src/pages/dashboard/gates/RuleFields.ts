// oxlint-disable unicorn/no-thenable -- the rules of gates have this field
/**
 * The rules of a gate as fields of a form. Each rule has a number, by which its fields are named. Without a script,
 * buttons of the form add, move and remove rules; nothing is stored by them.
 */
import { html, type Html } from "../../Html.ts"
import type { Choice, Form } from "../form/Form.ts"
import { type Row as RowOf, type RowPlace, Rows } from "../form/Rows.ts"
import { textIn } from "../form/Typed.ts"
import type { NamedQueues } from "./Queues.ts"
import type { Rule } from "./Words.ts"

/** Rules that a form shows, as many as a gate may have. */
export const shownMax = 100

/** The value of a choice that sets nothing. */
const none = ""

const byGate: Choice = [none, "As the gate"]

/** The choices of a rule that protects, beside its conditions. Another setting of rules is a row here. */
const choices: ReadonlyArray<{
  readonly setting: "failMode" | "afterEnd"
  readonly label: string
  readonly hint: string
  readonly choices: ReadonlyArray<Choice>
}> = [
  {
    setting: "failMode",
    label: "Usher out of reach",
    hint: "What becomes of new visitors then. Those inside go on.",
    choices: [byGate, ["open", "Lets everybody pass"], ["closed", "Lets nobody new in"]]
  },
  {
    setting: "afterEnd",
    label: "Once its queue has ended",
    hint: "Also after its drop was archived.",
    choices: [
      [none, "Lets nobody new in"],
      ["pass", "Lets everybody pass"]
    ]
  }
]

/** The fields of one rule. */
const suffixes = [
  "name",
  "match",
  "path",
  "methods",
  "header",
  "headerValue",
  "cookie",
  "crawler",
  "then",
  ...choices.map(({ setting }) => setting)
] as const
type Suffix = (typeof suffixes)[number]

/** The conditions that few rules have. */
const rare: ReadonlyArray<Suffix> = ["methods", "header", "headerValue", "cookie", "crawler"]

type Row = RowOf<Suffix>

const ruleRows = new Rows({ name: "rule", all: "rules", suffixes, rowsMax: shownMax })

/** Writes the rules of a gate into the fields of its form. */
export const writeRules = (fields: URLSearchParams, rules: ReadonlyArray<Rule>): void =>
  ruleRows.write(
    fields,
    rules.map((rule) => ({
      ...rowOf(rule),
      ...Object.fromEntries(choices.map(({ setting }) => [setting, rule[setting] ?? none]))
    }))
  )

const rowOf = ({ name = "", when, then }: Rule): Row => ({
  name,
  match: when.path !== undefined ? "path" : when.pathPrefix === undefined ? "any" : "prefix",
  path: when.path ?? when.pathPrefix ?? "",
  methods: when.methods?.join(", ") ?? "",
  header: when.header?.name ?? "",
  headerValue: when.header?.value ?? "",
  cookie: when.cookie ?? "",
  crawler: when.crawler ?? "",
  then: then === "pass" ? then : then.queueId
})

/** Does what the buttons of the rules ask for. Returns the form after it; undefined if none was used. */
export const arranged = (sent: URLSearchParams): URLSearchParams | undefined =>
  ruleRows.arranged(sent, { match: "prefix" })

/** A rule of a form as the API takes it. */
interface TypedRule {
  readonly name?: string | undefined
  readonly when: { readonly [condition: string]: unknown }
  readonly then: unknown
  readonly [setting: string]: unknown
}

/** Returns the rules of a form, and what the page itself finds wrong. */
export const rulesIn = (fields: URLSearchParams) => {
  const problems = new Map<string, string>()
  const rules = Array.from({ length: ruleRows.countIn(fields) }, (_, index): TypedRule => {
    const text = (suffix: Suffix) => textIn(fields, ruleRows.fieldName(index, suffix))
    const match = fields.get(ruleRows.fieldName(index, "match")) ?? "any"
    if (match !== "any" && text("path") === undefined) {
      problems.set(ruleRows.fieldName(index, "path"), "Enter a path, such as /checkout.")
    }
    if (text("headerValue") !== undefined && text("header") === undefined) {
      problems.set(ruleRows.fieldName(index, "header"), "Enter the name of the header that has this value.")
    }
    const when = whenOf(match, text)
    const then = text("then")
    if (then === undefined) problems.set(ruleRows.fieldName(index, "then"), "Choose what happens.")
    if (then === "pass" && Object.values(when).every((condition) => condition === undefined)) {
      problems.set(ruleRows.fieldName(index, "match"), letsAllPass)
    }
    const name = text("name")
    const settings = Object.fromEntries(choices.map(({ setting }) => [setting, text(setting)]))
    return { ...(name !== undefined && { name }), when, then: then === "pass" ? then : { queueId: then }, ...settings }
  })
  return { rules, problems }
}

const letsAllPass =
  "This rule would let every request pass, and no rule below it would count. Give it a condition, such as a path, or remove it: " +
  "a request that no rule fits passes anyway."

const whenOf = (match: string, text: (suffix: Suffix) => string | undefined) => {
  const methods = text("methods")
    ?.toUpperCase()
    .split(/[\s,]+/)
    .filter((method) => method !== "")
  const [name, value] = [text("header"), text("headerValue")]
  return {
    path: match === "path" ? text("path") : undefined,
    pathPrefix: match === "prefix" ? text("path") : undefined,
    methods: methods?.length === 0 ? undefined : methods,
    header: name === undefined ? undefined : { name, ...(value !== undefined && { value }) },
    cookie: text("cookie"),
    crawler: text("crawler")
  }
}

/** Returns the field for the path of a value below `rules`. */
export const ruleFieldAt = ([index = "", setting, condition, inner]: ReadonlyArray<string>): string | undefined => {
  const at = (suffix: Suffix) => ruleRows.fieldName(Number(index), suffix)
  if (!/^\d+$/.test(index)) return undefined
  if (setting === undefined) return at("match")
  if (setting !== "when") return at(suffixes.find((suffix) => suffix === setting) ?? "match")
  if (condition === "header") return at(inner === "value" ? "headerValue" : "header")
  if (condition === "pathPrefix") return at("path")
  return at(suffixes.find((suffix) => suffix === condition) ?? "match")
}

/** The rules of a form with their buttons. `action` is the address of the form. */
export const ruleFields = (form: Form, fields: URLSearchParams, queues: NamedQueues, action: string): Html => {
  const count = ruleRows.countIn(fields)
  const names = [...queues].map(([id, { label }]): Choice => [id, label])
  return html`<section class="card" id="rules">
    <h2>Rules</h2>
    <p class="muted">The first rule that fits a request decides. A request that none fits passes.</p>
    ${ruleRows.countField(fields)}
    <ol class="rules">
      ${Array.from({ length: count }, (_, index) => oneRule(form, { index, count, fields, action }, names))}
    </ol>
    ${count === 0 && html`<p>No rule yet: everything passes. Add one for the pages that need a place in a queue.</p>`}
    ${ruleRows.addButton(fields, "Add a rule", action)}
  </section>`
}

interface RulePlace extends RowPlace {
  readonly fields: URLSearchParams
}

const oneRule = (form: Form, place: RulePlace, queues: ReadonlyArray<Choice>): Html => {
  const { index, fields } = place
  const name = (suffix: Suffix) => ruleRows.fieldName(index, suffix)
  const number = index + 1
  const first = queues.length === 0 ? "pass" : none
  const isOpen = rare.some((suffix) => textIn(fields, name(suffix)) !== undefined)
  return html`<li>
    <fieldset>
      <legend>Rule ${number}</legend>
      <div class="columns">
        ${form.select(name("match"), {
          label: `Rule ${number} is for`,
          value: "prefix",
          choices: [
            ["prefix", "Paths that begin with"],
            ["path", "One path"],
            ["any", "Every path"]
          ]
        })}
        ${form.input(name("path"), { label: `Path of rule ${number}`, isOptional: true, placeholder: "/checkout" })}
        ${form.select(name("then"), {
          label: `Rule ${number} asks for`,
          value: first,
          choices: [
            ...(queues.length === 0 ? [] : [[none, "Choose one"] as const]),
            ...queues.map(([id, label]) => [id, `A place in ${label}`] as const),
            ["pass", "Nothing: it lets pass"]
          ],
          ...(queues.length === 0 && { hint: "There is no queue yet. Make a drop with one first." })
        })}
        ${choices.map(({ setting, label, hint, choices: of }) =>
          form.select(name(setting), { label: `${label}, rule ${number}`, choices: of, hint })
        )}
      </div>
      <details ${isOpen && html`open`}>
        <summary>More conditions, and a name</summary>
        <div class="columns">${rareFields(form, name, number)}</div>
      </details>
      ${ruleRows.buttons(place)}
    </fieldset>
  </li>`
}

const rareFields = (form: Form, name: (suffix: Suffix) => string, number: number): ReadonlyArray<Html> => {
  const field = (suffix: Suffix, label: string, hint: string, placeholder = "") =>
    form.input(name(suffix), { label: `${label} of rule ${number}`, isOptional: true, hint, placeholder })
  return [
    field("methods", "Methods", "Separated by commas. Empty: all.", "GET, POST"),
    field("header", "Header", "A request must have it.", "x-monitoring"),
    field("headerValue", "Value of the header", "Empty: any value."),
    field("cookie", "Cookie", "A request must have one of this name."),
    field("crawler", "Crawler", "By the name that the site gives it once it has verified it.", "googlebot"),
    field("name", "Name", "For your team.")
  ]
}
