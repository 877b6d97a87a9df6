/** What staff did to a mechanism, for the marks in its chart: a queue keeps its acts, and the audit log has the others. */
import { Effect } from "effect"
import type { Operator } from "../../../auth/operators/OperatorSessions.ts"
import { type Html, html } from "../../Html.ts"
import type { AdminAnswer, AdminApiClient } from "../../ApiClients.ts"
import { reasonNames } from "../Reasons.ts"
import { makeAuthorNames } from "../screens/People.ts"
import type { ChartData } from "./ChartMarkup.ts"
import type { Seen } from "./Figures.ts"
import type { Facts } from "./KindView.ts"

export type Acts = ChartData["acts"]

/** Changes that are looked for in the audit log. A chart has room for few. */
const changesMax = "20"

/** Makes the function that returns the acts on a mechanism, in their order. */
export const makeActs = (api: AdminApiClient["Service"]) => {
  const authorNames = makeAuthorNames(api)
  return Effect.fnUntraced(function* (operator: Operator, { mechanism: { id }, facts }: Seen) {
    const query = { type: "distribution.updated", subjectId: id, sortDir: "desc", first: changesMax }
    const [{ data }, author] = yield* Effect.all([
      api.run(operator, "auditLog", "listAuditLog", { query }),
      authorNames(operator)
    ])
    const logged = data.flatMap((change) => {
      const act = actOf(change, facts?.kind === "queue")
      return act === undefined ? [] : [{ at: change.at, text: `${act} by ${author(change.actor)}` }]
    })
    return [...ofQueue(facts), ...logged].toSorted((one, other) => one.at - other.at)
  })
}

/** The acts as a part, with which the script continues the chart. */
export const actsPart = (mechanismId: string, acts: Acts): Html =>
  html`<span data-part="acts-${mechanismId}" data-acts="${JSON.stringify(acts)}" hidden></span>`

type Change = AdminAnswer<"auditLog", "listAuditLog">["data"][number]

const dates = new Set(["openAt", "closeAt", "lobbyOpenAt", "drawAt", "settleAt", "slotsFrom", "slotsUntil"])

/** What a queue tells in its own acts. */
const toldByQueue = new Set(["admitRate", "pausedAt", "pausedBy", "pauseReason"])

/** Returns what staff changed; undefined for what they did not, and for what a queue tells itself. */
const actOf = ({ actor, changed, after }: Change, isQueue: boolean): string | undefined => {
  if (!/^(?:api_key|operator):/.test(actor)) return undefined
  if (changed.includes("statusOverride")) return after["statusOverride"] === "ended" ? "ended" : undefined
  const others = isQueue ? changed.filter((field) => !toldByQueue.has(field)) : changed
  if (others.length === 0) return undefined
  if (others.length === 1 && others[0] === "insideLimit")
    return `inside ${after["insideLimit"] === null ? "without limit" : JSON.stringify(after["insideLimit"])}`
  return others.every((field) => dates.has(field)) ? "dates moved" : "settings changed"
}

const actNames = {
  admitted: "admitted",
  removed: "removed",
  paused: "paused",
  resumed: "resumed",
  rate: "rate"
} as const

const ofQueue = (facts: Facts | undefined): Acts =>
  facts?.kind !== "queue"
    ? []
    : facts.acts.map(({ at, act, count, admitRate, reason }) => ({
        at,
        text: [
          `${actNames[act]}${count === undefined ? "" : ` ${count}`}${admitRate === undefined ? "" : ` ${admitRate}/min`}`,
          ...(reason === undefined ? [] : [reasonNames[reason].toLowerCase()])
        ].join(": ")
      }))
