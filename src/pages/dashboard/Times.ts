/** Instants and values as the dashboard writes them. */
import { type Millis, toText } from "../../domain/values/Time.ts"
import { type Html, html } from "../Html.ts"

const format = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" })

/** An instant in UTC. The script of the dashboard shows it in the operator's own time zone. */
export const instant = (at: Millis | null | undefined): Html =>
  typeof at === "number" && Number.isFinite(at)
    ? html`<time datetime="${toText(at)}">${format.format(at)} UTC</time>`
    : html`–`

/** A value of a recorded event or an audited field. */
export const written = (value: unknown): string => (typeof value === "string" ? value : (JSON.stringify(value) ?? "–"))
