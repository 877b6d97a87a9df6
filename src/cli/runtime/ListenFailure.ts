/** Why the APIs cannot listen, as the operator reads it. */
import { Effect } from "effect"
import type { HttpServerError } from "effect/http"
import { Settings, StartRefused } from "../../settings/Settings.ts"

interface ListenFailure {
  readonly code?: string
  readonly port?: number
  /** The address, or the host name that does not resolve. */
  readonly address?: string
  readonly hostname?: string
  readonly message: string
}

/** True if another process has the port. */
export const isTaken = ({ cause }: HttpServerError.ServeError) => (cause as ListenFailure).code === "EADDRINUSE"

/** Explains why a port cannot be listened on, and how to fix it. */
export const notListening = Effect.fnUntraced(function* ({ cause }: HttpServerError.ServeError) {
  const { code, port, address, hostname, message } = cause as ListenFailure
  const settings = yield* Effect.provide(Settings, Settings.layer)
  const isAdminHost = settings.adminHost !== settings.host && (address ?? hostname) === settings.adminHost
  const isAdminPort = port === settings.adminPort && (port !== settings.consumerPort || isAdminHost)
  const [hostVariable, host] = isAdminHost ? ["ADMIN_HOST", settings.adminHost] : ["HOST", settings.host]
  const variable = isAdminPort ? "ADMIN_PORT" : "CONSUMER_PORT"
  const problems: { readonly [code: string]: string } = {
    EADDRINUSE: `${variable}: port ${port} of ${host} is taken by another process. End it, or set ${variable} to another port.`,
    EACCES: `${variable}: this user may not listen on port ${port}. Set ${variable} to a port above 1023.`,
    EADDRNOTAVAIL: `${hostVariable}: ${host} is not an address of this machine. Set ${hostVariable} to 127.0.0.1, 0.0.0.0 or one of its addresses.`,
    ENOTFOUND: `${hostVariable}: the name ${host} is unknown. Set ${hostVariable} to 127.0.0.1, 0.0.0.0 or one of this machine's addresses.`
  }
  return yield* new StartRefused({
    message: problems[code ?? ""] ?? `Cannot listen on ${host}, port ${port}: ${message}`
  })
})
