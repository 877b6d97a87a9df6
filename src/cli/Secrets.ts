/** `usher secrets`: shows which secrets of the database are sealed, and seals them with the first key of SECRETS_KEY. */
import { Console, Effect } from "effect"
import { Command } from "effect/cli"
import { StartRefused } from "../settings/Settings.ts"
import { CurrentKeyring } from "../store/secrets/CurrentKeyring.ts"
import { list as listSecrets, type ListedSecret, sealAll } from "../store/secrets/SealedSecrets.ts"
import { example, examples, json, orDatabaseProblem } from "./runtime/Arguments.ts"
import * as Environment from "./runtime/Environment.ts"
import { interruptible } from "./runtime/Signals.ts"

const list = Command.make("list", { json }, ({ json }) =>
  Effect.gen(function* () {
    const secrets = yield* listSecrets
    yield* Console.log(json ? JSON.stringify(secrets) : secrets.map(readable).join("\n"))
  }).pipe(orDatabaseProblem, Effect.provide(Environment.withDatabase), interruptible)
).pipe(
  Command.withDescription("Show the secrets of the database and the key that sealed each, never their values"),
  examples("usher secrets list")
)

const seal = Command.make("seal", {}, () =>
  Effect.gen(function* () {
    const { current } = yield* CurrentKeyring
    if (current === undefined) return yield* new StartRefused({ message: needsKey })
    const sealed = yield* sealAll((done, total, secret) =>
      Console.log(`${done} of ${total}: ${readable(secret).trim()}`)
    )
    yield* Console.log(`All secrets are sealed with the key ${current.id}. ${sealed} were not before.`)
  }).pipe(orDatabaseProblem, Effect.provide(Environment.withDatabase), interruptible)
).pipe(
  Command.withDescription(
    "Seal every secret with the first key of SECRETS_KEY: unsealed ones, and those that a former key sealed. Shows " +
      "its progress. It can be interrupted and repeated, and works while servers run."
  ),
  example("SECRETS_KEY=$NEW,$FORMER usher secrets seal", "Change the key; the former one opens what it sealed")
)

/** The command with its subcommands. */
export const command = Command.make("secrets").pipe(
  Command.withDescription("The secrets in the database, and the key that seals them"),
  Command.withSubcommands([list, seal])
)

const needsKey =
  "SECRETS_KEY is not set, and sealing needs a key. Set it, or SECRETS_KEY_FILE, here and for every server: " +
  "`openssl rand -base64 32` makes one."

const readable = ({ name, sealedBy }: ListedSecret): string =>
  `  ${name}  ${sealedBy === null ? "not sealed" : `sealed with ${sealedBy}`}`
