/** `usher signing-keys`: lists, rotates and removes the keys that sign tokens and admission grants. */
import { Console, Effect, Layer } from "effect"
import { Command, Flag } from "effect/cli"
import { type AcceptedKey, SigningKeyRotation } from "../auth/keys/SigningKeyRotation.ts"
import { toText } from "../domain/values/Time.ts"
import { StartRefused } from "../settings/Settings.ts"
import { example, examples, json, orDatabaseProblem } from "./runtime/Arguments.ts"
import * as Environment from "./runtime/Environment.ts"
import { interruptible } from "./runtime/Signals.ts"

const rotation = Layer.provide(SigningKeyRotation.layer, Environment.withNotifications)

const list = Command.make("list", { json }, ({ json }) =>
  Effect.gen(function* () {
    const keys = yield* (yield* SigningKeyRotation).list
    yield* Console.log(json ? JSON.stringify(keys.map(toJson)) : keys.map(readable).join("\n"))
  }).pipe(orDatabaseProblem, Effect.provide(rotation), interruptible)
).pipe(
  Command.withDescription("Show the signing keys that are accepted, the current one first"),
  examples("usher signing-keys list")
)

const rotate = Command.make("rotate", { json }, ({ json }) =>
  Effect.gen(function* () {
    const key = yield* (yield* SigningKeyRotation).rotate
    yield* Console.log(
      json
        ? JSON.stringify(toJson(key))
        : `Every server signs with ${key.kid} now. Tokens and grants signed with the former key stay valid; \`usher ` +
            "signing-keys list` shows until when it is needed."
    )
  }).pipe(orDatabaseProblem, Effect.provide(rotation), interruptible)
).pipe(
  Command.withDescription(
    "Sign tokens and grants with a new key from now on, in every running server. The former key stays published and " +
      "accepted until it is removed. Works while servers run."
  ),
  examples("usher signing-keys rotate")
)

const remove = Command.make(
  "remove",
  {
    kid: Flag.String("kid").pipe(Flag.withDescription("The key's id, as `usher signing-keys list` shows it"))
  },
  ({ kid }) =>
    Effect.gen(function* () {
      yield* (yield* SigningKeyRotation).remove(kid)
      yield* Console.log(`No server accepts ${kid} any more.`)
    }).pipe(
      Effect.catchTag("NotRemovable", ({ reason }) =>
        Effect.fail(new StartRefused({ message: `--kid: ${problems[reason]}` }))
      ),
      orDatabaseProblem,
      Effect.provide(rotation),
      interruptible
    )
).pipe(
  Command.withDescription(
    "Remove a former signing key. Every running server then refuses tokens and grants that it signed. Sessions with " +
      "such tokens end. A grant is signed again when its consumer next reads its place."
  ),
  example(
    "usher signing-keys remove --kid 8QvjZk5lVgqfW0a1cVt4bV3S1jP2m0mQk1oTn5sRcXw",
    "A key that is no longer needed, or that may have been stolen"
  )
)

/** The command with its subcommands. */
export const command = Command.make("signing-keys").pipe(
  Command.withDescription("The keys that tokens and admission grants are signed with"),
  Command.withSubcommands([list, rotate, remove])
)

const problems = {
  unknown: "there is no such key. Run `usher signing-keys list` to see which there are.",
  current: "this is the current key. Run `usher signing-keys rotate` first, to sign with a new one."
} as const

const readable = ({ kid, createdAt, replacedAt, neededUntil }: AcceptedKey): string =>
  replacedAt === undefined || neededUntil === undefined
    ? `  ${kid}  current since ${toText(createdAt)}`
    : `  ${kid}  replaced at ${toText(replacedAt)}, needed for tokens until ${toText(neededUntil)}`

const toJson = ({ kid, createdAt, replacedAt, neededUntil }: AcceptedKey) => ({
  kid,
  isCurrent: replacedAt === undefined,
  createdAt: toText(createdAt),
  replacedAt: replacedAt === undefined ? null : toText(replacedAt),
  neededUntil: neededUntil === undefined ? null : toText(neededUntil)
})
