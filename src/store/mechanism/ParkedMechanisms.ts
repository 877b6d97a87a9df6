/**
 * The parked mechanisms, as their processes recorded them. Operators read them, and request that all processes restart
 * one.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlSchema } from "effect/sql"
import { Invalidations } from "../coordination/Invalidations.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import { orUnavailable } from "../postgres/SqlFailure.ts"

/** Characters of an error that are stored. */
const causeMax = 2_000

const ParkedMechanism = Schema.Struct({
  mechanismId: Schema.String,
  kind: Schema.String,
  organizationId: Schema.String,
  mode: Schema.Literals(["test", "live"]),
  /** The process that parked it. */
  node: Schema.String,
  parkedAt: Schema.Date,
  /** The number of earlier rebuilds. */
  restarts: Schema.Int,
  /** The text of its last error. */
  cause: Schema.String
})
export type ParkedMechanism = typeof ParkedMechanism.Type

/** The record that a process writes for a mechanism that it has parked. */
export interface Parking extends Pick<ParkedMechanism, "mechanismId" | "restarts" | "cause"> {}

export class ParkedMechanisms extends Context.Service<
  ParkedMechanisms,
  {
    /** Returns the parked mechanisms, the latest first. */
    readonly list: Effect.Effect<ReadonlyArray<ParkedMechanism>, Unavailable>
    /** Replaces the recorded parked mechanisms of the process `node`. */
    replace(node: string, parked: ReadonlyArray<Parking>): Effect.Effect<void, Unavailable>
    /**
     * Requests that every process restart the mechanism, and runs `record` in the same transaction. Returns false if no
     * process has parked it.
     */
    unpark(mechanismId: string, record?: Effect.Effect<void, Unavailable>): Effect.Effect<boolean, Unavailable>
  }
>()("usher/store/mechanism/ParkedMechanisms") {
  static readonly layer = Layer.effect(ParkedMechanisms)(
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const invalidations = yield* Invalidations

      const select = SqlSchema.findAll({
        Request: Schema.Void,
        Result: ParkedMechanism,
        execute: () => sql`
          select mechanism_id as "mechanismId", kind, organization_id as "organizationId", mode, node, parked_at as "parkedAt", restarts, cause
          from parked_mechanisms join mechanisms on id = mechanism_id
          order by parked_at desc, mechanism_id`
      })

      const replace = Effect.fn("ParkedMechanisms.replace")(function* (node: string, parked: ReadonlyArray<Parking>) {
        const ids = parked.map(({ mechanismId }) => mechanismId)
        yield* sql`delete from parked_mechanisms where node = ${node} and mechanism_id <> all(${ids}::uuid[])`
        for (const { mechanismId, restarts, cause } of parked) {
          yield* sql`
            insert into parked_mechanisms (mechanism_id, node, parked_at, restarts, cause)
            values (${mechanismId}, ${node}, now(), ${restarts}, ${cause.slice(0, causeMax)})
            on conflict (mechanism_id) do update
            set node = excluded.node, parked_at = excluded.parked_at, restarts = excluded.restarts, cause = excluded.cause`
        }
      }, orUnavailable)

      const unpark = Effect.fn("ParkedMechanisms.unpark")(
        function* (mechanismId: string, record: Effect.Effect<void, Unavailable> = Effect.void) {
          const removed = yield* sql`delete from parked_mechanisms where mechanism_id = ${mechanismId} returning 1`
          yield* record
          yield* invalidations.publish("unpark", mechanismId)
          return removed.length > 0
        },
        sql.withTransaction,
        orUnavailable
      )

      return {
        list: select().pipe(
          Effect.catchTag("SchemaError", (error) => Effect.die(error)),
          orUnavailable
        ),
        replace,
        unpark
      }
    })
  )
}
