/**
 * `usher organizations`: makes organizations, and prints their keys, which cannot be shown again; shows which there are, and
 * puts them on a plan.
 */
import { Console, Effect, Layer } from "effect"
import { Command, Flag } from "effect/cli"
import { ApiKeys } from "../auth/keys/ApiKeys.ts"
import { OrganizationChanges } from "../auth/keys/OrganizationChanges.ts"
import { type NewOrganization, Organizations } from "../auth/keys/Organizations.ts"
import { TokenLifetimes } from "../auth/tokens/TokenLifetimes.ts"
import { Plan, RateLimits } from "../domain/organization/Plan.ts"
import { StartRefused } from "../settings/Settings.ts"
import { Invalidations } from "../store/coordination/Invalidations.ts"
import { json, organization, refused } from "./runtime/Arguments.ts"
import * as Environment from "./runtime/Environment.ts"
import { interruptible } from "./runtime/Signals.ts"

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

/** What changes an organization, and tells running servers. */
const changing = OrganizationChanges.layer.pipe(
  Layer.provide(Layer.merge(ApiKeys.layer, TokenLifetimes.layer)),
  Layer.provide(Invalidations.layer),
  Layer.provide(Environment.withDatabase)
)

/** The limit that a text names. */
const numbered = (limit: string): readonly [string, number] => {
  const [name, number] = limit.split("=") as [string, string]
  return [name, Number(number)]
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
    json
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

const list = Command.make("list", { json }, ({ json }) =>
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

/** A limit of an organization's own: its name and its number. */
const limitPattern = new RegExp(`^(${Object.keys(RateLimits.fields).join("|")})=([1-9]\\d{0,8})$`)

const setPlan = Command.make(
  "set-plan",
  {
    organization,
    plan: Flag.Literals("plan", Plan.literals).pipe(Flag.withDescription("The plan whose rate limits hold for it")),
    limits: Flag.String("limit").pipe(
      Flag.withDescription(
        "A limit agreed with an enterprise organization, such as adminApiPerMinute=5000; any number of them. They take the " +
          "place of those it had; what is not named is unlimited. Without any it keeps those it had"
      ),
      Flag.atLeast(0),
      Flag.filter(
        (limits) => limits.every((limit) => limitPattern.test(limit)),
        () => `a name and a number from 1 on, the name one of ${Object.keys(RateLimits.fields).join(", ")}`
      ),
      Flag.map((limits) => Object.fromEntries(limits.map(numbered)))
    )
  },
  ({ organization, plan, limits }) =>
    Effect.gen(function* () {
      const changes = yield* OrganizationChanges
      const own = Object.keys(limits).length > 0 ? limits : undefined
      const { name } = yield* changes.setPlan(organization, "operator", plan, own)
      yield* Console.log(`The organization "${name}" is on the ${plan} plan.`)
    }).pipe(Effect.uninterruptible, refused(organization), Effect.provide(changing), interruptible)
).pipe(
  Command.withDescription(
    "Put an organization on a plan. Its rate limits hold in every running server by then. Works beside running servers."
  ),
  Command.withExamples([
    {
      command: "usher organizations set-plan --organization 0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a --plan starter",
      description: "With the plan's own limits"
    },
    {
      command:
        "usher organizations set-plan --organization 0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a --plan enterprise " +
        "--limit adminApiPerMinute=5000 --limit consumerApiPerMinute=100000",
      description: "With limits that were agreed"
    }
  ])
)

/** The command with its subcommands. */
export const command = Command.make("organizations").pipe(
  Command.withDescription("The organizations that this installation serves"),
  Command.withSubcommands([create, list, setPlan])
)
