/** What a rehearsal tells: its figures as JSON, and in words. */
import type { BusySecond } from "../../domain/rehearsal/Busiest.ts"
import { inLocalWords, quoted } from "../../domain/rehearsal/CheckedDrop.ts"
import type { Crowd } from "../../domain/rehearsal/Crowd.ts"
import type { FormerDrop } from "../../domain/rehearsal/Former.ts"
import type { Finding } from "../../domain/rehearsal/Finding.ts"
import type { Verdict } from "../../domain/rehearsal/Rehearsal.ts"
import type { MechanismOutcome } from "../../domain/rehearsal/Outcome.ts"
import { coresOf } from "../Sizing.ts"
import { columns } from "../../domain/values/Columns.ts"
import type { Kind } from "../../domain/mechanism/Mechanism.ts"
import { toText } from "../../domain/values/Time.ts"

/** Messages with one subject that would have gone out. */
export interface SentMessages {
  readonly channel: "email" | "phone"
  readonly subject: string
  readonly count: number
  /** The text of the first of them. */
  readonly text: string
}

export interface ReportedFinding {
  readonly code: string
  readonly severity: "error" | "warning"
  readonly message: string
  /** The live record in which it is mended, as in the check of an experience. */
  readonly record: Finding["record"]
  readonly recordId: string | null
  readonly field: string | null
}

export interface Report {
  readonly experienceId: string
  readonly copyId: string
  readonly name: string
  readonly timeZone: string
  readonly seed: number
  readonly crowd: Crowd
  /** The drop from which figures of the crowd come; absent: none does. */
  readonly former?: FormerDrop
  /** The test clock's time at the beginning and at the end. */
  readonly from: string
  readonly to: string
  /** How long it took. */
  readonly seconds: number
  /** People that should have got something and did not. */
  readonly unserved: number
  readonly verdict: Verdict
  readonly mechanisms: ReadonlyArray<MechanismOutcome>
  readonly busiest: BusySecond | null
  /** The latest 1,000 at most, by subject. */
  readonly messages: ReadonlyArray<SentMessages>
  /** What the check finds, and what only playing shows. Errors first. */
  readonly findings: ReadonlyArray<ReportedFinding>
}

/** What a report that is kept has at most. */
const keptMax = { messages: 50, textLength: 4_000, findings: 200 } as const

/** Returns the report with the texts and findings that fit where it is kept. */
export const bounded = (report: Report): Report => ({
  ...report,
  messages: report.messages
    .slice(0, keptMax.messages)
    .map((sent) => ({ ...sent, text: sent.text.slice(0, keptMax.textLength) })),
  findings: report.findings.slice(0, keptMax.findings)
})

/** Fewer units than this share are left because some people never pay. */
const leftShareMax = 0.1

/** Returns whether everybody got what it should, and whether units are left that people came for. */
export const verdictOf = ({ unserved, mechanisms }: Pick<Report, "unserved" | "mechanisms">): Verdict => {
  if (mechanisms.every(({ people }) => people === 0)) return { text: "Nobody took part.", isGood: false }
  if (unserved > 0) {
    const gaveUp = mechanisms.reduce((sum, one) => sum + one.gaveUp, 0)
    const others = gaveUp === 0 ? "" : `, and ${counted(gaveUp)} gave up`
    return { text: `${inPeople(unserved)} should have got something and did not${others}.`, isGood: false }
  }
  const sellers = mechanisms.filter(({ units, unitsLeft }) => units !== null || unitsLeft !== null)
  const sold = sellers.reduce((sum, { used }) => sum + used, 0)
  const units = sold + leftOf(sellers)
  if (units === 0) return { text: "Everybody who should get something got it.", isGood: true }
  if (sold === units) return { text: `All ${manyOf(units, "unit was", "units were")} sold.`, isGood: true }
  const without = sellers.reduce((sum, one) => sum + (unsoldIn(one) > 0 ? one.people - one.used : 0), 0)
  if (without === 0) {
    return { text: `${counted(sold)} of ${counted(units)} units were sold, one to each person who came.`, isGood: true }
  }
  const share = `${counted(sold)} of ${manyOf(units, "unit was", "units were")} sold`
  if (units - sold <= leftShareMax * units) return { text: `${share}.`, isGood: true }
  return { text: `${share}, although ${inPeople(without)} more came for one.`, isGood: false }
}

/** The units of a mechanism, or of its stock, that are not sold. */
const unsoldIn = ({ units, unitsLeft, used }: MechanismOutcome): number => unitsLeft ?? Math.max(0, (units ?? 0) - used)

/** The units that are not sold. Mechanisms with a stock have the same ones. */
const leftOf = (sellers: ReadonlyArray<MechanismOutcome>): number => {
  const own = sellers.filter(({ unitsLeft }) => unitsLeft === null).reduce((sum, one) => sum + unsoldIn(one), 0)
  return own + Math.max(0, ...sellers.map(({ unitsLeft }) => unitsLeft ?? 0))
}

