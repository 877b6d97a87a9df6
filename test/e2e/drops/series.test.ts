/** Reads the series of a real server, and compares them with the boards, the alert rules and the runbook. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as Yaml from "effect/encoding/Yaml"
import { readdirSync, readFileSync } from "node:fs"
import { organization, serving } from "../../cli/servingProcess.ts"
import * as TestDatabase from "../../store/support/TestDatabase.ts"

const folder = new URL("../../../src/operations/", import.meta.url)
const read = (path: string) => readFileSync(new URL(path, folder), "utf8")

interface Rule {
  readonly alert: string
  readonly expr: string
  readonly annotations: { readonly summary: string }
}
interface Board {
  readonly uid: string
  readonly panels: ReadonlyArray<{
    readonly datasource: { readonly uid: string }
    readonly targets: ReadonlyArray<{ readonly expr: string }>
  }>
}

const rules = (
  Yaml.parse(read("alerts.yml")) as { groups: ReadonlyArray<{ rules: ReadonlyArray<Rule> }> }
).groups.flatMap((group) => group.rules)
const boards = readdirSync(new URL("boards", folder)).map((name): Board => JSON.parse(read(`boards/${name}`)))
const expressions = [
  ...rules.map(({ expr }) => expr),
  ...boards.flatMap(({ panels }) => panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)))
]

/** The names in an expression of Prometheus that are Usher's. */
const namesIn = (expression: string): ReadonlyArray<string> => expression.match(/\busher_[a-z0-9_]+/g) ?? []

/** The labels that an expression groups or selects by. */
const labelsIn = (expression: string): ReadonlyArray<string> =>
  [...expression.matchAll(/\bby \(([^)]*)\)/g)]
    .flatMap((match) => match[1]!.split(","))
    .concat([...expression.matchAll(/[{,]\s*(\w+)="/g)].map((match) => match[1]!))
    .map((name) => name.trim())
    .filter((name) => name !== "instance" && name !== "")

/** Starts a server, lets a consumer enter and be refused, and returns its series. */
const scraped = Effect.gen(function* () {
  const { url } = yield* TestDatabase.migratedDatabase
  const settings = { DATABASE_URL: url, OPERATIONS_PORT: "0", LOG_FORMAT: "logfmt" }
  const { consumerUrl, adminUrl, stderr } = yield* serving(settings)
  const { publishableKey, secretKey } = yield* organization(settings)
  const call = (method: string, url: string, headers: Record<string, string>, body?: object) =>
    Effect.promise(async () => {
      const response = await fetch(url, {
        method,
        headers: { ...headers, ...(body && { "content-type": "application/json" }) },
        ...(body && { body: JSON.stringify(body) })
      })
      const text = await response.text()
      return { status: response.status, body: text === "" ? {} : JSON.parse(text) }
    })
  const asServer = { authorization: `Bearer ${secretKey}` }
  const create = (path: string, body: object) =>
    Effect.map(call("POST", `${adminUrl}/api${path}`, asServer, body), (answer) => answer.body.id as string)
  const sequenceId = yield* create("/sequences", {
    experienceId: yield* create("/experiences", { name: "Drop" }),
    name: "All"
  })
  const queue = { sequenceId, name: "Line", admitRate: 0 }
  const [open, ended] = [yield* create("/queues", queue), yield* create("/queues", queue)]
  const asGuest = { "x-publishable-key": publishableKey }
  const session = yield* call("POST", `${consumerUrl}/api/auth/guest`, asGuest)
  const asConsumer = { ...asGuest, authorization: `Bearer ${session.body.accessToken}` }
  const consumer = (id: string, command: string) =>
    Effect.map(call("POST", `${consumerUrl}/api/queues/${id}/${command}`, asConsumer), ({ status }) => status)
  assert.deepStrictEqual([yield* consumer(open, "leave"), yield* consumer(open, "enter")], [409, 200])
  assert.strictEqual(yield* consumer(ended, "enter"), 200)
  assert.strictEqual((yield* call("DELETE", `${adminUrl}/api/queues/${ended}`, asServer)).status, 200)
  const operationsUrl = /Operations on (http:\/\/[\d.]+:\d+)/.exec(stderr())?.[1]
  assert.isDefined(operationsUrl, stderr())
  return yield* Effect.promise(async () => (await fetch(`${operationsUrl}/metrics`)).text())
})

describe("the series of a server", () => {
  it.live("include every one that boards and alert rules name, with its labels", () =>
    Effect.gen(function* () {
      const text = yield* scraped
      const lines = text.split("\n").filter((line) => line.startsWith("usher_"))
      for (const expression of expressions) {
        const names = namesIn(expression)
        assert.isNotEmpty(names, expression)
        const found = names.map((name) => lines.filter((line) => /^[a-z0-9_]+/.exec(line)![0] === name))
        for (const [index, own] of found.entries()) assert.isNotEmpty(own, names[index])
        for (const label of labelsIn(expression)) {
          assert.isTrue(
            found.flat().some((line) => line.includes(`${label}="`)),
            `${label} in ${expression}`
          )
        }
      }
    })
  )
})

describe("the runbook", () => {
  const sections = new Map(
    read("RUNBOOK.md")
      .split(/^## /m)
      .slice(1)
      .map((section) => [section.split("\n", 1)[0]!, section])
  )

  it("has a section of at most 25 lines for each alert, and for nothing else", () => {
    assert.deepStrictEqual([...sections.keys()].toSorted(), rules.map(({ alert }) => alert).toSorted())
    for (const [name, section] of sections) assert.isAtMost(section.trim().split("\n").length, 25, name)
  })
})

describe("the boards", () => {
  it("use the data source that is provisioned", () => {
    const { datasources } = Yaml.parse(read("provisioning/datasource.yml")) as {
      readonly datasources: ReadonlyArray<{ readonly uid: string }>
    }
    assert.deepStrictEqual(boards.map(({ uid }) => uid).toSorted(), ["usher-drop", "usher-platform"])
    for (const { panels } of boards) {
      for (const { datasource } of panels) assert.strictEqual(datasource.uid, datasources[0]!.uid)
    }
  })
})
