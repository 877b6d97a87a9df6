/** The report of a rehearsal as one HTML file, for people who were not there. */
import { refusedWords } from "../../domain/rehearsal/Refused.ts"
import { inLocalWords } from "../../domain/rehearsal/CheckedDrop.ts"
import type { MeasuredFigure } from "../../domain/rehearsal/Former.ts"
import type { Kind } from "../../domain/mechanism/Mechanism.ts"
import type { MechanismOutcome } from "../../domain/rehearsal/Outcome.ts"
import { documentOf, escaped, number, table, tiles } from "../Html.ts"
import { busyWords, duration, manyOf, placeOf, type Report, type ReportedFinding, summaryOf } from "./Report.ts"

/** Returns the page. */
export const pageOf = (report: Report): string =>
  documentOf(`Rehearsal of ${report.name}`, `<h1>Rehearsal of ${escaped(report.name)}</h1>\n${contentOf(report)}`)

/** Returns the address at which a finding is mended. */
export type AddressOf = (finding: ReportedFinding) => string

/**
 * Returns what the page has below its title, as HTML. The outcome and what is wrong are on its first screen. With
 * `addressOf` each finding leads to where it is mended.
 */
export const contentOf = (report: Report, addressOf?: AddressOf): string => {
  const { crowd, from, to, timeZone, mechanisms, findings, busiest, verdict } = report
  const at = (time: string) => escaped(inLocalWords(Date.parse(time), timeZone))
  return `<p>${number(crowd.people)} people, from ${at(from)} to ${at(to)} (${escaped(timeZone)}). It was simulated in test mode: nobody was told, and nothing was sold.</p>
<p class="verdict"><span class="${verdict.isGood ? "good" : "bad"}">${escaped(verdict.text)}</span> ${wrongOf(findings)}</p>
${findingsOf(findings, addressOf)}
<h2>What happened</h2>
<ul>${mechanisms.map((one) => `<li><strong>${escaped(one.name)}</strong>: ${escaped(summaryOf(one, timeZone))}</li>`).join("")}</ul>
${figuresOf(report)}
<h2>By mechanism</h2>
${mechanismsOf(report)}
<h2>The busiest second</h2>
<p>${busiest === null ? "Nothing happened." : `${escaped(inLocalWords(busiest.at, timeZone))}: ${escaped(busyWords(busiest)).replace(/`([^`]+)`/, "<code>$1</code>")}.`}</p>
<h2>Messages that would have gone out</h2>
${messagesOf(report)}
<h2>The crowd</h2>
${crowdOf(report)}`
}

/** Returns how much looks wrong, in a sentence of HTML. */
const wrongOf = (findings: Report["findings"]): string => {
  const errors = findings.filter(({ severity }) => severity === "error").length
  const warnings = findings.length - errors
  if (findings.length === 0) return `<span class="good">Nothing looks wrong.</span>`
  const counts = [
    ...(errors > 0 ? [manyOf(errors, "error", "errors")] : []),
    ...(warnings > 0 ? [manyOf(warnings, "warning", "warnings")] : [])
  ]
  return `<span class="${errors > 0 ? "bad" : "warn"}">${counts.join(" and ")}.</span>`
}

const figuresOf = ({ crowd, mechanisms }: Report): string => {
  const sum = (of: (one: MechanismOutcome) => number) => number(mechanisms.reduce((total, one) => total + of(one), 0))
  const waits = mechanisms.flatMap(({ waitSeconds, kind }) =>
    waitSeconds === null || kind !== "queue" ? [] : [waitSeconds.longest]
  )
  return tiles([
    ["People", number(crowd.people)],
    ["Took part", sum(({ people }) => people)],
    ["Had a turn", sum(({ served }) => served)],
    ["Used their turn", sum(({ used }) => used)],
    ["Turns that ran out", sum(({ lapsed }) => lapsed)],
    ["Gave up", sum(({ gaveUp }) => gaveUp)],
    ["Were left out", sum(({ leftOut }) => leftOut)],
    ...(waits.length === 0 ? [] : [["Longest wait in a queue", duration(Math.max(...waits))] as const])
  ])
}

const mechanismsOf = ({ mechanisms }: Report): string => {
  const head = [
    "Mechanism",
    "People",
    "Units",
    "Turns",
    "Used",
    "Ran out",
    "Gave up",
    "Left out",
    "Wait: half, 95 of 100, longest"
  ]
  return table(
    head,
    mechanisms.map((one) => [
      `${escaped(one.name)}${refusedOf(one)}`,
      number(one.people),
      one.units === null ? "–" : number(one.units),
      number(one.granted),
      number(one.used),
      number(one.lapsed),
      number(one.gaveUp),
      number(one.leftOut),
      one.waitSeconds === null
        ? "–"
        : [one.waitSeconds.median, one.waitSeconds.p95, one.waitSeconds.longest].map(duration).join(", ")
    ])
  )
}

const refusedOf = ({ refused }: MechanismOutcome): string => {
  const codes = Object.entries(refused).map(
    ([code, count]) => `${number(count)} refused: ${escaped(refusedWords(code))}`
  )
  return codes.length === 0 ? "" : `<br><small>${codes.join("; ")}</small>`
}

const findingsOf = (findings: Report["findings"], addressOf: AddressOf | undefined): string => {
  if (findings.length === 0) return ""
  const items = findings.map((finding) => {
    const label =
      finding.severity === "error" ? `<strong class="bad">Error:</strong>` : `<strong class="warn">Warning:</strong>`
    const place = escaped(placeOf(finding))
    const link = addressOf === undefined ? place : `<a href="${escaped(addressOf(finding))}">${place}</a>`
    return `<li>${label} ${escaped(finding.message)} <small>Change it in ${link}.</small></li>`
  })
  return `<h2>What looks wrong</h2><ul>${items.join("")}</ul>`
}

const messagesOf = ({ messages }: Report): string =>
  messages.length === 0
    ? "<p>None.</p>"
    : messages
        .map(
          ({ channel, subject, count, text }) =>
            `<h3>${escaped(subject === "" ? "Without a subject" : subject)}</h3>
