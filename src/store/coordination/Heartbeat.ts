/**
 * The heartbeat of a serving process. Every two seconds it updates the process's row in `nodes`, on its own
 * connection, so that no load can delay it. Other programs see that the process is alive, and do not change the
 * schema under it. A load balancer learns whether the database takes writes, and the process itself learns that the
 * database is away.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Schedule } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, type SqlError } from "effect/sql"
import { randomUUID } from "node:crypto"
import type { StartRefused } from "../../settings/Settings.ts"
import { Availability } from "./Availability.ts"
import * as BoundedClient from "../postgres/BoundedClient.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import * as Migrations from "../postgres/Migrations.ts"
import * as Nodes from "./Nodes.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"

/** Time between two updates. */
const beatSeconds = 2

/** How long one update may take. */
const bounds = { connectionMillis: 2_000, statementMillis: 3_000 }

/** How long a stopping process waits until its row is removed. */
const leaveSeconds = 1

export class Heartbeat extends Context.Service<
  Heartbeat,
  {
    /** The id of this process's row. */
    readonly id: string
    /** Returns why the last update failed; undefined while the database takes updates. Reads memory only. */
    readonly problem: () => string | undefined
    /** Records that this process is a node of a cluster. */
    join(membership: Nodes.Membership): Effect.Effect<void, Unavailable>
  }
>()("usher/store/coordination/Heartbeat") {
  /** Inserts a row for the process called `name`, and keeps it up to date while the scope lives. */
  static readonly layer = ({ name }: { readonly name: string }) =>
    Layer.effect(
      Heartbeat,
      Effect.gen(function* () {
        const { config } = yield* PgClient.PgClient
        const availability = yield* Availability
        const sql = yield* BoundedClient.make({
          ...config,
          connectTimeout: bounds.connectionMillis,
          minConnections: 0,
          maxConnections: 1
        }).pipe(Effect.provide(Reactivity.layer))
        const onOwnConnection = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
          effect.pipe(
            Effect.provideService(SqlClient.SqlClient, sql),
            Effect.provideService(BoundedClient.CurrentBounds, bounds)
          )

        const id = randomUUID()
        let membership: Nodes.Membership | undefined
        let problem: string | undefined

        const enter = Migrations.whileCurrent(
          Effect.gen(function* () {
            yield* Nodes.enter({ id, name, schemaStep: Migrations.latest })
            if (membership !== undefined) yield* Nodes.join(id, membership)
          })
        )

        /** After a long silence the row may have been removed, and the schema may have changed. */
        const beat = Effect.gen(function* () {
          const { isThere, step } = yield* Nodes.beat(id)
          if (!isThere && step === Migrations.latest) yield* enter
          return Migrations.problemOf(step ?? 0)
        })

        const noted = Effect.matchEffect(beat, {
          onSuccess: (found) =>
            Effect.sync(() => {
              problem = found
              availability.isAway = false
            }),
          onFailure: (error) =>
            Effect.sync(() => {
              const refusal = refusalOf(error)
              problem = refusal ?? "out of reach"
              availability.isAway = refusal === undefined
            })
        })

        yield* onOwnConnection(enter)
        yield* Effect.addFinalizer(() =>
          onOwnConnection(Nodes.leave(id)).pipe(Effect.timeoutOption(`${leaveSeconds} seconds`), Effect.ignore)
        )
        yield* onOwnConnection(noted).pipe(Effect.repeat(Schedule.spaced(`${beatSeconds} seconds`)), Effect.forkScoped)

        return {
          id,
          problem: () => problem,
          join: (joined) =>
            onOwnConnection(sql.withTransaction(Nodes.join(id, joined))).pipe(
              Effect.tap(() => Effect.sync(() => void (membership = joined))),
              orUnavailable
            )
        }
      })
    )
}

/** Returns why the server refused the update; undefined if the server did not answer. */
const refusalOf = (error: SqlError.SqlError | StartRefused): string | undefined => {
  if (error._tag === "StartRefused") return error.message
  if (BoundedClient.isConnectionLost(error)) return undefined
  const { cause } = error.reason
  return `takes no writes: ${cause instanceof Error ? cause.message : error.message}`
}
