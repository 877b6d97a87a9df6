/** Gates in words: a rule, what a gate does with a request, and where it was seen. */
import type { GateInstances, GateTest } from "../../../api/admin/GateApi.ts"
import { type DecisionKind, decisionKinds } from "../../../domain/gate/Report.ts"
import type { AdminAnswer } from "../../ApiClients.ts"
import { html, type Html, type Inserted } from "../../Html.ts"
import { badge, counted } from "../Parts.ts"
import type { NamedQueues } from "./Queues.ts"

export type Gate = AdminAnswer<"gates", "getGate">
export type Rule = Gate["rules"][number]

/** The conditions of a rule. Who may not change a gate does not read the value of a header, which may let pass. */
export const conditionsOf = ({ when }: Rule, mayReadAll: boolean): string => {
  const { path, pathPrefix, methods, header, cookie, crawler } = when
  const parts = [
    pathPrefix !== undefined && `the path begins with ${pathPrefix}`,
    path !== undefined && `the path is ${path}`,
    methods !== undefined && `the method is ${methods.join(" or ")}`,
    header !== undefined && headerOf(header, mayReadAll),
    cookie !== undefined && `it has the cookie ${cookie}`,
    crawler !== undefined && `the site has verified the crawler ${crawler}`
  ].filter((part) => part !== false)
  return parts.length === 0 ? "Every request" : sentenceStart(parts.join(", and "))
}

const headerOf = ({ name, value }: NonNullable<Rule["when"]["header"]>, mayReadAll: boolean): string => {
  if (value === undefined) return `it has the header ${name}`
  return mayReadAll ? `the header ${name} is “${value}”` : `the header ${name} has the value that admins see`
}

const sentenceStart = (text: string): string => `${text[0]!.toUpperCase()}${text.slice(1)}`

const failTexts = { open: "lets everybody pass", closed: "lets nobody new in" } as const

/** What becomes of visitors without a grant while Usher is out of reach. */
export const failText = (mode: Gate["failMode"]): string => failTexts[mode]

/** What a rule does with a request that fits. */
export const outcomeOf = (
  { then, failMode, afterEnd }: Rule,
  gate: Pick<Gate, "failMode">,
  queues: NamedQueues
): Inserted => {
  if (then === "pass") return "passes"
  const named = queues.get(then.queueId)
  const place =
    named === undefined
      ? "a queue that was archived"
      : html`<a href="/dashboard/experiences/${named.mechanism.experienceId}"><bdi>${named.label}</bdi></a>`
  return html`needs a grant of ${place}
    <small
      >Usher out of reach:
      ${failText(failMode ?? gate.failMode)}${afterEnd === "pass" && "; after the end: lets everybody pass"}</small
    >`
}

const decisionTexts: { readonly [K in GateTest["decision"]]: string } = {
  pass: "It passes.",
  ask: "A new visitor passes at once while rate and limit allow, and else goes to the room.",
  return: "It is the way back from the room: a valid grant becomes the cookie, any other leads to the first page.",
  room: "The browser is sent to the room.",
  wait: "A program is told to wait: 429 with the address of the room.",
  closed: "Usher does not know the queue, and the rule is closed: a page says so, and tries again."
}

/** What happens to a request that was tried, in words, and why. */
export const testText = ({ decision, rule, reason }: GateTest): Html => {
  const by =
    rule === null ? "No rule fits." : `Rule ${rule.index + 1}${rule.name === null ? "" : ` (${rule.name})`} fits first.`
  const why = decision === "pass" && rule !== null ? ` ${reason}` : ""
  return html`<strong>${decisionTexts[decision]}</strong> ${by}${why}`
}

/** The decisions in the order of the table, with their words. */
const decisionNames: { readonly [K in DecisionKind]: readonly [one: string, many: string] } = {
  pass: ["passed", "passed"],
  return: ["came back from the room", "came back from the room"],
  room: ["went to the room", "went to the room"],
  wait: ["program was told to wait", "programs were told to wait"],
  closed: ["was refused", "were refused"]
}

/** The sums of what all instances did since each began; undefined if none says. */
export const totalsOf = ({ data }: GateInstances): { readonly [K in DecisionKind]: number } | undefined => {
  const known = data.flatMap(({ decisions }) => decisions ?? [])
  if (known.length === 0) return undefined
  const total = (kind: DecisionKind) => known.reduce((sum, one) => sum + (one[kind] ?? 0), 0)
  return {
    pass: total("pass"),
    return: total("return"),
    room: total("room"),
    wait: total("wait"),
    closed: total("closed")
  }
}

/** The same in a sentence. */
export const decisionsText = (seen: GateInstances): string | undefined => {
  const totals = totalsOf(seen)
  if (totals === undefined) return undefined
  const told = decisionKinds.filter((kind) => totals[kind] > 0)
  return told.length === 0
    ? "no request yet"
    : told.map((kind) => counted(totals[kind], ...decisionNames[kind])).join(", ")
}

const runtimeNames: { readonly [name: string]: string } = {
  "usher-gate": "usher gate, beside a proxy",
  node: "Node",
  fetch: "a Worker or another runtime with fetch"
}

/** What an instance runs in. */
export const runtimeName = (runtime: string | null): string =>
  runtime === null ? "unknown: it reports nothing" : (runtimeNames[runtime] ?? runtime)

/** Whether a gate was seen in the last minute, and with the rules as they are. */
export const seenBadge = ({ data }: GateInstances): Html => {
  if (data.length === 0) return badge("not seen in the last minute", "warn")
  return data.some(({ isCurrent }) => isCurrent === false)
    ? badge("seen, partly with former rules", "next")
    : badge("seen in the last minute", "ok")
}
