/** The tab Check of a drop: what looks wrong before it opens, each with the screen on which it is mended. */
import { Effect } from "effect"
import type { AdminAnswer } from "../../ApiClients.ts"
import { type Html, html } from "../../Html.ts"
import { badge, card, counted, linkButton } from "../Parts.ts"
import { stockIdOf } from "../stocks/Naming.ts"
import { stocksPath } from "../stocks/Words.ts"
import type { Drop } from "./Drop.ts"
import type { Tab, TabNeeds } from "./Tab.ts"

type Finding = AdminAnswer<"experiences", "checkExperience">["findings"][number]

/** The tab. */
export const make = ({ api }: TabNeeds): Tab => ({
  path: "/check",
  title: "Check",
  show: Effect.fnUntraced(function* (operator, drop) {
    const { findings } = yield* api.run(operator, "experiences", "checkExperience", {
      params: { id: drop.experience.id },
      query: {}
    })
    const found = findings.length === 0 ? nothingFound : card(titleOf(findings), listOf(drop, findings))
    return { body: html`${found} ${operator.tenant.mode === "live" && rehearseCard(drop)}` }
  })
})

const nothingFound = card(
  "Nothing looks wrong",
  html`<p class="muted">
    The dates, rates, units, stock, texts, pages and webhooks of this drop fit together. Whether they are those that you
    want, only you know: look at the room, and at the schedule, once more.
  </p>`
)

const rehearseCard = ({ path }: Drop): Html =>
  card(
    "See it before anybody else does",
    html`<p class="muted">
        The check reads settings. A rehearsal plays the whole drop with a crowd, on a copy, and shows who got what.
      </p>
      ${linkButton(`${path}/rehearse`, "Rehearse", "primary")}`
  )

const titleOf = (findings: ReadonlyArray<Finding>): string => {
  const errors = findings.filter(({ severity }) => severity === "error").length
  const warnings = findings.length - errors
  return [
    ...(errors > 0 ? [counted(errors, "error", "errors")] : []),
    ...(warnings > 0 ? [counted(warnings, "warning", "warnings")] : [])
  ].join(", ")
}

const listOf = (drop: Drop, findings: ReadonlyArray<Finding>): Html => html`
  <p class="muted">Errors keep the drop from working as it is set. Warnings are probably not what you meant.</p>
  <ul class="plain">
    ${findings.map((finding) => {
      const { message, severity } = finding
      const { href, text } = mendingOf(drop, finding)
      return html`<li>
        ${severity === "error" ? badge("Error", "bad") : badge("Warning", "warn")} <bdi>${message}</bdi>
        <a href="${href}">${text}</a>
      </li>`
    })}
  </ul>
`

interface Mending {
  readonly href: string
  readonly text: string
}

/** The screen on which the finding is mended. */
export const mendingOf = (
  { path, mechanisms }: Drop,
  { record, recordId, field }: Pick<Finding, "record" | "recordId" | "field">
): Mending => {
  const at = recordId === null ? "" : `/${recordId}`
  const schedule = { href: `${path}/schedule`, text: "Open Schedule" }
  switch (record) {
    case "experience":
      return field === "i18n" ? { href: `${path}/look`, text: "Open Look" } : schedule
    case "distribution": {
      const mechanism = mechanisms.find(({ id }) => id === recordId)
      const stockId = field === "stockId" && mechanism !== undefined ? stockIdOf(mechanism) : undefined
      return stockId === undefined ? schedule : { href: `${stocksPath}/${stockId}`, text: "Open the stock" }
    }
    case "sequence":
      return schedule
    case "product":
      return { href: `/dashboard/catalogue${at}`, text: "Open the product" }
    case "page":
      return { href: `/dashboard/pages${at}`, text: "Open the page" }
    case "webhook":
      return { href: `/dashboard/webhooks${at}`, text: recordId === null ? "Open Webhooks" : "Open the webhook" }
    case "organization":
      return { href: "/dashboard/organization", text: "Open Settings" }
  }
}
