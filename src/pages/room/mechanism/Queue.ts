/** A queue in a room. */
import type { ConsumerAnswer } from "../../ApiClients.ts"
import { html, type Html } from "../../Html.ts"
import type { PlainKey } from "../../Words.ts"
import {
  closed,
  closing,
  deniedFor,
  ended,
  enter,
  type GrantLimit,
  orGrantLimit,
  type LiveFacts,
  sampleGrant,
  scheduled,
  stepsOfTurn,
  turn,
  wayOut
} from "./Parts.ts"
import type { RoomKind } from "./RoomKind.ts"
import {
  assured,
  heading,
  nameHeading,
  instant,
  phrase,
  say,
  sayCounted,
  type Scene,
  showsUnitsLeft
} from "../Scene.ts"

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
  liveFact: (live) => (isSoldOut(live) ? undefined : ["waitingNow", live.waiting]),
  steps,
  samples: (now) => [
    [
      "Waiting",
      {
        status: "QUEUED",
        position: 128,
        enteredAt: now,
        estimatedWaitTimeInSeconds: 540,
        positionDisplayMode: "precise"
      }
    ],
    ["At the turn", { status: "GRANTED", enteredAt: now, grantedAt: now, ...sampleGrant(now) }],
    ["Bought", { status: "COMPLETED", enteredAt: now, completedAt: now }],
    ["Turn lapsed", { status: "DENIED", enteredAt: now, deniedAt: now, reason: "ADMISSION_EXPIRED" }]
  ],
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
      return turn(scene, say(scene, "granted"), state, {
        more: html`${scene.visitor !== "authenticated" && elsewhere(scene, "anotherDevice")}${wayOut(scene, record.id, ways.giveUp)}`
      })
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

function steps(scene: Scene, { record, live }: Queue, { status, ...state }: State = { status: "NOT_QUEUED" }) {
  if (status === "GRANTED") return stepsOfTurn(scene, record)
  if (isSoldOut(live)) return []
  const mayEnter = status === "NOT_QUEUED" && record.lifecycle !== "closed" && record.lifecycle !== "settling"
  if (!mayEnter && status !== "QUEUED") return []
  const { admissionExpirationSeconds: seconds } = record
  const turn =
    seconds === null ? say(scene, "nextTurnOpen") : say(scene, "nextTurn", { wait: scene.formats.duration(seconds) })
  const isDrawn = status === "QUEUED" ? !("position" in state) : lotAtOf(record) !== null
  const rest = [turn, say(scene, "nextPay")]
  if (isDrawn) return [say(scene, "nextLot"), ...rest]
  return seconds === null ? rest : [...rest, say(scene, "nextPass")]
}

const isOpenAt = ({ lifecycle, lobbyOpenAt }: QueueRecord, now: number): boolean =>
  lifecycle === "open" || (lifecycle === "scheduled" && lobbyOpenAt !== null && lobbyOpenAt <= now)

