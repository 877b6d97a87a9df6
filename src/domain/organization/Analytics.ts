/**
 * What an organization can ask about what happened in it (completions 4, "Analytics"): measures over recorded events and
 * orders, in buckets of time. Buckets lie on the UTC clock: they begin at whole multiples of their length since 1970, so
 * that a day is a UTC day whatever clocks do elsewhere.
 */
import { Result, Schema, SchemaAST } from "effect"
import { deciders } from "../mechanism/Mechanism.ts"
import type { Kind } from "../mechanism/Decider.ts"
import { text } from "../values/Text.ts"
import { DateTimeText, type Millis } from "../values/Time.ts"

/** Measures of one query at most. */
export const measuresMax = 10

/** Buckets of one answer at most. */
export const bucketsMax = 1_500

/** Days of one range at most. */
export const rangeDaysMax = 366

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** The lengths a bucket can have, in milliseconds. */
export const intervalMillis = {
  "1m": minute,
  "5m": 5 * minute,
  "10m": 10 * minute,
  "15m": 15 * minute,
  "30m": 30 * minute,
  "1h": hour,
  "6h": 6 * hour,
  "12h": 12 * hour,
  "1d": day
} as const

export const Interval = Schema.Literals(Object.keys(intervalMillis) as Array<keyof typeof intervalMillis>)
export type Interval = typeof Interval.Type

/** What is made of the events of a bucket. */
export const Operation = Schema.Literals(["count", "sum", "avg"])

/** Where an event is recorded: in the journal of mechanisms of a kind, or with an order. */
export interface Source {
  readonly kind: Kind | "order"
  /** The event's own name there. */
  readonly type: string
  /** What it carries that can be added up; secrets such as seeds are never among it. */
  readonly fields: ReadonlyArray<string>
}

/** Events that are called otherwise than their kind and themselves, or that say nothing to anybody outside: undefined. */
const exceptions: { readonly [name: string]: string | undefined } = {
  auction_bid_placed: "bid_placed",
  queue_opened: "queue_lobby_opened",
  // Housekeeping: a secret is drawn, a beacon's round is noted, members are about to be told.
  draw_seed_drawn: undefined,
  draw_beacon_provided: undefined,
  waitlist_notice_scheduled: undefined,
  waitlist_notice_due: undefined
}

/** What can be added up; in an entry that does not say its loyalty score it is 0. */
const fields: { readonly [event: string]: ReadonlyArray<string> } = {
  bid_placed: ["amount"],
  queue_entered: ["loyaltyScore"],
  draw_entered: ["loyaltyScore"]
}

/** Fields that are amounts of money: those of several currencies are not added up. */
const moneyFields: ReadonlySet<string> = new Set(["amount", "total"])

/** True if the field is an amount of money. */
export const isMoney = (field: string | null): boolean => field !== null && moneyFields.has(field)

/** The events that can be measured, by their public names: `<kind>_<past participle>`. */
export const sources: ReadonlyMap<string, Source> = new Map([
  ...(Object.keys(deciders) as Array<Kind>).flatMap((kind) =>
    typesOf(kind).flatMap((type): ReadonlyArray<readonly [string, Source]> => {
      const plain = `${kind}${type.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`
      const name = Object.hasOwn(exceptions, plain) ? exceptions[plain] : plain
      return name === undefined ? [] : [[name, { kind, type, fields: fields[name] ?? [] }]]
    })
  ),
  ...["created", "paid", "fulfilled", "cancelled"].map((type): readonly [string, Source] => [
    `order_${type}`,
    { kind: "order", type, fields: ["total"] }
  ])
])

/** The types of a kind's events, from their schema. */
function typesOf(kind: Kind): ReadonlyArray<string> {
  const { ast } = deciders[kind].event as Schema.Schema<unknown>
  if (!SchemaAST.isUnion(ast)) return []
  return ast.types.flatMap((member) => {
    if (!SchemaAST.isObjects(member)) return []
    const tag = member.propertySignatures.find(({ name }) => name === "_tag")?.type
    return tag !== undefined && SchemaAST.isLiteral(tag) ? [String(tag.literal)] : []
  })
}

/** The name of a measure, as a key of its series: letters, digits, and signs that keep words apart. */
const MeasureName = text({ minLength: 1, maxLength: 100 }).check(
  Schema.makeFilter((name: string) => /^([\p{L}\p{N}][\p{L}\p{N}_ .:-]*)?$/u.test(name), {
    expected: "letters, digits, blanks and _ . : - after a letter or digit",
    representation: { id: "usher/string", payload: null },
    toJsonSchema: () => ({})
  })
)

const EventName = Schema.String.check(
  Schema.makeFilter((name: string) => sources.has(name), {
    expected: "an event that the description names",
    representation: { id: "usher/picklist", payload: null },
    toJsonSchema: () => ({ enum: [...sources.keys()] })
  })
)

