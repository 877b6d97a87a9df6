/**
 * Analytics queries of an organization: measures over recorded events and orders, in buckets of time. Buckets start at
 * whole multiples of their length since 1970 on the UTC clock. So a day is a UTC day in every time zone.
 */
import { Result, Schema, SchemaAST } from "effect"
import { deciders, type Kind, kinds } from "../mechanism/Mechanism.ts"
import { text } from "../values/Text.ts"
import { instantOf, type Millis } from "../values/Time.ts"

/** Limit of measures per query. */
export const measuresMax = 10

/** Limit of buckets per response. */
export const bucketsMax = 1_500

/** Limit of days per range. */
export const rangeDaysMax = 366

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** The available lengths of a bucket, in milliseconds. */
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

/** The aggregation over the events of a bucket. */
export const Operation = Schema.Literals(["count", "sum", "avg"])

/** Where an event is recorded: in the journal of a kind of mechanism, with an order, or with the visits of a room. */
export interface Source {
  readonly kind: Kind | "order" | "room"
  /** The event's name in the journal. */
  readonly type: string
  /** The numeric fields that can be aggregated. Secrets such as seeds are never included. */
  readonly fields: ReadonlyArray<string>
}

/** Events whose public name differs from the default, or that are internal: undefined. */
const exceptions: { readonly [name: string]: string | undefined } = {
  auction_bid_placed: "bid_placed",
  queue_opened: "queue_lobby_opened",
  // Internal: a secret is drawn, a beacon's round is recorded, members are about to be notified.
  draw_seed_drawn: undefined,
  draw_beacon_provided: undefined,
  waitlist_notice_scheduled: undefined,
  waitlist_notice_due: undefined
}

/** The fields that can be aggregated. A missing loyalty score counts as 0. */
const fields: { readonly [event: string]: ReadonlyArray<string> } = {
  bid_placed: ["amount"],
  queue_entered: ["loyaltyScore"],
  draw_entered: ["loyaltyScore"]
}

/** Fields that are amounts of money. Amounts of different currencies are not added. */
const moneyFields: ReadonlySet<string> = new Set(["amount", "total"])

/** True if the field is an amount of money. */
export const isMoney = (field: string | null): boolean => field !== null && moneyFields.has(field)

/** The measurable events by their public names: `<kind>_<past participle>`. */
export const sources: ReadonlyMap<string, Source> = new Map([
  ...kinds.flatMap((kind) =>
    typesOf(kind).flatMap((type): ReadonlyArray<readonly [string, Source]> => {
      const plain = `${kind}${type.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}`
      const name = Object.hasOwn(exceptions, plain) ? exceptions[plain] : plain
      return name === undefined ? [] : [[name, { kind, type, fields: fields[name] ?? [] }]]
    })
  ),
  ...["created", "paid", "fulfilled", "cancelled"].map((type): readonly [string, Source] => [
    `order_${type}`,
    { kind: "order", type, fields: ["total"] }
  ]),
  ["room_visited", { kind: "room", type: "visited", fields: [] }]
])

/** Returns the public names of events of a kind. */
export const sourceNames = (kind: Kind, types: ReadonlyArray<string>): ReadonlyArray<string> =>
  [...sources].flatMap(([name, source]) => (source.kind === kind && types.includes(source.type) ? [name] : []))

/** Returns the types of a kind's events, from their schema. */
function typesOf(kind: Kind): ReadonlyArray<string> {
  const { ast } = deciders[kind].event as Schema.Schema<unknown>
  if (!SchemaAST.isUnion(ast)) return []
  return ast.types.flatMap((member) => {
    if (!SchemaAST.isObjects(member)) return []
    const tag = member.propertySignatures.find(({ name }) => name === "_tag")?.type
    return tag !== undefined && SchemaAST.isLiteral(tag) ? [String(tag.literal)] : []
  })
}

/** The name of a measure, used as the key of its series. */
const MeasureName = text({ minLength: 1, maxLength: 100 }).check(
  Schema.makeFilter((name: string) => /^([\p{L}\p{N}][\p{L}\p{M}\p{N}_ .:-]*)?$/u.test(name), {
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

/** One series of the response: its events, their aggregation, and its label. */
export const Measure = Schema.Struct({
  name: MeasureName,
  event: EventName,
  op: Operation,
  unit: text({ minLength: 1, maxLength: 50 }),
  field: Schema.optionalKey(Schema.NullOr(text({ minLength: 1, maxLength: 50 })))
}).annotate({ identifier: "Measure" })
export type Measure = typeof Measure.Type

/** Restricts a query to part of the organization; absent: all of it. */
export interface Where {
  readonly distributionId?: string | null | undefined
  readonly experienceId?: string | null | undefined
  readonly sequenceId?: string | null | undefined
  readonly distributionType?: Kind | null | undefined
  /** Only orders and auctions have a currency. Other events never match. */
  readonly currencyCode?: string | null | undefined
}

/** A range of time. `to` is excluded. */
export interface Range {
  readonly from: Millis
  readonly to: Millis
}

/** A problem of a query that concerns several of its parts. */
export interface Problem {
  readonly path: ReadonlyArray<string | number>
  readonly kind: "schema" | "validation"
  readonly type: string
  readonly expected: string
}

const relative = /^(\d{1,6})([mhd])$/

/** Parses a range: `<n>m`, `<n>h` or `<n>d` back from now, or `start/end`. */
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
  const [from, to] = [instantOf(start), instantOf(end)]
  return more.length > 0 || from === undefined || to === undefined ? undefined : { from, to }
}

/**
 * Returns the starts of all buckets that overlap the range, in order. The first and last bucket count only events
 * within the range.
 */
export const bucketsOf = ({ from, to }: Range, interval: Interval): ReadonlyArray<Millis> => {
  const length = intervalMillis[interval]
  const first = Math.floor(from / length) * length
  return Array.from({ length: Math.ceil((to - first) / length) }, (_, index) => first + index * length)
}

/** Returns a problem if the range has more buckets than a response may contain. */
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

/** Returns a problem if money in several currencies was to be added. */
export const currencyProblem = (currencyCodes: ReadonlySet<string>): Problem | undefined =>
  currencyCodes.size < 2
    ? undefined
    : {
        path: ["where", "currencyCode"],
        kind: "validation",
        type: "picklist",
        expected: `one of ${[...currencyCodes].toSorted().join(", ")}, since amounts of several currencies are not added up`
      }

/** Returns the problems between measures and between the fields of a measure. */
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
