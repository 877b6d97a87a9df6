/**
 * `usher organizations create`: makes an organization and prints its keys, which cannot be shown again.
 */
import { Console, Effect, Layer } from "effect"
import { Command, Flag } from "effect/cli"
import { type NewOrganization, Organizations } from "../auth/Organizations.ts"
import { StartRefused } from "../Settings.ts"
import * as Environment from "./Environment.ts"
import { interruptible } from "./Signals.ts"

/** The keys for people, one on a line. */
export const readable = (organization: NewOrganization): string =>
  [
    `  Organization          ${organization.organizationId}`,
    `  Publishable key       ${organization.publishableKey}`,
    `  Secret key            ${organization.secretKey}`,
    `  Publishable test key  ${organization.testPublishableKey}`,
    `  Secret test key       ${organization.testSecretKey}`,
    "",
    "  Keep the keys: only their hashes are stored, and they are not shown again."
  ].join("\n")

/** One line of JSON with exactly these five members, for scripts. */
export const machineReadable = (organization: NewOrganization): string => {
  const { organizationId, publishableKey, secretKey, testPublishableKey, testSecretKey } = organization
  return JSON.stringify({ organizationId, publishableKey, secretKey, testPublishableKey, testSecretKey })
}

const create = Command.make(
  "create",
  {
    name: Flag.String("name").pipe(
      Flag.withDescription("What the organization is called, 1 to 200 characters"),
      Flag.filter(
        (name) => /^(?=.*\S)\P{Cc}{1,200}$/u.test(name),
        () => "a name of 1 to 200 printable characters"
      )
    ),
    plan: Flag.Literals("plan", ["starter", "growth", "enterprise"]).pipe(
      Flag.withDescription("The plan whose rate limits hold for it"),
      Flag.withDefault("growth")
    ),
    json: Flag.Boolean("json").pipe(
      Flag.withDescription("Print one line of JSON and nothing else on standard output"),
      Flag.withDefault(false)
    )
  },
  ({ name, plan, json }) =>
    Effect.gen(function* () {
      const organizations = yield* Organizations
      const made = yield* organizations.create({ name, plan })
      yield* Console.log(
        json ? machineReadable(made) : `Made the organization "${name}" on the ${plan} plan.\n\n${readable(made)}`
      )
    }).pipe(
      Effect.catchTag("Unavailable", (error) =>
        Effect.fail(new StartRefused({ message: `The organization could not be made: ${String(error.cause)}` }))
      ),
      Effect.provide(Organizations.layer.pipe(Layer.provideMerge(Environment.withDatabase))),
      interruptible
    )
).pipe(
  Command.withDescription("Make an organization and print its keys. Works beside a running server."),
  Command.withExamples([
    { command: 'usher organizations create --name "Atelier Nord" --plan growth', description: "For people" },
    { command: 'usher organizations create --name "Atelier Nord" --plan growth --json', description: "For scripts" }
  ])
)

const list = Command.make(
  "list",
  {
    json: Flag.Boolean("json").pipe(
      Flag.withDescription("Print one line of JSON and nothing else on standard output"),
      Flag.withDefault(false)
    )
  },
  ({ json }) =>
    Effect.gen(function* () {
      const all = yield* (yield* Organizations).all
      yield* Console.log(
        json ? JSON.stringify(all) : all.map(({ id, name, plan }) => `  ${id}  ${plan.padEnd(10)}  ${name}`).join("\n")
      )
    }).pipe(
      Effect.catchTag("Unavailable", (error) =>
        Effect.fail(new StartRefused({ message: `The organizations could not be read: ${String(error.cause)}` }))
      ),
      Effect.provide(Organizations.layer.pipe(Layer.provideMerge(Environment.withDatabase))),
      interruptible
    )
).pipe(
  Command.withDescription("Show the organizations: their ids, plans and names. Works beside a running server."),
  Command.withExamples([
    { command: "usher organizations list", description: "For people" },
    { command: "usher organizations list --json", description: "For scripts" }
  ])
)

/** The command with its subcommands. */
export const command = Command.make("organizations").pipe(
  Command.withDescription("The organizations that this installation serves"),
  Command.withSubcommands([create, list])
)
