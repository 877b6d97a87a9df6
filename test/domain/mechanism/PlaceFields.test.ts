/** The declared fields of places, compared with the places that recorded journals lead to. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { readFileSync } from "node:fs"
import { deciders, type Kind } from "../../../src/domain/mechanism/Mechanism.ts"
import { ownFields, statusesOf } from "../../../src/domain/mechanism/PlaceFields.ts"
import type { AnyDecider } from "../../../src/engine/actor/Batch.ts"
import { eventsOf, type Recording } from "../../engine/recorded/replay.ts"

const Fields = Schema.Struct(ownFields)

describe("A place in a list", () => {
  for (const kind of Object.keys(deciders) as ReadonlyArray<Kind>) {
    const decider: AnyDecider = deciders[kind]

    it(`has a declared status: ${kind}`, () => {
      assert.sameMembers([...statusesOf[kind]], Object.keys(decider.counts(decider.initial())))
    })

    it(`has declared fields alone, after each event of a recorded journal: ${kind}`, () => {
      const file = new URL(`../../engine/recorded/level1/${kind}.jsonl`, import.meta.url)
      const { journals }: Recording = JSON.parse(readFileSync(file, "utf8"))
      const seen = new Set<string>()
      for (const { events } of journals) {
        const state: unknown = decider.initial()
        for (const event of eventsOf(kind, events)) {
          decider.evolve(state, event)
          const place = event.consumerId === undefined ? undefined : decider.place(state, event.consumerId)
          if (place === undefined) continue
          // No answer shows these two.
          const { risk: _, bidOrder: __, ...fields } = { risk: undefined, bidOrder: undefined, ...place.fields }
          assert.deepStrictEqual(Schema.encodeUnknownSync(Fields)(fields), fields)
          seen.add(place.status)
        }
      }
      assert.sameMembers([...seen], [...statusesOf[kind]])
    })
  }
})