/** One line of the answer: which events, what is made of them, and how the result is labelled. */
export const Measure = Schema.Struct({
  name: MeasureName,
  event: EventName,
  op: Operation,
  unit: text({ minLength: 1, maxLength: 50 }),
  field: Schema.optionalKey(Schema.NullOr(text({ minLength: 1, maxLength: 50 })))
}).annotate({ identifier: "Measure" })
export type Measure = typeof Measure.Type

/** What of the organization is asked about; absent: all of it. */
export interface Where {
  readonly distributionId?: string | null | undefined
  readonly experienceId?: string | null | undefined
  readonly sequenceId?: string | null | undefined
  readonly distributionType?: Kind | null | undefined
  /** Orders, and auctions, in this currency; nothing else has one. */
  readonly currencyCode?: string | null | undefined
}

/** From an instant up to another one, that one excluded. */
export interface Range {
  readonly from: Millis
  readonly to: Millis
}

/** Something about a query that its parts alone do not tell. */
export interface Problem {
  readonly path: ReadonlyArray<string | number>
  readonly kind: "schema" | "validation"
  readonly type: string
  readonly expected: string
}

const relative = /^(\d{1,6})([mhd])$/
const isDateTime = Schema.is(DateTimeText)

/** The range that such text says: `<n>m`, `<n>h` or `<n>d` back from now, or `start/end`. */
export const rangeOf = (timeRange: string, now: Millis): Result.Result<Range, Problem> => {
  const problem = (type: string, expected: string) =>
    Result.fail<Problem>({ path: ["timeRange"], kind: "validation", type, expected })
  const range = readRange(timeRange, now)
  if (range === undefined)
    return problem("string", "<n>m, <n>h, <n>d, or start/end as ISO 8601 date-times with offsets")
  if (range.from >= range.to) return problem("min_value", "an end after the start")
  if (range.to - range.from > rangeDaysMax * day) return problem("max_value", `at most ${rangeDaysMax} days`)
  return Result.succeed(range)
}

const readRange = (timeRange: string, now: Millis): Range | undefined => {
  const back = relative.exec(timeRange)
  if (back !== null)
    return { from: now - Number(back[1]) * { m: minute, h: hour, d: day }[back[2] as "m" | "h" | "d"], to: now }
  const [start = "", end = "", ...more] = timeRange.split("/")
  if (more.length > 0 || !isDateTime(start) || !isDateTime(end)) return undefined
  return { from: Date.parse(start), to: Date.parse(end) }
}

/** When the buckets begin that the range touches, in order. The first and the last hold what of them lies within the range. */
export const bucketsOf = ({ from, to }: Range, interval: Interval): ReadonlyArray<Millis> => {
  const length = intervalMillis[interval]
  const first = Math.floor(from / length) * length
  return Array.from({ length: Math.ceil((to - first) / length) }, (_, index) => first + index * length)
}

/** True if there would be more buckets than an answer may have. */
export const tooManyBuckets = ({ from, to }: Range, interval: Interval): Problem | undefined => {
  const length = intervalMillis[interval]
  const count = Math.ceil(to / length) - Math.floor(from / length)
  if (count <= bucketsMax) return undefined
  return {
    path: ["interval"],
    kind: "validation",
    type: "max_value",
    expected: `an interval that makes at most ${bucketsMax} buckets of the range, which this one cuts into ${count}`
  }
}

/** The problem of money that was found in these currencies, if it was to be added up; none if there is one at most. */
export const currencyProblem = (currencyCodes: ReadonlySet<string>): Problem | undefined =>
  currencyCodes.size < 2
    ? undefined
    : {
        path: ["where", "currencyCode"],
        kind: "validation",
        type: "picklist",
        expected: `one of ${[...currencyCodes].toSorted().join(", ")}, since amounts of several currencies are not added up`
      }

/** What is wrong between the measures and within each, although each part is right by itself. */
export const measureProblems = (measures: ReadonlyArray<Measure>): ReadonlyArray<Problem> =>
  measures.flatMap(({ name, event, op, field }, index): ReadonlyArray<Problem> => {
    const problems: Array<Problem> = []
    const problem = (key: string, kind: Problem["kind"], type: string, expected: string) =>
      problems.push({ path: ["measures", index, key], kind, type, expected })
    if (measures.findIndex((other) => other.name === name) < index) {
      problem("name", "validation", "picklist", "a name that no other measure has")
    }
    if (op === "count") return problems
    const known = sources.get(event)?.fields ?? []
    if (known.length === 0) problem("op", "validation", "picklist", `count: ${event} has no field to add up`)
    else if (field === undefined || field === null) problem("field", "schema", "string", "string")
    else if (!known.includes(field)) problem("field", "validation", "picklist", known.join(" | "))
    return problems
  })
