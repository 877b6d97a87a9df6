/**
 * The control room of an experience: the state of each of its mechanisms, and the forms that steer them. The figures
 * are a part of their own, which the script fetches every second. Without a script the page shows the figures of its
 * time.
 */
import { Effect } from "effect"
import type { Operator } from "../../auth/operators/OperatorSessions.ts"
import { endableClosedKinds, kindNames } from "../../domain/mechanism/Mechanism.ts"
import { mayDo } from "../../domain/organization/Person.ts"
import { StaffReason } from "../../domain/mechanism/Author.ts"
import type { Standing } from "../../domain/mechanism/Declaration.ts"
import { standingOf } from "../../domain/mechanism/PlaceFields.ts"
import { type Html, html } from "../Html.ts"
import { type Look, lookOf } from "../Theme.ts"
import type { AdminAnswer, AdminApiClient } from "../ApiClients.ts"
import { doneNote, field, type Screen } from "./Frame.ts"
import { makeShopNote } from "./screens/Organization.ts"
import { instant } from "./Table.ts"

export type Mechanism = AdminAnswer<"distributions", "getDistribution">

/** Mechanisms that one control room shows. */
const mechanismsMax = 50

/** Makes the functions that read an experience and write its control room. */
export const make = (api: AdminApiClient["Service"], roomUrl: (experienceId: string) => string) => {
  const mechanismsOf = Effect.fnUntraced(function* (operator: Operator, experienceId: string) {
    const { data } = yield* api.run(operator, "distributions", "listDistributions", {
      query: { experienceId, first: `${mechanismsMax}` }
    })
    // A list has no figures of mechanisms on another node.
    const figured = (listed: Mechanism) =>
      api.run(operator, "distributions", "getDistribution", { params: { id: listed.id } }).pipe(
        // One that starts again after a failure must not take the others from the screen.
        Effect.catchIf(
          ({ status }) => status === 503,
          () => Effect.succeed({ ...listed, live: null })
        )
      )
    return yield* Effect.forEach(data, figured, { concurrency: 8 })
  })

  const shopNoteFor = makeShopNote(api)

  return {
    /** The figures alone. */
    figures: (operator: Operator, experienceId: string) =>
      Effect.map(mechanismsOf(operator, experienceId), (found) => html`${found.map(figuresOf)}`),
    /** The page. `resultOf` states the result of an action that has led here. */
    screen: Effect.fnUntraced(function* (
      operator: Operator,
      experienceId: string,
      resultOf: (mechanisms: ReadonlyArray<Mechanism>) => string | undefined
    ) {
      const experience = yield* api.run(operator, "experiences", "getExperience", { params: { id: experienceId } })
      const mechanisms = yield* mechanismsOf(operator, experienceId)
      const shopNote = yield* shopNoteFor(operator)
      const path = `/dashboard/experiences/${experienceId}`
      const screen: Screen = {
        title: experience.name,
        body: html`
          ${doneNote(resultOf(mechanisms))} ${themeNote(lookOf(experience.theme))}
          <p><a href="${roomUrl(experienceId)}" target="_blank" rel="noopener">Open the room that consumers see</a></p>
          ${shopNote}
          <div data-live="${path}/figures" aria-label="Figures">${mechanisms.map(figuresOf)}</div>
          <section class="chart" data-chart hidden>
            <h2>The last ten minutes</h2>
            <svg viewBox="0 0 600 160" role="img" aria-label="Waiting, entries and grants per minute"></svg>
            <p class="legend">
              <span class="waiting">Waiting</span> <span class="entries">Entries per minute</span>
              <span class="grants">Grants per minute</span>
            </p>
            <details>
              <summary>The last two minutes as a table</summary>
              <div class="scroll"><table></table></div>
            </details>
          </section>
          ${mayDo(operator.role, "operator") && mechanisms.map((mechanism) => steeringOf(mechanism, path))}
          <p><a href="/dashboard/analytics?experience=${experienceId}">Analytics of this experience</a></p>
        `
      }
      return screen
    })
  }
}

/** The values of the theme that the room does not use. */
const themeNote = ({ replaced, hidden }: Look): Html =>
  html`${
    replaced.length > 0 &&
    html`<p class="error">
      The room replaces these values of the theme, which are invalid or leave text hard to read: ${replaced.join(", ")}
    </p>`
  }${
    hidden.length > 0 &&
    html`<p class="error">
      The room does not show these pictures of the theme, because only https addresses are safe: ${hidden.join(", ")}
    </p>`
  }`

/** The columns of the figures. A consumer that is there counts as completed. */
const columnOf = {
  waiting: "waiting",
  admitted: "admitted",
  present: "completed",
  completed: "completed",
  gone: "gone"
} as const
type Column = (typeof columnOf)[Standing]

