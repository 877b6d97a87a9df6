/** The schema of the first release, by subject in `baseline/`. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes, randomUUID } from "node:crypto"
import { readFileSync } from "node:fs"
import { foldCaseFunction } from "./baseline/CaseFolding.ts"

const subjects = [
  "organizations",
  "catalogue",
  "consumers",
  "experiences",
  "mechanisms",
  "messages",
  "gates",
  "testClocks",
  "rehearsals",
  "processes",
  "invalidations",
  "auditLog"
]

/** The keys of this installation (store/coordination/ServerSecrets.ts). */
const secrets = ["one_time_codes", "access_codes", "assigned_products", "nodes", "cursors", "challenges", "grant_names"]

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const runFile = (subject: string) => {
    const text = readFileSync(new URL(`baseline/${subject}.sql`, import.meta.url), "utf8")
    return Effect.forEach(statementsOf(text), (statement) => sql.unsafe(statement), { discard: true })
  }

  yield* Effect.forEach(subjects, runFile, { discard: true })
  yield* sql.unsafe(foldCaseFunction())
  yield* runFile("search")

  yield* sql`insert into installation (timeline) values (${randomUUID()})`
  yield* Effect.forEach(
    secrets,
    (name) => sql`insert into server_secrets ${sql.insert({ name, secret: randomBytes(32) })}`,
    {
      discard: true
    }
  )
})

/** The statements of a file. Each ends with a line that ends with a semicolon, outside of a function's body. */
function statementsOf(text: string): ReadonlyArray<string> {
  const statements: Array<string> = []
  let statement = ""
  for (const line of text.split("\n")) {
    statement += `${line}\n`
    const isInBody = statement.split("$$").length % 2 === 0
    if (isInBody || !line.endsWith(";")) continue
    statements.push(statement)
    statement = ""
  }
  return statements
}
