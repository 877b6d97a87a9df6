/** A server on the measured database. */
import { freePort, start, untilReady } from "../setup/Processes.ts"
import { mainScript, usherEnvironment } from "../programs/Usher.ts"

export interface Server {
  /** The base URL of the Admin API. */
  readonly api: string
  /** The URL of its OpenAPI description. */
  readonly description: string
  stop(): Promise<void>
}

/** The server needs some time to read a million places. */
const readySecondsMax = 120

/** Starts a server on the database at `url`. Its log goes into `logDirectory`. */
export async function serve(url: string, logDirectory: string): Promise<Server> {
  const environment = await usherEnvironment(url)
  const server = start({
    name: "lists",
    command: process.execPath,
    arguments: [mainScript, "serve"],
    environment: { NODE_ENV: "production", CONSUMER_PORT: String(await freePort()), ...environment },
    logDirectory
  })
  const admin = `http://127.0.0.1:${environment["ADMIN_PORT"]}`
  await untilReady(server, async () => (await fetch(`${admin}/ready`)).status === 200, readySecondsMax)
  return { api: `${admin}/api`, description: `${admin}/openapi.json`, stop: server.stop }
}
