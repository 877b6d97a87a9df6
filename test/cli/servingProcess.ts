/** Runs `usher serve` as a real process. */
import { Effect } from "effect"
import * as NewOrganization from "../e2e/support/NewOrganization.ts"
import * as UsherInProcess from "./usherInProcess.ts"
import * as Usher from "./usherProcess.ts"

/** Starts a server on free ports and waits until it serves. */
export const serving = Effect.fnUntraced(function* (settings: Record<string, string>) {
  const run = yield* Usher.start(["serve"], { CONSUMER_PORT: "0", ADMIN_PORT: "0", ...settings })
  yield* Usher.until(() => run.stdout().includes("Admin API") || run.child.exitCode !== null)
  const [consumerUrl, adminUrl] = run.stdout().match(/http:\/\/[\d.]+:\d+(?=\/api )/g) ?? []
  if (consumerUrl === undefined || adminUrl === undefined) throw new Error(`it does not serve: ${run.stderr()}`)
  return { ...run, consumerUrl, adminUrl }
})

/**
 * Creates an organization without limits. Returns its id and its keys. It uses the command line, in this process, only
 * for an embedded database.
 */
export const organization = (
  settings: Record<string, string>
): Effect.Effect<Readonly<Record<OrganizationMember, string>>> => {
  const url = settings["DATABASE_URL"]
  if (url !== undefined) return Effect.promise(() => NewOrganization.make(url))
  return Effect.map(
    UsherInProcess.run(["organizations", "create", "--name", "Brand", "--plan", "enterprise", "--json"], settings),
    ({ stdout, stderr }) => {
      if (stdout === "") throw new Error(stderr)
      return JSON.parse(stdout)
    }
  )
}

type OrganizationMember = "organizationId" | "publishableKey" | "secretKey" | "testPublishableKey" | "testSecretKey"
