/** Usher's store on a database, without the rest of Usher. */
import { Effect, Layer, Option, Redacted } from "effect"
import { NodeServices } from "@effect/platform-node"
import { actorDeciders } from "../../src/domain/mechanism/Mechanism.ts"
import { Settings } from "../../src/settings/Settings.ts"
import * as Database from "../../src/store/postgres/Database.ts"
import type { Journal } from "../../src/store/journal/Journal.ts"
import { codecs } from "../../src/store/journal/JournalCodec.ts"
import * as JournalSql from "../../src/store/journal/JournalSql.ts"

/** Runs an effect with the journal of the database at `url`. */
export function withJournal<A, E>(url: string, effect: Effect.Effect<A, E, Journal>): Promise<A> {
  const settings = Settings.layerTest({ databaseUrl: Option.some(Redacted.make(url)) })
  const store = JournalSql.layer({ codecs: codecs(actorDeciders) }).pipe(
    Layer.provide(Database.layer),
    Layer.provide(settings),
    Layer.provide(NodeServices.layer)
  )
  return Effect.runPromise(Effect.provide(effect, store))
}
