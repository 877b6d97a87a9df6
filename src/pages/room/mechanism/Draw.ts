/** A draw in a room. */
import { Effect } from "effect"
import type { ConsumerAnswer } from "../../ApiClients.ts"
import { html, type Html } from "../../Html.ts"
import {
  closed,
  closing,
  deniedFor,
  ended,
  enter,
  type LiveFacts,
  sampleGrant,
  scheduled,
  stepsOfTurn,
  turn,
  wayOut
} from "./Parts.ts"
import type { RoomKind } from "./RoomKind.ts"
import { assured, facts, heading, nameHeading, instant, phrase, say, type Scene } from "../Scene.ts"

export type DrawRecord = ConsumerAnswer<"draws", "get">
type State = ConsumerAnswer<"draws", "status">

/** A draw with what happens in it now. */
interface Draw {
  readonly kind: "draw"
  readonly record: DrawRecord
  readonly live?: LiveFacts | undefined
}

export const draw: RoomKind<Draw, State> = {
  name: "draw",
  action: "enterDraw",
  status: "status",
  rule: (scene, { winnerCount, drawAt }) => {
    const { formats } = scene
    return say(scene, "drawTerms", { count: formats.number(winnerCount), time: formats.instant(drawAt) })
  },
  piece: (scene, draw, state = { status: "NOT_ENTERED" }) => ({
    status: state.status,
    html: shown(scene, draw, state),
    isLive: state.status === "ENTERED" || state.status === "WON"
  }),
  // The list has no commitment.
  read: ({ id }, { api, caller, share }) =>
    Effect.map(share(api.run(caller, "draws", "get", { params: { drawId: id } })), (record) => ({
      kind: "draw",
      record
    })),
  liveFact: ({ entries }) => ["entriesNow", entries],
  steps: (scene, { record }, { status } = { status: "NOT_ENTERED" }) => {
    if (status === "WON") return stepsOfTurn(scene, record)
    const drawn = say(scene, "nextDrawn", { time: scene.formats.instant(record.drawAt) })
    const mayEnter = record.lifecycle === "open" || record.lifecycle === "scheduled"
    if (status === "NOT_ENTERED" && mayEnter) return [say(scene, "nextDraw"), drawn, say(scene, "nextWin")]
    return status === "ENTERED" && record.drawAt > scene.now ? [drawn, say(scene, "nextWin")] : []
  },
  samples: (now) => {
    const entry = { enteredAt: now, entryId: "SAMPLE" }
    return [
      ["Entered", { status: "ENTERED", ...entry }],
      ["Won", { status: "WON", ...entry, wonAt: now, ...sampleGrant(now) }],
      ["Bought", { status: "COMPLETED", ...entry, completedAt: now }],
      ["Not drawn", { status: "DENIED", ...entry, deniedAt: now, reason: "NOT_SELECTED" }]
    ]
  },
  leaving: (state) => leavingOf(state),
  operations: { enter: () => ({ name: "enter" }), leave: () => ({ name: "leave" }) }
}

const shown = (scene: Scene, draw: Draw, state: State): Html => {
  const { record } = draw
  switch (state.status) {
    case "NOT_ENTERED":
      return outside(scene, draw)
    case "ENTERED":
      return entered(scene, record, state)
    case "WON":
      return turn(scene, say(scene, "won"), state, { more: proof(scene, record) })
    case "COMPLETED":
      return ended(scene, { title: "completed" })
    case "DENIED":
      return html`${ended(scene, deniedFor(state.reason))}${proof(scene, record)}`
  }
}

const terms = (scene: Scene, { winnerCount, drawAt }: DrawRecord): Html =>
  phrase(scene, "drawTerms", { count: scene.formats.number(winnerCount), time: instant(scene, drawAt) })

const fairness = (scene: Scene, { id, seedCommitment }: DrawRecord): Html =>
  html`<details>
    <summary id="rules-${id}">${say(scene, "rules")}</summary>
    <p>${say(scene, "drawFair")}</p>
    ${facts([[say(scene, "commitment"), html`<code>${seedCommitment}</code>`]])}
  </details>`

/** The public proof, once the draw has been drawn. */
const proof = (scene: Scene, { id, drawnAt }: DrawRecord): Html | undefined =>
  drawnAt === null ? undefined : html`<p><a href="${scene.path("proof", { at: id })}">${say(scene, "proof")}</a></p>`

const outside = (scene: Scene, draw: Draw): Html => {
  const { record } = draw
  if (record.lifecycle === "scheduled")
    return html`${scheduled(scene, record, terms(scene, record))}${fairness(scene, record)}`
  if (record.lifecycle !== "open") return closed(scene, record, proof(scene, record))
  return html`${nameHeading(record.name)}
    <p>${terms(scene, record)}</p>
    ${enter(scene, draw, say(scene, "enterDraw"))} ${closing(scene, record)}${fairness(scene, record)}`
}

const entered = (scene: Scene, record: DrawRecord, state: Extract<State, { readonly status: "ENTERED" }>): Html =>
  html`${heading(say(scene, "entered"))}${
      state.drawnAt === undefined
        ? html`<p class="big">
              <time data-until datetime="${new Date(record.drawAt).toISOString()}"
                >${scene.formats.short(record.drawAt)}</time
              >
            </p>
            <p>${terms(scene, record)}</p>
            ${assured(say(scene, "keep"))}`
        : html`<p>${say(scene, "drawn")}</p>`
    }${facts([[say(scene, "entry"), html`<code>${state.entryId}</code>`]])}
    <p><a href="${scene.path("receipt", { at: record.id })}" download="receipt.json">${say(scene, "receipt")}</a></p>
    ${proof(scene, record)}${fairness(scene, record)}${leavingOf(state) !== undefined && wayOut(scene, record.id, withdrawal)}`

const withdrawal = { action: "leave", label: "withdraw", effect: "withdrawText" } as const

/** An entry can be withdrawn until the drawing. */
const leavingOf = (state: State) => (state.status === "ENTERED" && state.drawnAt === undefined ? withdrawal : undefined)
