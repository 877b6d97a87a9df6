/** Why a step of staff has become pointless, because somebody else was faster, or because time has passed. */
import { endableClosedKinds } from "../../../domain/mechanism/Mechanism.ts"
import { countsOf, type Mechanism } from "./Drop.ts"

const texts = {
  closed: "had closed",
  ended: "had ended",
  paused: "was paused already",
  resumed: "was not paused any more",
  sameRate: "had this rate already",
  otherRate: "had got another rate meanwhile",
  sameLimit: "had this limit already",
  otherLimit: "had got another limit meanwhile",
  nobody: "had nobody waiting any more",
  started: "was not parked any more"
} as const

/** The state of a mechanism in which a step changes nothing. */
type Pointless = keyof typeof texts

export const isPointless = (name: string): name is Pointless => Object.hasOwn(texts, name)

/** Says that a step has changed nothing, and why. */
export const pointlessText = (because: Pointless, name: string): string =>
  `Nothing was changed, because ${name} ${texts[because]}. “What happened” tells who did what.`

/** True if the mechanism has closed, and an end would still deny those who wait for its outcome. */
export const canEndClosed = (mechanism: Mechanism): boolean => {
  const { type, lifecycle, statusOverride } = mechanism
  const isOfKind = endableClosedKinds.includes(type)
  return isOfKind && lifecycle === "settling" && statusOverride === null && countsOf(mechanism).waiting > 0
}

/** Returns why the action would change nothing; undefined if it would, or if the state is not known. */
export const pointless = (mechanism: Mechanism, action: string, fields: URLSearchParams): Pointless | undefined => {
  const { lifecycle, live, statusOverride } = mechanism
  if (action === "unpark") return live?.parked === false ? "started" : undefined
  const hasClosed = lifecycle === "settling" || lifecycle === "closed"
  if (hasClosed && live !== null && !(action === "end" && canEndClosed(mechanism)))
    return statusOverride === "ended" ? "ended" : "closed"
  if (mechanism.type !== "queue") return undefined
  const isPaused = mechanism.pausedAt !== null
  if (action === "pause") return isPaused ? "paused" : undefined
  if (action === "resume") return isPaused ? undefined : "resumed"
  if (action === "rate") return pointlessNumber("admitRate", mechanism.admitRate, fields, ["sameRate", "otherRate"])
  if (action === "inside") {
    return pointlessNumber("insideLimit", mechanism.insideLimit, fields, ["sameLimit", "otherLimit"])
  }
  const isEmpty = action === "admit" && lifecycle === "open" && live?.counts["QUEUED"] === 0
  return isEmpty ? "nobody" : undefined
}

/** An undo names the number that it takes back. */
const pointlessNumber = (
  setting: string,
  present: number | null,
  fields: URLSearchParams,
  [same, other]: readonly [same: Pointless, other: Pointless]
): Pointless | undefined => {
  const was = fields.get("was")
  if (was !== null && was !== `${present}`) return other
  return fields.get(setting)?.trim() === `${present}` ? same : undefined
}
