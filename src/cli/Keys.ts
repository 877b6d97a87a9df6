/**
 * `usher keys`: shows and replaces an organization's API keys, for the operator. An organization that lost its secret
 * key gets a new one this way.
 */
import { Console, Effect, Layer } from "effect"
import { Command, Flag } from "effect/cli"
import { ApiKeys } from "../auth/keys/ApiKeys.ts"
import { OrganizationKeys, type RotatedKey, type ShownKey } from "../auth/keys/OrganizationKeys.ts"
import { Mode } from "../domain/values/Ids.ts"
import { toText } from "../domain/values/Time.ts"
import { SecurityEvents } from "../store/organization/SecurityEvents.ts"
import { examples, json, organization, refused } from "./runtime/Arguments.ts"
import * as Environment from "./runtime/Environment.ts"
import { interruptible } from "./runtime/Signals.ts"
import { KeyKind } from "../domain/organization/ApiKey.ts"

const keys = Layer.merge(OrganizationKeys.layer, SecurityEvents.layer).pipe(
  Layer.provide(ApiKeys.layer),
  Layer.provide(Environment.withNotifications)
)

const list = Command.make("list", { organization, json }, ({ organization, json }) =>
  Effect.gen(function* () {
    const found = yield* (yield* OrganizationKeys).ofOrganization(organization)
    const shown = found.map(({ createdAt, ...key }) => ({ ...key, createdAt: toText(createdAt) }))
    yield* Console.log(json ? JSON.stringify(shown) : found.map(readable).join("\n"))
  }).pipe(refused(organization), Effect.provide(keys), interruptible)
).pipe(
  Command.withDescription("Show an organization's API keys by their ends, never whole. Works while servers run."),
  examples("usher keys list --organization 0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a")
)

const rotate = Command.make(
  "rotate",
  {
    organization,
    kind: Flag.Literals("kind", KeyKind.literals).pipe(Flag.withDescription("Which of the two keys is replaced")),
    mode: Flag.Literals("mode", Mode.literals).pipe(Flag.withDescription("The live or the test pair of keys")),
    json
  },
  ({ organization, kind, mode, json }) =>
    Effect.gen(function* () {
      const tenant = { organizationId: organization, mode } as const
      const rotated = yield* (yield* OrganizationKeys).rotate(tenant, kind, "operator")
      yield* (yield* SecurityEvents).record(tenant, { type: "key_rotation", details: { kind, by: "operator" } })
      yield* Console.log(json ? machineReadable(rotated) : announced(rotated))
    }).pipe(Effect.uninterruptible, refused(organization), Effect.provide(keys), interruptible)
).pipe(
  Command.withDescription(
    "Replace an API key and print the new one, which cannot be shown again. By then no running server accepts the " +
      "former key. Works while servers run."
  ),
  Command.withExamples([
    {
      command: "usher keys rotate --organization 0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a --kind secret --mode live",
      description: "For people"
    },
    {
      command:
        "usher keys rotate --organization 0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a --kind publishable --mode test --json",
      description: "For scripts"
    }
  ])
)

/** The command with its subcommands. */
export const command = Command.make("keys").pipe(
  Command.withDescription("The API keys of organizations"),
  Command.withSubcommands([list, rotate])
)

const readable = ({ kind, mode, display, createdAt }: ShownKey): string =>
  `  ${mode.padEnd(4)}  ${kind.padEnd(11)}  ${display}  since ${toText(createdAt)}`

const announced = ({ kind, mode, key }: RotatedKey): string =>
  [
    `The new ${kind} key, ${mode} mode:`,
    "",
    `  ${key}`,
    "",
    "  Keep it: only its hash is stored, and it is not shown again. The former key has stopped working."
  ].join("\n")

const machineReadable = ({ createdAt, ...rotated }: RotatedKey): string =>
  JSON.stringify({ ...rotated, createdAt: toText(createdAt) })