<p>${number(count)} by ${channel === "email" ? "email" : "SMS"}. The first of them:</p><pre>${escaped(text)}</pre>`
        )
        .join("\n")

const crowdOf = ({ crowd, seed, former, mechanisms }: Report): string => {
  const has = (kind: Kind) => mechanisms.some((one) => one.kind === kind)
  const source = (figure: MeasuredFigure) =>
    former?.figures.includes(figure) === true
      ? ` <small>What ${number(former.people)} people did in “${escaped(former.name)}”.</small>`
      : ""
  const percent = (share: number) => `${number(share * 100)} %`
  const { arrival, patience, checkout, noShow, bids, draws, bots } = crowd
  const comes =
    arrival.shape === "steady"
      ? "evenly while it is open"
      : `${percent(arrival.share)} in the ${duration(arrival.before / 1_000)} before the opening, the others in the hours after it`
  return table(
    ["Assumption", "Value"],
    [
      ["Seed", `${seed}`],
      ["People come", comes],
      [
        "Half of them wait at most",
        `${duration(patience.median / 1_000)}, two in three within a factor of ${patience.spread} of that${source("patience")}`
      ],
      [
        "Half of them use their turn within",
        `${duration(checkout.median / 1_000)}, two in three within a factor of ${checkout.spread} of that${source("checkout")}`
      ],
      ["Do not use their turn at all", `${percent(noShow)}${source("noShow")}`],
      ...(has("auction")
        ? [["Bids of a bidder", `at most ${bids.perPerson}, each ${percent(bids.raise)} above the one that it beats`]]
        : []),
      ...(has("draw") ? [["Come for a draw", percent(draws.share)]] : []),
      ["Are machines", bots.share === 0 ? "none" : `${percent(bots.share)}, as ${number(bots.addresses)} consumers`]
    ]
  )
}
