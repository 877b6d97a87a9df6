/** What a rehearsal tells: its figures as JSON, and in words. */
import type { BusySecond } from "../../domain/rehearsal/Busiest.ts"
import { quoted } from "../../domain/rehearsal/CheckedDrop.ts"
import type { Crowd } from "../../domain/rehearsal/Crowd.ts"
import type { MechanismOutcome } from "../../domain/rehearsal/Outcome.ts"
import { toText } from "../../domain/values/Time.ts"
import { columns } from "../runtime/Arguments.ts"

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
}

export interface Report {
  readonly experienceId: string
  readonly copyId: string
  readonly name: string
  readonly timeZone: string
  readonly seed: number
  readonly crowd: Crowd
  /** The test clock's time at the beginning and at the end. */
  readonly from: string
  readonly to: string
  /** How long it took. */
  readonly seconds: number
  /** People that should have got something and did not. */
  readonly unserved: number
  readonly mechanisms: ReadonlyArray<MechanismOutcome>
  readonly busiest: BusySecond | null
  /** The latest 1,000 at most, by subject. */
  readonly messages: ReadonlyArray<SentMessages>
  /** What the check finds, and what only playing shows. Errors first. */
  readonly findings: ReadonlyArray<ReportedFinding>
}

/** Returns whether everybody got what it should, in one sentence. */
export const verdictOf = ({ unserved, mechanisms }: Report): string => {
  if (mechanisms.every(({ people }) => people === 0)) return "Nobody took part."
  if (unserved === 0) return "Everybody who should get something got it."
  return `${unserved.toLocaleString("en")} people should have got something and did not.`
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
  const { name, crowd, mechanisms, findings, busiest, messages, seconds, copyId } = report
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
    verdictOf(report),
    "",
    columns([head, ...rows]),
    "",
    ...(busiest === null
      ? []
      : [
          `The busiest second, ${toText(busiest.at)}: ${number(busiest.entries)} entries, ${number(busiest.reads)} reads, ${number(busiest.sessions)} sessions.`
        ]),
    ...messages.map(({ count, subject, channel }) => `${number(count)} by ${channel}: ${quoted(subject)}`),
    ...(findings.length === 0
      ? ["Nothing looks wrong."]
      : findings.map(({ severity, message }) => `${severity}: ${message}`))
  ].join("\n")
}
