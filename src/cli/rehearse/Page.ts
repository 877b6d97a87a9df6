/** The report of a rehearsal as one HTML file, for people who were not there. */
import { inWords } from "../../domain/rehearsal/CheckedDrop.ts"
import type { MechanismOutcome } from "../../domain/rehearsal/Outcome.ts"
import { documentOf, escaped, number, table, tiles, verdicts } from "../../load/Html.ts"
import { duration, type Report, verdictOf } from "./Report.ts"

/** Returns the page. */
export const pageOf = (report: Report): string => {
  const { name, crowd, seed, from, to, timeZone, mechanisms, unserved, busiest } = report
  const sum = (of: (one: MechanismOutcome) => number) => number(mechanisms.reduce((total, one) => total + of(one), 0))
  const figures = [
    ["People", number(crowd.people)],
    ["Took part", sum(({ people }) => people)],
    ["Got something", sum(({ served }) => served)],
    ["Grants that lapsed", sum(({ lapsed }) => lapsed)],
    ["Gave up", sum(({ gaveUp }) => gaveUp)],
    ["Were left out", sum(({ leftOut }) => leftOut)]
  ] as const
  const at = (text: string) => escaped(inWords(Date.parse(text), timeZone))
  return documentOf(
    `Rehearsal of ${name}`,
    `<h1>Rehearsal of ${escaped(name)}</h1>
<p>From ${at(from)} to ${at(to)}, with the seed ${seed}. Nothing of it happened: it was played in test mode.</p>
<p class="verdict ${unserved === 0 ? "good" : "bad"}">${escaped(verdictOf(report))}</p>
${tiles(figures)}
<h2>By mechanism</h2>
${mechanismsOf(report)}
<h2>The busiest second</h2>
<p>${busiest === null ? "Nothing happened." : `${escaped(inWords(busiest.at, timeZone))}: ${number(busiest.entries)} entries, ${number(busiest.reads)} reads of places that had changed, ${number(busiest.sessions)} new sessions.`}</p>
<h2>What looks wrong</h2>
${findingsOf(report)}
<h2>Messages that would have gone out</h2>
${messagesOf(report)}
<h2>The crowd</h2>
${crowdOf(report)}`
  )
}

const mechanismsOf = ({ mechanisms, timeZone }: Report): string => {
  const head = [
    "Mechanism",
    "People",
    "Grants",
    "Used",
    "Lapsed",
    "Gave up",
    "Left out",
    "Wait: median, 95 of 100, longest",
    "Sold out"
  ]
  return table(
    head,
    mechanisms.map((one) => [
      `${escaped(one.name)}${refusedOf(one)}`,
      number(one.people),
      one.units === null ? number(one.granted) : `${number(one.granted)} of ${number(one.units)} units`,
      number(one.used),
      number(one.lapsed),
      number(one.gaveUp),
      number(one.leftOut),
      one.waitSeconds === null
        ? "–"
        : [one.waitSeconds.median, one.waitSeconds.p95, one.waitSeconds.longest].map(duration).join(", "),
      one.soldOutAt === null ? "–" : escaped(inWords(one.soldOutAt, timeZone))
    ])
  )
}

const refusedOf = ({ refused }: MechanismOutcome): string => {
  const codes = Object.entries(refused).map(([code, count]) => `${escaped(code)} ${number(count)}`)
  return codes.length === 0 ? "" : `<br><small>refused: ${codes.join(", ")}</small>`
}

const findingsOf = ({ findings }: Report): string =>
  findings.length === 0
    ? `<p class="good">Nothing.</p>`
    : verdicts(
        findings.map(({ severity, message, code }) => ({
          holds: false,
          html: `${severity === "error" ? "<strong>Error:</strong> " : ""}${escaped(message)} <small>${escaped(code)}</small>`
        }))
      )

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

const crowdOf = ({ crowd }: Report): string => {
  const percent = (share: number) => `${number(share * 100)} %`
  const { arrival, patience, checkout, noShow, bids, draws, bots } = crowd
  const comes =
    arrival.shape === "steady"
      ? "evenly while it is open"
      : `${percent(arrival.share)} in the ${duration(arrival.before / 1_000)} before the opening, the others in the hours after it`
  return table(
    ["Assumption", "Value"],
    [
      ["People come", comes],
      [
        "Half of them wait at most",
        `${duration(patience.median / 1_000)}, two in three within a factor of ${patience.spread} of that`
      ],
      [
        "Half of them use a grant within",
        `${duration(checkout.median / 1_000)}, two in three within a factor of ${checkout.spread} of that`
      ],
      ["Do not use their grant", percent(noShow)],
      ["Bids of a bidder", `at most ${bids.perPerson}, each ${percent(bids.raise)} above the one that it beats`],
      ["Enter draws", percent(draws.share)],
      ["Are machines", bots.share === 0 ? "none" : `${percent(bots.share)}, as ${number(bots.addresses)} consumers`]
    ]
  )
}
