/**
 * The output of `usher serve` at the start: the addresses of the APIs, and on the first start the keys of a new
 * organization. Keys are printed only to a terminal, because other output is often stored as a log.
 */
import { Console, Effect, Option, Stdio } from "effect"
import { SqlClient } from "effect/sql"
import { unnamedOrganization } from "../../domain/organization/Organization.ts"
import { type NewOrganization, Organizations } from "../../auth/keys/Organizations.ts"
import { Installation } from "../../store/coordination/Installation.ts"
import { Listeners } from "../../http/server/Server.ts"
import { createsOrganization, shellCommand } from "../../settings/ShellCommand.ts"
import { readable } from "../Organizations.ts"

/** Advisory lock that lets only one of several starting processes create the first organization. */
const firstOrganizationLock = 0x75_73_68_65_74n

/** Creates an organization named "default" if the database has none. */
const firstOrganization = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const organizations = yield* Organizations
  return yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* sql`select pg_advisory_xact_lock(${firstOrganizationLock}::bigint)`
      if ((yield* organizations.count) > 0) return Option.none<NewOrganization>()
      return Option.some(yield* organizations.create({ name: unnamedOrganization, plan: "growth" }))
    })
  )
})

/** Logs how to create the first organization, if there is none. */
const hint = Effect.gen(function* () {
  const organizations = yield* Organizations
  if ((yield* organizations.count) > 0) return
  yield* Effect.logInfo(
    `There is no organization yet. Create one in a terminal, which shows its keys once: ${createsOrganization}`
  )
})

/** Prints the addresses and the first steps. Not interruptible: keys that are created but not shown would be lost. */
export const welcome = Effect.gen(function* () {
  const { adminUrl, consumerUrl } = yield* Listeners
  const { stdoutIsTerminal } = yield* Stdio.Stdio
  const isTerminal = yield* stdoutIsTerminal
  if (!isTerminal) yield* hint
  const first = isTerminal ? yield* firstOrganization : Option.none()
  const lines = [
    "",
    "Usher is running.",
    "",
    `  Consumer API  ${consumerUrl}/api   described at ${consumerUrl}/docs`,
    `  Admin API     ${adminUrl}/api   described at ${adminUrl}/docs`,
    `  Dashboard     ${adminUrl}/dashboard`,
    ""
  ]
  const { heldAt } = yield* Installation
  if (heldAt !== undefined) lines.push(onHold(heldAt), "")
  if (Option.isSome(first)) lines.push(...firstSteps(first.value, consumerUrl, adminUrl))
  yield* Console.log(lines.join("\n"))
}).pipe(Effect.uninterruptible)

const onHold = (heldAt: number): string =>
  `The database is on hold: it was restored from a backup of ${new Date(heldAt).toISOString()}. Only reads are served. ` +
  `\`${shellCommand("resume")}\` ends the hold.`

const firstSteps = (organization: NewOrganization, consumerUrl: string, adminUrl: string) => [
  "The database was empty, so this organization was created:",
  "",
  readable(organization),
  "",
  "In the dashboard, create a drop from a template. By the APIs, create an experience, and",
  "a session for a consumer:",
  "",
  `  curl ${adminUrl}/api/experiences -H "Authorization: Bearer ${organization.secretKey}" \\`,
  `    -H "Content-Type: application/json" -d '{"name": "First drop"}'`,
  "",
  `  curl -X POST ${consumerUrl}/api/auth/guest -H "X-Publishable-Key: ${organization.publishableKey}"`,
  ""
]
