import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Timestamp } from "../../../src/domain/values/Time.ts"
import { makeSettingsColumns } from "../../../src/store/records/SettingsColumns.ts"

const Settings = Schema.Struct({
  name: Schema.String,
  sourceId: Schema.optionalKey(Schema.String),
  syncedAt: Schema.optionalKey(Timestamp)
})

describe("The columns of settings", () => {
  const { settingsOf, shownOf } = makeSettingsColumns(Settings, { name: "name", sourceId: "source_id" })
  const syncedAt = "2026-01-02T03:04:05.000Z"

  it("are read together with the JSON value, without null columns", () => {
    const row = { name: "a", source_id: null, record: { syncedAt }, other: 1 }
    assert.deepStrictEqual(settingsOf(row), { name: "a", syncedAt: Date.parse(syncedAt) })
  })

  it("show null for each setting that is not set", () => {
    assert.deepStrictEqual(shownOf({ name: "a", source_id: "b", record: {} } as { readonly record: object }), {
      name: "a",
      sourceId: "b",
      syncedAt: null
    })
  })
})
