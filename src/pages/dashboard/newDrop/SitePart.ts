/** The settings of a queue in front of a site, whose grants are visits: what a new drop asks about them. */
import type { Answers } from "./Answers.ts"
import type { Ask } from "./Ask.ts"

/** The choices for `standby`. */
export const standbyChoices = [
  ["no", "Everybody sees the room"],
  ["yes", "Who need not wait passes unseen"]
] as const

/** What the settings mean, also where they are changed. */
export const siteHints = {
  insideLimit: "Visitors who may be inside at once. Empty: no limit.",
  standby: "The room is then there only while somebody has to wait.",
  admitBurst: "Visitors who may pass at the same moment after a quiet time. Empty: the rate of one second.",
  idle: "Who makes no request for so long has left. It takes the place of the minutes to buy. Empty: those hold.",
  stay: "At the latest then a visit ends."
} as const

const shared = { isOptional: true, isOfSite: true } as const

export const siteAsks: ReadonlyArray<Ask> = [
  {
    name: "inside",
    label: "Inside at once",
    hint: siteHints.insideLimit,
    type: "number",
    min: 1,
    sets: ["insideLimit"],
    ...shared
  },
  {
    name: "standby",
    label: "While nobody has to wait",
    hint: siteHints.standby,
    type: "choice",
    choices: standbyChoices,
    value: "no",
    sets: ["standby"],
    ...shared
  },
  {
    name: "burst",
    label: "Burst",
    hint: siteHints.admitBurst,
    type: "number",
    min: 1,
    sets: ["admitBurst"],
    ...shared
  },
  {
    name: "idle",
    label: "Minutes without a request",
    hint: siteHints.idle,
    type: "minutes",
    sets: ["admissionRenewal", "admissionRenewal.idleSeconds"],
    ...shared
  },
  {
    name: "stay",
    label: "Minutes inside at most",
    hint: siteHints.stay,
    type: "minutes",
    sets: ["admissionRenewal.maxSeconds"],
    ...shared
  }
]

/** The settings that follow from the answers. Absent ones stay as they are without a gate. */
export const siteSettings = (answers: Answers): { readonly [name: string]: unknown } => {
  const [insideLimit, admitBurst] = [answers.number("inside"), answers.number("burst")]
  const [idleSeconds, maxSeconds] = [answers.seconds("idle"), answers.seconds("stay")]
  return {
    ...(insideLimit !== undefined && { insideLimit }),
    ...(answers.text("standby") === "yes" && { standby: true }),
    ...(admitBurst !== undefined && { admitBurst }),
    ...((idleSeconds !== undefined || maxSeconds !== undefined) && { admissionRenewal: { idleSeconds, maxSeconds } })
  }
}