const outside = (scene: Scene, queue: Queue): Html => {
  const { record } = queue
  const { lifecycle } = record
  const lotAt = lotAtOf(record)
  const rule = lotAt === null ? rate(scene, queue) : phrase(scene, "queueLobby", { time: instant(scene, lotAt) })
  if (isOpenAt(record, scene.now)) {
    return html`${nameHeading(record.name)} ${!isSoldOut(queue.live) && html`<p>${rule}</p>`}
    ${entering(scene, queue, "enterQueue")}${closing(scene, record)}`
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
  if (isSoldOut(live)) return say(scene, "soldOut")
  if (live?.soldOut?.mayReturn === true) return say(scene, "soldOutForNow")
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

/**
 * How the visitor learns of its turn without the page: by a notification of this browser, which a script shows where there
 * are any; else with the account, on another device or by message.
 */
const told = (scene: Scene): Html =>
  html`<p class="main" data-notified="${say(scene, "notified")}" hidden>
      <button type="button" id="notify">${say(scene, "notifyMe")}</button>
    </p>
    ${scene.visitor !== "authenticated" ? elsewhere(scene) : scene.sendsTurns && assured(say(scene, "turnTold"))}`

/** The way to have the place on another device, and messages. */
const elsewhere = (scene: Scene, label: PlainKey = scene.sendsTurns ? "messageMe" : "anotherDevice"): Html =>
  html`<p>
    <a class="button quiet" href="${scene.path("place", { show: "sign-in" })}">${say(scene, label)}</a>
  </p>`

const again = (scene: Scene, queue: Queue, state: GrantLimit) =>
  isOpenAt(queue.record, scene.now) && orGrantLimit(state, () => entering(scene, queue, "again"))

const entering = (scene: Scene, queue: Queue, key: "enterQueue" | "again"): Html =>
  enter(scene, queue, say(scene, key), undefined, isSoldOut(queue.live) ? "soldOut" : "full")

/** Whether each unit of a queue has been given away, and none may come. Those who wait get what others give up. */
const isSoldOut = (live: LiveFacts | undefined): boolean => live?.unitsLeft === 0 && live.soldOut?.mayReturn !== true

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
  ${assured(say(scene, "keep"))}${told(scene)}${wayOut(scene, record.id, ways.leave)}`

type Waiting = Extract<State, { readonly status: "QUEUED" }> & {
  /** The position at the beginning. The API does not send it. */
  readonly joined?: number
}

const waiting = (scene: Scene, { record, live }: Queue, state: Waiting): Html => {
  // The facts of all may be some seconds older than the place.
  const queue: Queue = { kind: "queue", record, live: live && { ...live, soldOut: state.soldOut ?? null } }
  const { position = 1, estimatedWaitTimeInSeconds: wait, positionDisplayMode } = state
  const { formats } = scene
  // Words in place of a number: the order may still change, because loyal consumers are preferred.
  if (positionDisplayMode === "qualitative") {
    const words = { soon: say(scene, "soon"), later: say(scene, "later") }
    const now = wait !== undefined && wait <= soonSeconds ? words.soon : words.later
    return html`${heading(say(scene, "queued"))}
      <p class="lead" data-seconds="${soonSeconds}" data-soon="${words.soon}" data-later="${words.later}">${now}</p>
      ${assured(say(scene, "keep"))}${told(scene)}${wayOut(scene, record.id, ways.leave)}`
  }
  return html`${heading(say(scene, "queued"))}
    <p class="unseen">${say(scene, "position")}</p>
    <p class="number" data-text="position" data-value="${position}" data-said="${scene.words.positionSaid}">
      ${formats.number(position)}
    </p>
    ${ahead(scene, position)}${state.joined !== undefined && way(scene, state.joined, position)}${time(scene, wait)}
    <p class="muted">${rate(scene, queue)} ${left(scene, queue)}</p>
    ${assured(say(scene, "keep"))}${told(scene)}${checking(scene, queue, state)}${wayOut(scene, record.id, ways.leave)}`
}

/** The people ahead. A script writes it again, in the forms of the language. */
const ahead = (scene: Scene, position: number): Html =>
  html`<p
    class="muted"
    data-text="ahead"
    data-none="${say(scene, "aheadNone")}"
    data-forms="${JSON.stringify(scene.words.ahead)}"
  >
    ${position === 1 ? say(scene, "aheadNone") : sayCounted(scene, "ahead", position - 1)}
  </p>`

/** The way from where the visitor joined to its turn, with a dot where it is. */
const way = (scene: Scene, joined: number, position: number): Html => {
  const done = `${wayDone(joined, position)}%`
  return html`<svg class="way" aria-hidden="true" width="100%" height="16" data-joined="${joined}">
      <line x2="100%" y1="8" y2="8" />
      <line x2="${done}" y1="8" y2="8" />
      <circle cx="${done}" cy="8" r="7" />
    </svg>
    <p class="ends muted">
      <span>${say(scene, "joinedAt", { position: scene.formats.number(joined) })}</span
      ><span>${say(scene, "yourTurn")}</span>
    </p>`
}

/** The part of the way, in hundredths. */
const wayDone = (joined: number, position: number): number =>
  Math.round((100 * Math.max(0, joined - position)) / joined)

/** When the turn comes: about when, and between when and when; else the one number that the API has too. */
const time = (scene: Scene, wait: number | undefined): Html => {
  const { formats, waitRange, now } = scene
  const { earliest, latest } = waitRange ?? { earliest: now, latest: now }
  const isKnown = waitRange !== undefined
  return html`<p
      class="lead"
      data-range
      data-zone="${formats.timeZone}"
      data-about="${scene.words.about}"
      ${!isKnown && html` hidden`}
    >
      <span>${isKnown && say(scene, "about", { time: formats.time((earliest + latest) / 2) })}</span>
      <span class="muted">${isKnown && html`· ${formats.span((earliest - now) / 1_000, (latest - now) / 1_000)}`}</span>
    </p>
    <p ${(isKnown || wait === undefined) && html` hidden`}>
      ${phrase(scene, "wait", { wait: html`<strong data-text="wait">${wait !== undefined && formats.duration(wait)}</strong>` })}
    </p>`
}

/** The units that are left, where the brand shows them and the queue has a number of them. */
const left = (scene: Scene, { record: { maxAdmissions }, live }: Queue): Html | false => {
  const count = live?.unitsLeft
  if (!showsUnitsLeft(scene) || maxAdmissions === null || typeof count !== "number") return false
  const { number } = scene.formats
  return html`<span data-fact="left"
    >${say(scene, "leftOf", { count: number(count), total: number(maxAdmissions) })}</span
  >`
}

/** Only queues with public facts have a line that visitors can check. Their places have tickets. */
const checking = (scene: Scene, { record, live }: Queue, { ticket }: Waiting): Html | false =>
  live !== undefined &&
  ticket !== undefined &&
  html`<p><a href="${scene.path("line", { at: record.id })}">${say(scene, "line")}</a></p>`
