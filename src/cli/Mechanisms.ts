/**
 * `usher mechanisms`: shows the mechanisms that are parked because they kept failing, and restarts them, for operators.
 */
import { Console, Effect, Layer } from "effect"
import { Argument, Command } from "effect/cli"
import { StartRefused } from "../settings/Settings.ts"
import { type ParkedMechanism, ParkedMechanisms } from "../store/mechanism/ParkedMechanisms.ts"
import { TenantEvents } from "../store/organization/TenantEvents.ts"
import { example, examples, json, orDatabaseProblem } from "./runtime/Arguments.ts"
import * as Environment from "./runtime/Environment.ts"
import { interruptible } from "./runtime/Signals.ts"

const mechanisms = Layer.provide(Layer.merge(ParkedMechanisms.layer, TenantEvents.layer), Environment.withNotifications)

const parked = Command.make("parked", { json }, ({ json }) =>
  Effect.gen(function* () {
    const found = yield* (yield* ParkedMechanisms).list
    if (json) return yield* Console.log(JSON.stringify(found))
    yield* Console.log(found.length === 0 ? "No mechanism is parked." : found.map(readable).join("\n\n"))
  }).pipe(orDatabaseProblem, Effect.provide(mechanisms), interruptible)
).pipe(
  Command.withDescription(
    "Show the mechanisms that are parked because they kept failing, and their errors. All others keep running."
  ),
  examples("usher mechanisms parked")
)

const unpark = Command.make(
  "unpark",
  { mechanismId: Argument.String("mechanism").pipe(Argument.withDescription("The mechanism's id")) },
  ({ mechanismId }) =>
    Effect.gen(function* () {
      const parkedMechanisms = yield* ParkedMechanisms
      const parked = (yield* parkedMechanisms.list).find((parked) => parked.mechanismId === mechanismId.toLowerCase())
      if (parked === undefined) {
        return yield* new StartRefused({
          message: `No parked mechanism has the id ${mechanismId}. Run \`usher mechanisms parked\` to see which there are.`
        })
      }
      const record = (yield* TenantEvents).note(parked, "operator", parked.mechanismId, { action: "unpark" })
      yield* parkedMechanisms.unpark(parked.mechanismId, record)
      yield* Console.log(
        `${mechanismId} is started again. If it keeps failing, \`usher mechanisms parked\` shows it in a few seconds.`
      )
    }).pipe(orDatabaseProblem, Effect.provide(mechanisms), interruptible)
).pipe(
  Command.withDescription(
    "Start a parked mechanism again, in the process that owns it. Its organization's audit log names the operator."
  ),
  example("usher mechanisms unpark 0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a", "After the cause was fixed")
)

/** The command with its subcommands. */
export const command = Command.make("mechanisms").pipe(
  Command.withDescription("Parked mechanisms"),
  Command.withSubcommands([parked, unpark])
)

const readable = ({ mechanismId, kind, organizationId, node, parkedAt, restarts, cause }: ParkedMechanism): string =>
  [
    `${mechanismId}  ${kind} of the organization ${organizationId}`,
    `  parked by ${node} at ${parkedAt.toISOString()}, after ${restarts} restarts`,
    ...cause.split("\n").map((line) => `  ${line}`)
  ].join("\n")
