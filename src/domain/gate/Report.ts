/** What a gate in the field says of itself when it asks for ended grants, about every second: in one header. */

/** The header with the report. */
export const reportHeader = "usher-gate"

/** What a gate can do with a request. */
export const decisionKinds = ["pass", "return", "room", "wait", "closed"] as const
export type DecisionKind = (typeof decisionKinds)[number]

/** Decisions since the gate began. */
export type Decisions = { readonly [K in DecisionKind]: number }

/** One process, or one isolate of a runtime without processes. */
export interface Report {
  /** What it runs in, such as `node` or `usher-gate`. */
  readonly runtime: string
  readonly instance: string
  /** The version of the rules that it has. */
  readonly version: string
  readonly decisions: Decisions
}

/** The longest header that is read. */
const lengthMax = 300

/** `node/0199b2a1 47DEQpj8HBSa-_TImW-5JC pass=12 room=3`: a kind that is absent has not occurred. */
const pattern = /^([a-z-]{1,20})\/([\w-]{1,40}) ([\w-]{1,40})((?: [a-z]{1,10}=\d{1,15}){0,9})$/

/** Returns the report in the text of the header; undefined if it is none. */
export const reportIn = (text: string | undefined): Report | undefined => {
  if (text === undefined || text.length > lengthMax) return undefined
  const [, runtime, instance, version, counts = ""] = pattern.exec(text) ?? []
  if (runtime === undefined || instance === undefined || version === undefined) return undefined
  const counted = new URLSearchParams(counts.trim().replaceAll(" ", "&"))
  return { runtime, instance, version, decisions: decisionsOf((kind) => Number(counted.get(kind) ?? 0)) }
}

export const decisionsOf = (count: (kind: DecisionKind) => number): Decisions => ({
  pass: count("pass"),
  return: count("return"),
  room: count("room"),
  wait: count("wait"),
  closed: count("closed")
})

/** The text of the header for a report. */
export const textOf = ({ runtime, instance, version, decisions }: Report): string =>
  `${runtime}/${instance} ${version}${decisionKinds.map((kind) => ` ${kind}=${decisions[kind]}`).join("")}`