/** Returns what became of one mechanism, in a sentence: units, when they were gone, and how long people waited. */
export const summaryOf = (one: MechanismOutcome, timeZone: string): string => {
  const { kind, units, people, served, used, lapsed, soldOutAt, waitSeconds, gaveUp } = one
  if (people === 0) return "Nobody took part."
  const parts = [
    `${inPeople(people)} came`,
    units === null
      ? `${counted(served)} ${gotWords[kind] ?? "got something"}`
      : `${counted(used)} of ${manyOf(units, "unit was", "units were")} bought`,
    ...(soldOutAt === null ? unsoldWords(one) : [`sold out on ${inLocalWords(soldOutAt, timeZone)}`]),
    ...(waitSeconds === null || kind !== "queue"
      ? []
      : [`half waited ${duration(waitSeconds.median)} at most, the longest ${duration(waitSeconds.longest)}`]),
    ...(lapsed === 0
      ? []
      : [
          kind === "appointment"
            ? `${counted(lapsed)} did not come`
            : `${manyOf(lapsed, "turn", "turns")} ran out unused`
        ]),
    ...(gaveUp === 0 ? [] : [`${counted(gaveUp)} gave up`])
  ]
  return `${parts.join("; ")}.`
}

const unsoldWords = ({ units, used }: MechanismOutcome): ReadonlyArray<string> =>
  units === null || used >= units ? [] : [`${counted(units - used)} not sold`]

/** What people got where nothing is counted. */
const gotWords: Partial<Record<Kind, string>> = { appointment: "booked", waitlist: "were told", queue: "got a turn" }

const counted = (value: number): string => value.toLocaleString("en")

/** Returns so many things, or one. */
export const manyOf = (count: number, one: string, many: string): string =>
  `${counted(count)} ${count === 1 ? one : many}`

const inPeople = (count: number): string => manyOf(count, "person", "people")

/** Returns what happened in a second, and what it asks of a server. */
export const busyWords = (second: BusySecond): string => {
  const { entries, reads, sessions } = second
  const requests = [
    manyOf(entries, "entry", "entries"),
    manyOf(reads, "status read", "status reads"),
    manyOf(sessions, "new session", "new sessions")
  ]
  const cores = Math.max(0.01, coresOf(second)).toLocaleString("en", { maximumFractionDigits: 2 })
  return `${requests.join(", ")}: ${cores} of a core on the machine of the benchmarks; \`usher load\` measures yours`
}

/** Returns the part of the dashboard in which what a finding is about is changed. */
export const placeOf = ({ record, field }: Pick<ReportedFinding, "record" | "field">): string => {
  switch (record) {
    case "experience":
      return field === "i18n" ? "the drop’s Look" : "the drop’s Schedule"
    case "distribution":
      return field === "stockId" ? "the stock" : "the drop’s Schedule"
    case "sequence":
      return "the drop’s Schedule"
    case "product":
      return "the product, in the catalogue"
    case "page":
      return "the page"
    case "webhook":
      return "Webhooks"
    case "organization":
      return "Settings"
  }
}

/** Returns a duration in words: `90 s`, `12 min`, `3 h`, `7 days`. */
export const duration = (seconds: number): string => {
  if (seconds < 120) return `${Math.round(seconds)} s`
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`
  if (seconds < 172_800) return `${Math.round(seconds / 3_600)} h`
  return `${Math.round(seconds / 86_400)} days`
}

/** Returns the report for a terminal. */
export const readable = (report: Report): string => {
  const { name, crowd, mechanisms, findings, busiest, messages, seconds, copyId, verdict } = report
  const number = (value: number) => value.toLocaleString("en")
  const rows = mechanisms.map((one) => [
    one.name,
    number(one.people),
    `${number(one.granted)}${one.units === null ? "" : ` of ${number(one.units)}`}`,
    number(one.used),
    number(one.lapsed),
    number(one.gaveUp),
    one.waitSeconds === null
      ? "-"
      : `${duration(one.waitSeconds.median)} / ${duration(one.waitSeconds.p95)} / ${duration(one.waitSeconds.longest)}`,
    one.soldOutAt === null ? "-" : toText(one.soldOutAt),
    Object.entries(one.refused)
      .map(([code, count]) => `${code} ${number(count)}`)
      .join(", ") || "-"
  ])
  const head = ["", "people", "grants", "used", "lapsed", "gave up", "wait: median/p95/longest", "sold out", "refused"]
  return [
    `${name}: ${number(crowd.people)} people, in ${seconds.toFixed(1)} s. The copy ${copyId} stays in test mode until its clock is deleted.`,
    verdict.text,
    "",
    columns([head, ...rows]),
    "",
    ...(busiest === null ? [] : [`The busiest second, ${toText(busiest.at)}: ${busyWords(busiest)}.`]),
    ...messages.map(({ count, subject, channel }) => `${number(count)} by ${channel}: ${quoted(subject)}`),
    ...(findings.length === 0
      ? ["Nothing looks wrong."]
      : findings.map(
          ({ severity, message, ...finding }) => `${severity}: ${message} Change it in ${placeOf(finding)}.`
        ))
  ].join("\n")
}
