/**
 * The acts of staff on a mechanism, each in its place: its fields, one reason, an optional note, how many people wait,
 * and a button with the number. What cannot be undone comes last.
 */
import { noteLengthMax } from "../../../api/admin/SteeringApi.ts"
import { type Html, html, type Inserted } from "../../Html.ts"
import { field } from "../Frame.ts"
import { formId } from "../FormId.ts"
import { count, counted } from "../Parts.ts"
import { emptyReasons, seenByText } from "../Reasons.ts"
import { countsOf, isPaused, type Mechanism } from "./Drop.ts"
import { canEndClosed } from "./Pointless.ts"
import { effectOfEnd, endWord } from "./Steering.ts"

/** An act in its place. */
interface Act {
  readonly action: string
  /** What it is, and the sign that opens it. */
  readonly title: Inserted
  readonly opens: string
  readonly button: string
  /** The button with `{n}` for the number of a field. */
  readonly numbered?: string
  readonly fields?: Inserted
  readonly says?: string
  readonly isHarmful?: boolean
}

/** The card with the acts that a mechanism allows now, as a part that the script replaces when its state is another one. */
export const steeringOf = (mechanism: Mechanism, path: string, isOne: boolean): Html => {
  const acts = actsOf(mechanism)
  const { id, name } = mechanism
  const part = html`data-part="steer-${id}" data-state="${stateOf(mechanism, acts)}"`
  if (acts.length === 0) return html`<div ${part} hidden></div>`
  return html`
    <section class="card steer" ${part}>
      <h2>Steer ${!isOne && html`<bdi>${name}</bdi>`}</h2>
      <p class="error" role="status" data-changed hidden>
        Somebody has changed this meanwhile. Close the form to see what can be done now.
      </p>
      ${acts.filter(({ isHarmful }) => isHarmful !== true).map((act) => actOf(mechanism, act, path))}
      ${seenBy(mechanism)}
      ${acts.filter(({ isHarmful }) => isHarmful === true).map((act) => actOf(mechanism, act, path))}
    </section>
  `
}

/** What the forms depend on, apart from counts, which change all the time and are parts of their own. */
const stateOf = (mechanism: Mechanism, acts: ReadonlyArray<Act>): string =>
  [
    ...acts.map(({ action }) => action),
    ...(mechanism.type === "queue" ? [mechanism.admitRate, mechanism.insideLimit ?? ""] : [])
  ].join(" ")

/** Who sees what staff do. */
const seenBy = ({ type }: Mechanism): Html => html`<p class="hint">${seenByText(type)}</p>`

const actsOf = (mechanism: Mechanism): ReadonlyArray<Act> => {
  const isParked = mechanism.live?.parked === true
  const isRunning = mechanism.lifecycle === "scheduled" || mechanism.lifecycle === "open"
  const canEnd = isRunning || canEndClosed(mechanism)
  return [
    ...(isParked ? [unpark] : []),
    ...(mechanism.type === "queue" && isRunning ? ofQueue(mechanism) : []),
    ...(mechanism.type === "draw" && mechanism.lifecycle === "open" ? [drawNow(mechanism)] : []),
    ...(mechanism.type === "auction" && mechanism.lifecycle === "open" ? [closeNow(mechanism)] : []),
    ...(canEnd ? [end(mechanism)] : [])
  ]
}

const unpark: Act = {
  action: "unpark",
  title: "Stopped after failures",
  opens: "Unpark…",
  button: "Unpark",
  says: "It starts again with everything it has recorded. If the cause remains, it is parked again within seconds."
}

