import { assert, describe, it } from "@effect/vitest"
import { readdirSync, readFileSync } from "node:fs"
import { actorDeciders, type Kind } from "../../../src/domain/mechanism/Mechanism.ts"
import { release } from "../../../src/domain/values/Release.ts"
import { casesOf, digestOf, eventsOf, type Recording, rowsOf } from "./replay.ts"

const folder = new URL("./", import.meta.url)
const recordings = readdirSync(folder)
  .filter((name) => name.startsWith("level"))
  .flatMap((level) => readdirSync(new URL(`${level}/`, folder)).map((name) => `${level}/${name}`))
  .map((name): readonly [string, Recording] => [name, JSON.parse(readFileSync(new URL(name, folder), "utf8"))])

describe("a journal that a release has recorded", () => {
  for (const [name, { kind, journals }] of recordings) {
    it(`is read and replayed with the same result: ${name}`, () => {
      assert.isNotEmpty(journals)
      for (const { digest, events: rows } of journals) {
        const events = eventsOf(kind, rows)
        assert.strictEqual(digestOf(kind, events), digest)
        assert.deepStrictEqual(JSON.parse(JSON.stringify(rowsOf(kind, events))), rows)
      }
    })
  }

  for (const kind of Object.keys(actorDeciders) as ReadonlyArray<Kind>) {
    it(`has every type of event: ${kind}`, () => {
      const own = recordings.filter(([, recording]) => recording.kind === kind)
      const found = new Set(
        own.flatMap(([, { journals }]) => journals.flatMap(({ events }) => events.map(([type]) => type)))
      )
      // A type that is missing: run `npm run record:journals` at the release that begins to write it.
      assert.deepStrictEqual([...found].toSorted(), Object.keys(casesOf(kind)).toSorted())
    })
  }

  it("exists for every level up to that of this release", () => {
    const levels = new Set(recordings.map(([, { level }]) => level))
    const [, max] = release.level
    assert.deepStrictEqual(
      [...levels].toSorted((a, b) => a - b),
      Array.from({ length: max }, (_, index) => index + 1)
    )
  })
})
