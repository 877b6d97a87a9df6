import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { currentPlaces } from "../../../src/store/journal/CurrentPlaces.ts"

/** Returns when the places of all mechanisms are written up to their last events. */
export const placesWritten = Effect.flatMap(PgClient.PgClient, (sql) => currentPlaces(sql, sql`true`))
