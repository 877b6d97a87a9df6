/** A queue in a room. */
import type { ConsumerAnswer } from "../../ApiClients.ts"
import { html, type Html } from "../../Html.ts"
import {
  closed,
  closing,
  deniedFor,
  ended,
  enter,
  type GrantLimit,
  orGrantLimit,
  type LiveFacts,
  scheduled,
  turn,
  wayOut
} from "./Parts.ts"
import type { RoomKind } from "./RoomKind.ts"
import { heading, nameHeading, instant, phrase, say, sayCounted, type Scene } from "../Scene.ts"

type QueueRecord = ConsumerAnswer<"queues", "get">
type State = ConsumerAnswer<"queues", "status">

/** A queue with what happens in it now. */
interface Queue {
  readonly kind: "queue"
  readonly record: QueueRecord
  readonly live?: LiveFacts | undefined
}

/** Seconds of waiting that count as soon, where a page shows no position. */
const soonSeconds = 300

export const queue: RoomKind<Queue, State> = {
  name: "queue",
  action: "enterQueue",
  status: "status",
  rule: (scene, record, live) => {
    const lotAt = lotAtOf(record)
    return lotAt === null
      ? rateText(scene, record, live)
      : say(scene, "queueLobby", { time: scene.formats.instant(lotAt) })
  },
  piece: (scene, queue, state = { status: "NOT_QUEUED" }) => ({
    status: state.status === "QUEUED" && state.position === undefined ? "LOBBY" : state.status,
    html: shown(scene, queue, state),
    isLive: state.status === "QUEUED" || state.status === "GRANTED"
  }),
  liveFact: ({ waiting }) => ["waitingNow", waiting],
  leaving: ({ status }) => (status === "QUEUED" ? ways.leave : status === "GRANTED" ? ways.giveUp : undefined),
  operations: { enter: () => ({ name: "enter" }), leave: () => ({ name: "leave" }) }
}

const shown = (scene: Scene, queue: Queue, state: State): Html => {
  const { record } = queue
  switch (state.status) {
    case "NOT_QUEUED":
      return outside(scene, queue)
    case "QUEUED":
      return state.position === undefined ? lobby(scene, record) : waiting(scene, queue, state)
    case "GRANTED":
      return turn(scene, say(scene, "granted"), state, { more: wayOut(scene, record.id, ways.giveUp) })
    case "COMPLETED":
      return ended(scene, { title: "completed", ...(record.grantsPerConsumer !== null && again(scene, queue, state)) })
    case "DENIED":
      return ended(scene, {
        ...deniedFor(state.reason),
        ...(state.reason === "ADMISSION_EXPIRED" && again(scene, queue, state))
      })
    case "LEFT":
      return ended(scene, { title: "leftTitle", ...again(scene, queue, state) })
  }
}

const isOpenAt = ({ lifecycle, lobbyOpenAt }: QueueRecord, now: number): boolean =>
  lifecycle === "open" || (lifecycle === "scheduled" && lobbyOpenAt !== null && lobbyOpenAt <= now)

const outside = (scene: Scene, queue: Queue): Html => {
  const { record } = queue
  const { lifecycle } = record
  const lotAt = lotAtOf(record)
  const rule = lotAt === null ? rate(scene, queue) : phrase(scene, "queueLobby", { time: instant(scene, lotAt) })
  if (isOpenAt(record, scene.now)) {
    return html`${nameHeading(record.name)}
      <p>${rule}</p>
      ${enter(scene, queue, say(scene, "enterQueue"))}${closing(scene, record)}`
  }
  if (lifecycle === "scheduled") return scheduled(scene, record, rule)
  return closed(scene, record)
}

/** When the places of a lobby are drawn; null without a lobby, and after the drawing. Until then there is no order. */
const lotAtOf = ({ lifecycle, lobbyOpenAt, openAt }: QueueRecord): number | null =>
  lobbyOpenAt !== null && lifecycle === "scheduled" ? openAt : null

/**
 * How many are admitted a minute now; nothing of a rate during a pause. In a queue with a lobby the first places were
 * drawn, so no order is told.
 */
const rateText = (scene: Scene, { lobbyOpenAt, ...record }: QueueRecord, live: LiveFacts | undefined): string => {
  if (live?.paused === true) return say(scene, "queuePaused")
  const admitRate = live?.admitRate ?? record.admitRate
  if (admitRate > 0) return sayCounted(scene, lobbyOpenAt === null ? "queueRate" : "queuePace", admitRate)
  return lobbyOpenAt === null ? say(scene, "queueByHand") : ""
}

/** The rate as it is now. It may change while visitors wait. */
const rate = (scene: Scene, { record, live }: Queue): Html =>
  html`<span data-fact="rate">${rateText(scene, record, live)}</span>`

const ways = {
  leave: { action: "leave", label: "leave", effect: "leaveText" },
  giveUp: { action: "leave", label: "giveUp", effect: "giveUpText" }
} as const

/** A script shows this where the browser has notifications. */
const notify = (scene: Scene): Html =>
  html`<p data-notified="${say(scene, "notified")}" hidden>
    <button type="button" class="quiet" id="notify">${say(scene, "notifyMe")}</button>
  </p>`

const again = (scene: Scene, queue: Queue, state: GrantLimit) =>
  isOpenAt(queue.record, scene.now) && orGrantLimit(state, () => enter(scene, queue, say(scene, "again")))

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
    ${notify(scene)}${wayOut(scene, record.id, ways.leave)}`

type Waiting = Extract<State, { readonly status: "QUEUED" }>

const waiting = (scene: Scene, queue: Queue, state: Waiting): Html => {
  const { record } = queue
  const { position = 1, estimatedWaitTimeInSeconds: wait, positionDisplayMode } = state
  const { formats } = scene
  // Words in place of a number: the order may still change, because loyal consumers are preferred.
  if (positionDisplayMode === "qualitative") {
    const words = { soon: say(scene, "soon"), later: say(scene, "later") }
    const now = wait !== undefined && wait <= soonSeconds ? words.soon : words.later
    return html`${heading(say(scene, "queued"))}
      <p class="lead" data-seconds="${soonSeconds}" data-soon="${words.soon}" data-later="${words.later}">${now}</p>
      <p>${say(scene, "keep")}</p>
      ${notify(scene)}${wayOut(scene, record.id, ways.leave)}`
  }
  return html`${heading(say(scene, "queued"))}
    <p class="muted">${say(scene, "position")}</p>
    <p class="big" data-text="position" data-value="${position}" data-said="${scene.words.positionSaid}">
      ${formats.number(position)}
    </p>
    <progress aria-hidden="true" max="${position}" value="0"></progress>
    <p ${wait === undefined && html` hidden`}>
      ${phrase(scene, "wait", { wait: html`<strong data-text="wait">${wait !== undefined && formats.duration(wait)}</strong>` })}
    </p>
    <p>${say(scene, "keep")}</p>
    ${notify(scene)}
    <p class="muted">${rate(scene, queue)}</p>
    ${checking(scene, queue, state)}${wayOut(scene, record.id, ways.leave)}`
}

/** Only queues with public facts have a line that visitors can check. Their places have tickets. */
const checking = (scene: Scene, { record, live }: Queue, { ticket }: Waiting): Html | false =>
  live !== undefined &&
  ticket !== undefined &&
  html`<p><a href="${scene.path("line", { at: record.id })}">${say(scene, "line")}</a></p>`
