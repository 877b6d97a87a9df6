/** The keys of this process that seal stored secrets (`SECRETS_KEY`). */
import { Context, Effect, Layer, Redacted, Result } from "effect"
import { readFileSync } from "node:fs"
import { bytesOf, type KeyText, parseKeys } from "../../settings/SecretsKey.ts"
import { Settings, StartRefused } from "../../settings/Settings.ts"
import { type Keyring, keyOf, keyringOf } from "./Sealing.ts"

/** The keyring. Without the layer it is empty: secrets are stored unsealed, and sealed ones cannot be read. */
export const CurrentKeyring = Context.Reference<Keyring>("usher/store/secrets/CurrentKeyring", {
  defaultValue: () => keyringOf([])
})

/** Reads the keys from the settings, or from the file that they name. A file that cannot be used stops the start. */
export const layer = Layer.effect(
  CurrentKeyring,
  Effect.gen(function* () {
    const { secretsKeys, secretsKeyFile } = yield* Settings
    const keys = secretsKeyFile === undefined ? secretsKeys : yield* readKeyFile(secretsKeyFile)
    return keyringOf(keys.map((text) => keyOf(bytesOf(Redacted.value(text))!)))
  })
)

const readKeyFile = Effect.fnUntraced(function* (path: string): Effect.fn.Return<ReadonlyArray<KeyText>, StartRefused> {
  const text = Result.try({
    try: () => readFileSync(path, "utf8"),
    catch: (error) => (error instanceof Error ? error.message : String(error))
  })
  if (Result.isFailure(text)) {
    return yield* new StartRefused({
      message: `SECRETS_KEY_FILE: ${path} cannot be read: ${text.failure}. Correct the path.`
    })
  }
  const keys = parseKeys(text.success)
  if (keys !== undefined) return keys
  return yield* new StartRefused({
    message: `SECRETS_KEY_FILE: ${path} must have 32 random bytes, as Base64 or 64 hexadecimal digits, in each line.`
  })
})
