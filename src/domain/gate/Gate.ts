// oxlint-disable unicorn/no-thenable -- the rules of gates have this field
/**
 * The gate: what stands in front of a site. Its rules say which requests pass, and which need a grant of a queue.
 * `client/gate.ts` decides by them.
 */
import { Schema, SchemaTransformation } from "effect"
import type { SettingProblem } from "../experience/ExperienceWindow.ts"
import { Id } from "../values/Ids.ts"
import { recordSchema } from "../values/Record.ts"
import { Name, text } from "../values/Text.ts"

/** Hosts of one gate. */
export const hostsMax = 50

/** Rules of one gate. */
export const rulesMax = 100

/** Methods of one rule. */
const methodsMax = 20

/** Text that matches. `expected` says in words what is. */
const matching = (maxLength: number, expected: string, isRight: (value: string) => boolean) =>
  text({ minLength: 1, maxLength }).check(
    Schema.makeFilter(isRight, {
      expected,
      representation: { id: "usher/string", payload: null },
      toJsonSchema: () => ({})
    })
  )

const isHost = (value: string): boolean =>
  value.split(".").every((label) => /^[a-z0-9-]{1,63}$/i.test(label) && !label.startsWith("-") && !label.endsWith("-"))

/** A host without a port, in lower case. */
const Host = matching(253, "a host without a port", isHost).pipe(
  Schema.decodeTo(
    Schema.String,
    SchemaTransformation.transform({ decode: (host) => host.toLowerCase(), encode: (host) => host })
  )
)

/** Visible ASCII from the first slash on. */
const Path = matching(1_000, "a path that begins with a slash", (value) => /^\/[!-~]*$/.test(value))

/** A name of a header or a cookie. */
const Token = matching(100, "letters, digits, dots, hyphens and underscores", (value) => /^[\w.-]+$/.test(value))

const Method = matching(20, "a method in upper case", (value) => /^[A-Z]+$/.test(value))

const FailMode = Schema.Literals(["open", "closed"]).annotate({
  description: "What becomes of visitors without a grant while Usher is out of reach: `open` lets them pass."
})

/** The conditions of a rule. All that are present must hold. */
const When = Schema.Struct({
  path: Schema.optionalKey(Path),
  pathPrefix: Schema.optionalKey(Path),
  methods: Schema.optionalKey(Schema.Array(Method).check(Schema.isMinLength(1), Schema.isMaxLength(methodsMax))),
  header: Schema.optionalKey(
    Schema.Struct({
      name: Token,
      value: Schema.optionalKey(
        text({ minLength: 1, maxLength: 1_000 }).annotate({ description: "Absent: the header must be present." })
      )
    })
  ),
  cookie: Schema.optionalKey(Token.annotate({ description: "The name of a cookie that must be present." })),
  crawler: Schema.optionalKey(Token.annotate({ description: "The name of a crawler that the gate has verified." }))
})

export const Rule = Schema.Struct({
  name: Schema.optionalKey(Name),
  when: When,
  then: Schema.Union([Schema.Literal("pass"), Schema.Struct({ queueId: Id })]),
  failMode: Schema.optionalKey(FailMode),
  afterEnd: Schema.optionalKey(
    Schema.Literals(["pass", "closed"]).annotate({
      description: "What becomes of visitors without a grant once the queue has ended or is archived. Absent: `closed`."
    })
  )
})
  .check(
    // A misspelt condition is ignored, and must not let everything pass.
    Schema.makeFilter(({ when, then }) => then !== "pass" || Object.keys(when).length > 0, {
      expected: "at least one condition, because the rule lets pass",
      representation: { id: "usher/object", payload: null },
      toJsonSchema: () => ({})
    })
  )
  .annotate({ identifier: "GateRule" })
export type Rule = typeof Rule.Type

const Cookie = Schema.Struct({
  name: Schema.optionalKey(Token),
  domain: Schema.optionalKey(Host),
  path: Schema.optionalKey(Path)
})

/** The fields an admin sets. */
export const Settings = Schema.Struct({
  name: Name,
  hosts: Schema.Array(Host)
    .check(Schema.isMinLength(1), Schema.isMaxLength(hostsMax))
    .annotate({ description: "The hosts of the site. Visitors return to these alone." }),
  rules: Schema.Array(Rule)
    .check(Schema.isMaxLength(rulesMax))
    .annotate({ description: "The first rule that fits decides. A request that none fits passes." }),
  failMode: FailMode,
  cookie: Cookie.annotate({ description: "The cookie of the grant: its name, domain and path." }),
  returnPath: Path.annotate({ description: "The path at which visitors return from the room." })
})
export type Settings = typeof Settings.Type

/** The values of settings that an admin leaves out. */
export const defaults = {
  failMode: "closed",
  cookie: {},
  returnPath: "/.usher/return"
} as const satisfies Partial<Settings>

/** The gate in responses. Its key is never shown. */
export const Gate = recordSchema("Gate", {
  ...Settings.fields,
  keyDisplay: Schema.String.annotate({ description: "The key's first characters, `…`, and its last four." })
})
export type Gate = typeof Gate.Type

/** What the key of a gate opens: the gate, and the queues that its rules name. */
export interface OpenedGate {
  readonly id: string
  readonly queueIds: ReadonlySet<string>
}

/** How the list of gates can be sorted. The first is the default. */
export const gateSorts = ["createdAt", "name"] as const

/** Returns the queues that rules name, each once. */
export const queueIdsOf = (rules: ReadonlyArray<Rule>): ReadonlyArray<string> => [
  ...new Set(rules.flatMap(({ then }) => (then === "pass" ? [] : [then.queueId])))
]

/** Returns the contradictions between settings that are valid by themselves. */
export const settingsProblems = ({ hosts, cookie: { domain } }: Settings): ReadonlyArray<SettingProblem<"cookie">> =>
  domain === undefined || hosts.every((host) => host === domain || host.endsWith(`.${domain}`))
    ? []
    : [{ field: "cookie", message: "the cookie's domain must contain every host" }]
