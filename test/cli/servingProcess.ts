/** Runs `usher serve` as a real process. */
import { Effect } from "effect"
import * as Usher from "./usherProcess.ts"

/** Starts a server on free ports and waits until it serves. */
export const serving = Effect.fnUntraced(function* (settings: Record<string, string>) {
  const run = yield* Usher.start(["serve"], { CONSUMER_PORT: "0", ADMIN_PORT: "0", ...settings })
  yield* Usher.until(() => run.stdout().includes("Admin API") || run.child.exitCode !== null)
  const [consumerUrl, adminUrl] = run.stdout().match(/http:\/\/[\d.]+:\d+(?=\/api )/g) ?? []
  if (consumerUrl === undefined || adminUrl === undefined) throw new Error(`it does not serve: ${run.stderr()}`)
  return { ...run, consumerUrl, adminUrl }
})

/** Creates an organization without limits on the command line. Returns its id and its keys. */
export const organization = (settings: Record<string, string>) =>
  Effect.map(
    Usher.run(["organizations", "create", "--name", "Brand", "--plan", "enterprise", "--json"], settings),
    ({ stdout, stderr }): Readonly<Record<OrganizationMember, string>> => {
      if (stdout === "") throw new Error(stderr)
      return JSON.parse(stdout)
    }
  )

type OrganizationMember = "organizationId" | "publishableKey" | "secretKey" | "testPublishableKey" | "testSecretKey"
