/**
 * The conflict that prevents archiving of a sequence or an experience: it has mechanisms.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import type { SqlError } from "effect/sql/SqlError"
import type { Fragment } from "effect/sql/Statement"
import type { MechanismName } from "./Mechanisms.ts"

/** These mechanisms must be archived first. */
export interface HasMechanisms {
  readonly _tag: "HasMechanisms"
  readonly mechanisms: ReadonlyArray<MechanismName>
}

/** Returns the unarchived mechanisms that meet the condition. Undefined if there are none. */
export const findMechanisms = (
  sql: PgClient.PgClient,
  fits: Fragment
): Effect.Effect<HasMechanisms | undefined, SqlError> =>
  Effect.map(sql<MechanismName>`select id, kind from mechanisms where ${fits} and not archived`, (mechanisms) =>
    mechanisms.length === 0 ? undefined : { _tag: "HasMechanisms", mechanisms }
  )
