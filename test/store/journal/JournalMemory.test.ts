import { Effect, Layer } from "effect"
import * as JournalMemory from "../../../src/store/journal/JournalMemory.ts"
import { Rows } from "./journalSamples.ts"
import { journalSuite } from "./journalSuite.ts"

const rows = Layer.effect(
  Rows,
  Effect.map(JournalMemory.Tables, (tables) => ({
    places: (id: string) => Effect.sync(() => tables.get(id)?.places ?? new Map()),
    record: (id: string) => Effect.sync(() => tables.get(id)?.record)
  }))
)

journalSuite("Journal in memory", Layer.provideMerge(rows, JournalMemory.layer))
