/** Connections of tests to databases by their addresses. */
import type { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import * as BoundedClient from "../../../src/store/postgres/BoundedClient.ts"

/** Connects to a database by its address. */
export const connect = (url: string, maxConnections: number) =>
  BoundedClient.make({
    url: Redacted.make(url),
    maxConnections,
    connectTimeout: "1 minute",
    applicationName: "usher-test"
  }).pipe(Effect.provide(Reactivity.layer))

/** Runs statements on separate connections, for which it waits longer than requests do. */
export const onDatabase = <A, E>(
  url: string,
  use: (sql: PgClient.PgClient) => Effect.Effect<A, E>,
  maxConnections = 1
) =>
  Effect.scoped(Effect.flatMap(connect(url, maxConnections), use)).pipe(
    Effect.updateService(BoundedClient.CurrentBounds, (bounds) => ({ ...bounds, connectionMillis: 60_000 }))
  )

/** Returns the address of another database on the same server. */
export const databaseUrl = (serverUrl: string, name: string): string => {
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}