const ofQueue = (queue: Extract<Mechanism, { readonly type: "queue" }>): ReadonlyArray<Act> => {
  const waiting = queue.live?.counts["QUEUED"] ?? 0
  const next = Math.max(1, Math.min(10, waiting))
  return [
    isPaused(queue)
      ? {
          action: "resume",
          title: "Paused",
          opens: "Resume…",
          button: `Resume at ${queue.admitRate}/min`,
          says: "Admissions that the pause omitted are not made up for."
        }
      : {
          action: "pause",
          title: "Pause admission",
          opens: "Pause…",
          button: "Pause",
          says: "Nobody is admitted by the rate from now on. Everybody keeps the place."
        },
    {
      action: "rate",
      title: html`Rate <small>${queue.admitRate}/min</small>`,
      opens: "Change…",
      button: "Set the rate",
      numbered: "Set to {n}/min",
      fields: field("Admissions per minute", "admitRate", { type: "number", value: queue.admitRate })
    },
    ...(queue.insideLimit === null ? [] : [inside(queue.insideLimit)]),
    {
      action: "admit",
      title: "Admit extra",
      opens: "Admit…",
      button: "Admit",
      numbered: "Admit {n}",
      fields: field("Consumers", "count", { type: "number", value: next, min: 1, max: 10_000 }),
      says: "They are the next in the line, in addition to the rate. This cannot be undone."
    }
  ]
}

const inside = (limit: number): Act => ({
  action: "inside",
  title: html`Inside at once <small>${count(limit)}</small>`,
  opens: "Change…",
  button: "Set the limit",
  numbered: "Let {n} be inside",
  fields: field("Visitors inside at once", "insideLimit", { type: "number", value: limit, min: 1, max: 100_000_000 }),
  says: "More are admitted at once. With fewer nobody has to leave: the next wait until enough have left."
})

const drawNow = (draw: Extract<Mechanism, { readonly type: "draw" }>): Act => {
  const entries = countsOf(draw).waiting
  return {
    action: "draw",
    title: "Draw before the time",
    opens: "Draw now…",
    button: `Draw ${Math.min(draw.winnerCount, entries)} of ${entries}`,
    says: "No more entries are taken. The winners are drawn by the draw that anyone can check."
  }
}

const closeNow = (auction: Extract<Mechanism, { readonly type: "auction" }>): Act => ({
  action: "close",
  title: "Close before the time",
  opens: "Close now…",
  button: `Close with ${counted(auction.live?.counts["WINNING"] ?? 0, "leading bid", "leading bids")}`,
  says: "No more bids are taken. The leading bids that reach the reserve win."
})

const end = (mechanism: Mechanism): Act => ({
  action: "end",
  title: "",
  opens: "End…",
  button: "End",
  says: effectOfEnd(mechanism),
  isHarmful: true,
  fields: html`<label
    >Type ${endWord} to confirm
    <input name="word" required autocomplete="off" autocapitalize="characters" spellcheck="false"
  /></label>`
})

/** The form of an act. Its text, its number of people and its button are parts, so they stay right while it is open. */
const actOf = (mechanism: Mechanism, act: Act, path: string): Html => {
  const { action, title, opens, button, numbered, fields, says, isHarmful = false } = act
  const { waiting } = countsOf(mechanism)
  const part = (name: string) => html`data-part="${name}-${action}-${mechanism.id}"`
  return html`
    <details class="act">
      <summary><span>${title}</span> <b class="button quiet ${isHarmful && "danger"}">${opens}</b></summary>
      <form method="post" action="${path}/${action}">
        ${says !== undefined && html`<p ${part("says")}>${says}</p>`}
        <input type="hidden" name="mechanism" value="${mechanism.id}" />
        ${fields} ${emptyReasons}
        <label
          >Note for colleagues <small>optional</small>
          <input name="note" maxlength="${noteLengthMax}" autocomplete="off"
        /></label>
        <p class="hint" ${part("waiting")}>${counted(waiting, "person is", "people are")} waiting now.</p>
        ${formId()}<button
          class="${isHarmful && "danger"}"
          ${numbered !== undefined && html`data-numbered="${numbered}"`}
        >
          <span ${part("button")}>${button}</span>
        </button>
      </form>
    </details>
  `
}
