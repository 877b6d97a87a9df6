/** Usher's embedded Postgres server, in a temporary folder. */
import { NodeServices } from "@effect/platform-node"
import { Layer, ManagedRuntime, Redacted } from "effect"
import { join } from "node:path"
import { Settings } from "../../src/settings/Settings.ts"
import { EmbeddedPostgres } from "../../src/store/postgres/embedded/EmbeddedPostgres.ts"

export interface EmbeddedServer {
  readonly url: string
  stop(): Promise<void>
}

export async function startEmbedded(workDirectory: string): Promise<EmbeddedServer> {
  const settings = Settings.layerTest({ dataDir: join(workDirectory, "embedded") })
  const runtime = ManagedRuntime.make(
    EmbeddedPostgres.layer.pipe(Layer.provide(settings), Layer.provide(NodeServices.layer))
  )
  const server = await runtime.runPromise(EmbeddedPostgres)
  const password = encodeURIComponent(Redacted.value(server.password))
  return {
    url: `postgres://${server.username}:${password}@${server.host}:${server.port}/postgres`,
    stop: () => runtime.dispose()
  }
}
