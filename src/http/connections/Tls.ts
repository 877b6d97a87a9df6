/** The certificate for HTTPS that the process serves itself. It is read once, at the start. */
import { Effect, Result } from "effect"
import { readFileSync } from "node:fs"
import { createSecureContext } from "node:tls"
import { Settings, StartRefused } from "../../settings/Settings.ts"

/**
 * The options for `node:https`; undefined if no certificate is set. The start fails if the certificate cannot be used.
 */
export const options = Effect.gen(function* () {
  const { tlsCertFile, tlsKeyFile } = yield* Settings
  if (tlsCertFile === undefined || tlsKeyFile === undefined) return undefined
  const cert = yield* read("TLS_CERT_FILE", tlsCertFile)
  const key = yield* read("TLS_KEY_FILE", tlsKeyFile)
  const material = { cert, key, minVersion: "TLSv1.2" } as const
  const context = Result.try({ try: () => createSecureContext(material), catch: reasonOf })
  if (Result.isFailure(context)) {
    return yield* new StartRefused({
      message:
        `TLS_CERT_FILE and TLS_KEY_FILE cannot be used together: ${context.failure}. ` +
        "They must be a certificate chain and its private key in PEM, the key without a passphrase."
    })
  }
  return material
})

const read = (variable: string, path: string) =>
  Effect.mapError(
    Effect.fromResult(Result.try({ try: () => readFileSync(path), catch: reasonOf })),
    (reason) => new StartRefused({ message: `${variable}: ${path} cannot be read: ${reason}. Correct the path.` })
  )

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))