/** Returns how many consumers a mechanism has in each column. */
export const countsOf = ({ type, live }: Pick<Mechanism, "type" | "live">): { readonly [C in Column]: number } => {
  const counts = { waiting: 0, admitted: 0, completed: 0, gone: 0 }
  for (const [status, count] of Object.entries(live?.counts ?? {})) {
    counts[columnOf[standingOf(type, status) ?? "gone"]] += count
  }
  return counts
}

const figuresOf = (mechanism: Mechanism): Html => {
  const { id, name, type, lifecycle, live } = mechanism
  const counts = countsOf(mechanism)
  const isPaused = mechanism.type === "queue" && mechanism.pausedAt !== null
  const figure = (label: string, value: number, series?: string) => html`
    <div>
      <dt>${label}</dt>
      <dd ${series !== undefined && html`data-series="${series}"`}>${value}</dd>
    </div>
  `
  return html`
    <section class="card" data-mechanism="${id}">
      <h2><bdi>${name}</bdi> <small>${kindNames[type]}</small></h2>
      <p>
        <span class="badge ${lifecycle}">${lifecycle}</span>
        <a href="/dashboard/mechanisms/${id}/history">History</a>
        ${isPaused && html`<span class="badge paused">paused</span>`}
        ${live?.parked === true && html`<span class="badge parked">parked: it failed too often</span>`}
        ${live === null && html`<span class="badge parked">not responding</span>`} opens ${instant(mechanism.openAt)},
        closes ${instant(mechanism.closeAt)}
      </p>
      <dl class="figures">
        ${figure("Waiting", counts.waiting, "waiting")} ${figure("Admitted", counts.admitted)}
        ${figure("Completed", counts.completed)} ${figure("Gone", counts.gone)}
        ${figure("Entries per minute", live?.entriesPerMinute ?? 0, "entries")}
        ${figure("Grants per minute", live?.grantsPerMinute ?? 0, "grants")}
        ${mechanism.type === "queue" && !isPaused && figure("Rate per minute", mechanism.admitRate)}
      </dl>
    </section>
  `
}

const reasonNames: { readonly [R in StaffReason]: string } = {
  TECHNICAL_PROBLEM: "A technical problem",
  HIGH_LOAD: "High load",
  STOCK_CHANGED: "The stock changed",
  SUSPECTED_ABUSE: "Suspected abuse",
  CUSTOMER_CARE: "Customer care",
  SCHEDULE_CHANGED: "The schedule changed",
  OTHER: "Another reason"
}

/** The choice of a reason. */
export const reasons = html`<label
  >Reason
  <select name="reason">
    ${StaffReason.literals.map((reason) => html`<option value="${reason}">${reasonNames[reason]}</option>`)}
  </select></label
>`

/** True if the mechanism has closed, and an end would still deny those who wait for its outcome. */
const canEndClosed = (mechanism: Mechanism): boolean => {
  const { type, lifecycle, statusOverride } = mechanism
  const isOfKind = endableClosedKinds.includes(type)
  return isOfKind && lifecycle === "settling" && statusOverride === null && countsOf(mechanism).waiting > 0
}

/** The forms of a mechanism. Each leads to a screen that says how many consumers the action affects. */
const steeringOf = (mechanism: Mechanism, path: string): Html | false => {
  const isParked = mechanism.live?.parked === true
  const isRunning = mechanism.lifecycle === "scheduled" || mechanism.lifecycle === "open"
  const canEnd = isRunning || canEndClosed(mechanism)
  if (!canEnd && !isParked) return false
  const form = (action: string, label: string, more: Html | false, style = "") => html`
    <form method="post" action="${path}/${action}">
      <input type="hidden" name="mechanism" value="${mechanism.id}" />
      ${more} ${action !== "draw" && reasons}
      <button class="${style}">${label}</button>
    </form>
  `
  const isPaused = mechanism.type === "queue" && mechanism.pausedAt !== null
  return html`
    <section class="card">
      <h2>Actions for <bdi>${mechanism.name}</bdi></h2>
      <div class="forms">
        ${isParked && form("unpark", "Unpark…", false)}
        ${
          mechanism.type === "queue" &&
          isRunning &&
          html`
            ${form("admit", "Admit the next…", field("Consumers", "count", { type: "number", value: 10, min: 1, max: 10_000 }))}
            ${form(
              "rate",
              "Change the rate…",
              field("Admissions per minute", "admitRate", { type: "number", value: mechanism.admitRate })
            )}
            ${isPaused ? form("resume", "Resume…", false) : form("pause", "Pause…", false)}
          `
        }
        ${mechanism.type === "draw" && mechanism.lifecycle === "open" && form("draw", "Draw now…", false)}
        ${canEnd && form("end", "End…", false, "danger")}
      </div>
    </section>
  `
}
