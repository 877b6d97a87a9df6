/**
 * `usher organizations`: creates organizations and prints their keys, which cannot be shown again; lists organizations;
 * and changes their plans.
 */
import { Clock, Console, Effect, Layer } from "effect"
import { Command, Flag } from "effect/cli"
import { ApiKeys } from "../auth/keys/ApiKeys.ts"
import { OrganizationChanges } from "../auth/keys/OrganizationChanges.ts"
import { type NewOrganization, Organizations } from "../auth/keys/Organizations.ts"
import { TokenLifetimes } from "../auth/tokens/TokenLifetimes.ts"
import { permissionMinutesMax, permissionPerSecondMax } from "../domain/organization/LoadTestPermission.ts"
import { Plan, RateLimits } from "../domain/organization/Plan.ts"
import { StartRefused } from "../settings/Settings.ts"
import type { Unavailable } from "../store/postgres/Unavailable.ts"
import { examples, json, organization, refused } from "./runtime/Arguments.ts"
import * as Environment from "./runtime/Environment.ts"
import { interruptible } from "./runtime/Signals.ts"

/** Formats the keys for people, one on a line. */
export const readable = (organization: NewOrganization): string =>
  [
    `  Organization          ${organization.organizationId}`,
    `  Publishable key       ${organization.publishableKey}`,
    `  Secret key            ${organization.secretKey}`,
    `  Publishable test key  ${organization.testPublishableKey}`,
    `  Secret test key       ${organization.testSecretKey}`,
    "",
    "  The secret key signs in to the dashboard, and the secret test key to its test mode.",
    "  Keep the keys: only their hashes are stored, and they are not shown again."
  ].join("\n")

/** Formats the keys as one line of JSON with exactly these five members, for scripts. */
export const machineReadable = (organization: NewOrganization): string => {
  const { organizationId, publishableKey, secretKey, testPublishableKey, testSecretKey } = organization
  return JSON.stringify({ organizationId, publishableKey, secretKey, testPublishableKey, testSecretKey })
}

/** The service that creates and lists organizations. */
const reading = Organizations.layer.pipe(Layer.provideMerge(Environment.withDatabase))

/** Turns a database failure into a message that begins with `problem`. */
const orNot =
  (problem: string) =>
  <A, R>(effect: Effect.Effect<A, Unavailable, R>) =>
    Effect.mapError(effect, ({ cause }) => new StartRefused({ message: `${problem}: ${String(cause)}` }))

/** The services that change an organization and notify running servers. */
const changing = OrganizationChanges.layer.pipe(
  Layer.provide(Layer.merge(ApiKeys.layer, TokenLifetimes.layer)),
  Layer.provide(Environment.withNotifications)
)

/** Parses one limit into its name and number. */
const numbered = (limit: string): readonly [string, number] => {
  const [name, number] = limit.split("=") as [string, string]
  return [name, Number(number)]
}

const create = Command.make(
  "create",
  {
    name: Flag.String("name").pipe(
      Flag.withDescription("The organization's name, 1 to 200 characters"),
      Flag.filter(
        (name) => /^(?=.*\S)\P{Cc}{1,200}$/u.test(name),
        () => "a name of 1 to 200 printable characters"
      )
    ),
    plan: Flag.Literals("plan", ["starter", "growth", "enterprise"]).pipe(
      Flag.withDescription("The plan, which sets the rate limits"),
      Flag.withDefault("growth")
    ),
    json
  },
  ({ name, plan, json }) =>
    Effect.gen(function* () {
      const organizations = yield* Organizations
      const made = yield* organizations.create({ name, plan })
      yield* Console.log(
        json ? machineReadable(made) : `Created the organization "${name}" on the ${plan} plan.\n\n${readable(made)}`
      )
    }).pipe(orNot("The organization could not be created"), Effect.provide(reading), interruptible)
).pipe(
  Command.withDescription("Create an organization and print its keys. Works while servers run."),
  examples('usher organizations create --name "Atelier Nord" --plan growth')
)

const list = Command.make("list", { json }, ({ json }) =>
  Effect.gen(function* () {
    const all = yield* (yield* Organizations).all
    yield* Console.log(
      json ? JSON.stringify(all) : all.map(({ id, name, plan }) => `  ${id}  ${plan.padEnd(10)}  ${name}`).join("\n")
    )
  }).pipe(orNot("The organizations could not be read"), Effect.provide(reading), interruptible)
).pipe(
  Command.withDescription("Show the organizations: their ids, plans and names. Works while servers run."),
  examples("usher organizations list")
)

/** True for a limit: its name and its number. */
const isLimit = (text: string): boolean => {
  const name = /^(\w+)=[1-9]\d{0,8}$/.exec(text)?.[1]
  return name !== undefined && Object.hasOwn(RateLimits.fields, name)
}

const setPlan = Command.make(
  "set-plan",
  {
    organization,
    plan: Flag.Literals("plan", Plan.literals).pipe(Flag.withDescription("The plan, which sets the rate limits")),
    limits: Flag.String("limit").pipe(
      Flag.withDescription(
        "A limit agreed with an enterprise organization, such as adminApiPerMinute=5000; may be repeated. The given " +
          "limits replace the former ones, and all others are unlimited. Without this flag the former limits stay"
      ),
      Flag.atLeast(0),
      Flag.filter(
        (limits) => limits.every(isLimit),
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
    "Change an organization's plan. When the command ends, every running server applies the plan's rate limits."
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
      description: "With agreed limits"
    }
  ])
)

const allowLoad = Command.make(
  "allow-load",
  {
    organization,
    minutes: Flag.Int("minutes").pipe(
      Flag.withDescription(`For how many minutes, 1 to ${permissionMinutesMax}; 0 withdraws an earlier permission`),
      Flag.filter(
        (minutes) => minutes >= 0 && minutes <= permissionMinutesMax,
        () => `a whole number from 0 to ${permissionMinutesMax}`
      )
    ),
    perSecond: Flag.Int("per-second").pipe(
      Flag.withDescription("Requests a second of the Consumer API"),
      Flag.filter(
        (perSecond) => perSecond >= 1 && perSecond <= permissionPerSecondMax,
        () => `a whole number from 1 to ${permissionPerSecondMax}`
      )
    )
  },
  ({ organization, minutes, perSecond }) =>
    Effect.gen(function* () {
      const until = (yield* Clock.currentTimeMillis) + minutes * 60_000
      const { name } = yield* (yield* OrganizationChanges).allowLoad(organization, "operator", { until, perSecond })
      yield* Console.log(
        minutes === 0
          ? `The organization "${name}" has no permission to be loaded any more.`
          : `The test keys of "${name}" may make ${perSecond} requests a second until ${new Date(until).toISOString()}.`
      )
    }).pipe(Effect.uninterruptible, refused(organization), Effect.provide(changing), interruptible)
).pipe(
  Command.withDescription(
    "Lift the limits of an organization's test mode for `usher load`. Live mode keeps its limits. When the command " +
      "ends, every running server applies it."
  ),
  Command.withExamples([
    {
      command:
        "usher organizations allow-load --organization 0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a --minutes 60 --per-second 5000",
      description: "For an hour"
    }
  ])
)

/** The command with its subcommands. */
export const command = Command.make("organizations").pipe(
  Command.withDescription("The organizations that this installation serves"),
  Command.withSubcommands([create, list, setPlan, allowLoad])
)
