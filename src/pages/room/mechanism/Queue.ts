/** A queue in a room. */
import type { AnswerOf } from "../../Calls.ts"
import { html, type Html } from "../../Html.ts"
import { closed, closing, deniedFor, ended, enter, type Piece, scheduled, turn } from "./Parts.ts"
import { form, heading, instant, phrase, say, sayCounted, type Scene } from "../Scene.ts"

export type QueueRecord = AnswerOf<"queues", "get">
type State = AnswerOf<"queues", "status">

/** Seconds of waiting that count as soon, where a page shows no position. */
const soonSeconds = 300

/** Shows the queue to a visitor; without a state to one that has no place. */
export const queuePiece = (scene: Scene, record: QueueRecord, state: State = { status: "NOT_QUEUED" }): Piece => ({
  status: state.status === "QUEUED" && state.position === undefined ? "LOBBY" : state.status,
  html: shown(scene, record, state),
  isLive: state.status === "QUEUED" || state.status === "GRANTED"
})

const shown = (scene: Scene, record: QueueRecord, state: State): Html => {
  switch (state.status) {
    case "NOT_QUEUED":
      return outside(scene, record)
    case "QUEUED":
      return state.position === undefined ? lobby(scene, record) : waiting(scene, record, state)
    case "GRANTED":
      return turn(scene, say(scene, "granted"), state, leave(scene, record, "giveUp"))
    case "COMPLETED":
      return ended(scene, { title: "completed", again: record.grantsPerConsumer !== null && again(scene, record) })
    case "DENIED":
      return ended(scene, {
        ...deniedFor(state.reason),
        again: state.reason === "ADMISSION_EXPIRED" && again(scene, record)
      })
    case "LEFT":
      return ended(scene, { title: "leftTitle", again: again(scene, record) })
  }
}

const isOpenAt = ({ lifecycle, lobbyOpenAt }: QueueRecord, now: number): boolean =>
  lifecycle === "open" || (lifecycle === "scheduled" && lobbyOpenAt !== null && lobbyOpenAt <= now)

const outside = (scene: Scene, record: QueueRecord): Html => {
  const { lifecycle, lobbyOpenAt, openAt } = record
  const hasLobby = lobbyOpenAt !== null && openAt !== null && lifecycle === "scheduled"
  const drawing = hasLobby && html`<p>${phrase(scene, "queueLobby", { time: instant(scene, openAt) })}</p>`
  if (isOpenAt(record, scene.now)) {
    return html`${heading(record.name)}
      <p>${rule(scene, record)}</p>
      ${drawing}${enter(scene, record, say(scene, "enterQueue"))}${closing(scene, record)}`
  }
  if (lifecycle === "scheduled") return html`${scheduled(scene, record, rule(scene, record))}${drawing}`
  return closed(scene, record)
}

const rule = (scene: Scene, { admitRate }: QueueRecord): string =>
  admitRate > 0 ? sayCounted(scene, "queueRate", admitRate) : say(scene, "queueByHand")

const leave = (scene: Scene, { id }: QueueRecord, key: "leave" | "giveUp"): Html =>
  form(scene, "leave", { at: id, label: say(scene, key), isQuiet: true, id: `leave-${id}` })

const again = (scene: Scene, record: QueueRecord) =>
  isOpenAt(record, scene.now) && enter(scene, record, say(scene, "again"))

const lobby = (scene: Scene, record: QueueRecord): Html =>
  html`${heading(say(scene, "lobby"))}${
      record.openAt !== null &&
      html`<p class="big">
          <time data-until datetime="${new Date(record.openAt).toISOString()}"
            >${scene.formats.short(record.openAt)}</time
          >
        </p>
        <p>${phrase(scene, "lobbyText", { time: instant(scene, record.openAt) })}</p>`
    }
    <p>${say(scene, "keep")}</p>
    ${leave(scene, record, "leave")}`

type Waiting = Extract<State, { readonly status: "QUEUED" }>

const waiting = (scene: Scene, record: QueueRecord, state: Waiting): Html => {
  const { position = 1, estimatedWaitTimeInSeconds: wait, positionDisplayMode } = state
  const { formats } = scene
  // Words in place of a number: the order may still change, because loyal consumers are preferred.
  if (positionDisplayMode === "qualitative") {
    const isSoon = wait !== undefined && wait <= soonSeconds
    return html`${heading(say(scene, "queued"))}
      <p class="lead" data-words>${say(scene, isSoon ? "soon" : "later")}</p>
      <p>${say(scene, "keep")}</p>
      ${leave(scene, record, "leave")}`
  }
  return html`${heading(say(scene, "queued"))}
    <p class="muted">${say(scene, "position")}</p>
    <p class="big" data-text="position" data-value="${position}" data-said="${scene.words.positionSaid}">
      ${formats.number(position)}
    </p>
    <progress aria-hidden="true" max="${position}" value="0"></progress>
    ${wait !== undefined && html`<p>${phrase(scene, "wait", { wait: html`<strong data-text="wait">${formats.duration(wait)}</strong>` })}</p>`}
    <p>${say(scene, "keep")}</p>
    ${leave(scene, record, "leave")}
    <p class="muted">${rule(scene, record)}</p>`
}
