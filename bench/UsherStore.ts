/** Usher's own store on a database, without the rest of Usher. */
import { Effect, Layer, Option, Redacted } from "effect"
import { NodeServices } from "@effect/platform-node"
import { deciders } from "../src/domain/Mechanism.ts"
import { Settings } from "../src/Settings.ts"
import * as Database from "../src/store/Database.ts"
import type { Journal } from "../src/store/Journal.ts"
import { codecs } from "../src/store/JournalCodec.ts"
import * as JournalSql from "../src/store/JournalSql.ts"

/** Runs an effect with the journal of the database at `url`. */
export function withJournal<A, E>(url: string, effect: Effect.Effect<A, E, Journal>): Promise<A> {
  const settings = Settings.layerTest({ databaseUrl: Option.some(Redacted.make(url)) })
  const store = JournalSql.layer({ codecs: codecs(deciders) }).pipe(
    Layer.provide(Database.layer),
    Layer.provide(settings),
    Layer.provide(NodeServices.layer)
  )
  return Effect.runPromise(Effect.provide(effect, store))
}
