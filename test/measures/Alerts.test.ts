/** How long the condition of an alert holds over minutes of made-up scrapes, compared with its `for`. */
import { assert, describe, it } from "@effect/vitest"
import * as Yaml from "effect/encoding/Yaml"
import { readFileSync } from "node:fs"
import { Counts } from "../../src/measures/Counts.ts"
import { by, counter, histogram, only, toText } from "../../src/measures/Family.ts"
import { Histogram, statementSeconds } from "../../src/measures/Histogram.ts"
import { firing, type Scrape, scrapeOf } from "../support/promql/Evaluation.ts"

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly for?: string
}

const rulesFile = new URL("../../src/operations/alerts.yml", import.meta.url)
const rules = (
  Yaml.parse(readFileSync(rulesFile, "utf8")) as { readonly groups: ReadonlyArray<{ rules: Array<Rule> }> }
).groups[0]!.rules

const scrapeSeconds = 5

/** A server whose statements take so long, and fail or not, second by second. */
type Second = (second: number) => { readonly seconds: number; readonly fails: boolean }

/** Scrapes the series of a server for so many seconds, in which five statements a second end. */
function scrapesOf(lastSecond: number, at: Second): ReadonlyArray<Scrape> {
  const statements = new Histogram(statementSeconds)
  const failures = new Counts(["out_of_reach"])
  const scrapes: Array<Scrape> = []
  for (let second = 0; second <= lastSecond; second++) {
    const { seconds, fails } = at(second)
    for (let statement = 0; statement < (fails ? 1 : 5); statement++) statements.add(seconds)
    if (fails) failures.add("out_of_reach")
    if (second % scrapeSeconds !== 0) continue
    const families = [
      histogram("usher_journal_statement_duration_seconds", "", only(statements)),
      counter("usher_database_statement_failures_total", "", by("cause", failures.entries()))
    ]
    scrapes.push(scrapeOf(toText(families), second))
  }
  return scrapes
}

/** True if the condition holds for as long as the alert waits. */
function pages(alert: string, scrapes: ReadonlyArray<Scrape>): boolean {
  const { expr, for: wait = "0s" } = rules.find((rule) => rule.alert === alert)!
  const waitSeconds = Number.parseInt(wait) * (wait.endsWith("m") ? 60 : 1)
  let since: number | undefined
  return scrapes.some(({ at }, index) => {
    if (firing(expr, scrapes.slice(0, index + 1)).length === 0) since = undefined
    else since ??= at
    return since !== undefined && at - since >= waitSeconds
  })
}

/** Statements take 3 ms, except for those that wait for an outage that begins after two minutes. */
const outageOf =
  (outageSeconds: number): Second =>
  (second) =>
    second >= 120 && second < 120 + outageSeconds ? { seconds: 5, fails: true } : { seconds: 0.003, fails: false }

describe("UsherStatementsSlow", () => {
  for (const seconds of [5, 40, 90, 180]) {
    it(`does not page after an outage of ${seconds} s`, () => {
      assert.isFalse(pages("UsherStatementsSlow", scrapesOf(900, outageOf(seconds))))
    })
  }

  it("pages for a database that is slow for seven minutes", () => {
    const slow: Second = (second) => ({ seconds: second >= 120 && second < 540 ? 0.8 : 0.003, fails: false })
    assert.isTrue(pages("UsherStatementsSlow", scrapesOf(900, slow)))
  })
})

describe("UsherStatementsFailing", () => {
  it("pages within an outage of 40 s and of 180 s, and not for a statement that fails alone", () => {
    for (const seconds of [40, 180]) assert.isTrue(pages("UsherStatementsFailing", scrapesOf(400, outageOf(seconds))))
    assert.isFalse(pages("UsherStatementsFailing", scrapesOf(400, outageOf(1))))
    assert.isFalse(pages("UsherStatementsFailing", scrapesOf(400, outageOf(0))))
  })
})
