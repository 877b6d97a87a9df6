import { assert, describe, it } from "@effect/vitest"
import { SchemaAST } from "effect"
import { deciders, type Kind } from "../../../src/domain/mechanism/Mechanism.ts"
import { descriptionOf, eventsFor, eventTypes, reportedEvents } from "../../../src/domain/webhook/Catalogue.ts"
import { changesFor } from "../../../src/domain/webhook/RecordCatalogue.ts"

const kinds = Object.keys(reportedEvents) as ReadonlyArray<Kind>

/** The tags of a union of tagged structs. */
const tagsOf = (ast: SchemaAST.AST): ReadonlyArray<unknown> =>
  SchemaAST.isUnion(ast) ? ast.types.flatMap((member) => member.annotations?.["identifier"] ?? tagOf(member)) : []

const tagOf = (member: SchemaAST.AST): unknown => {
  const tag = SchemaAST.isObjects(member)
    ? member.propertySignatures.find(({ name }) => name === "_tag")?.type
    : undefined
  return tag !== undefined && SchemaAST.isLiteral(tag) ? tag.literal : undefined
}

describe("The catalogue of events", () => {
  it("names only events that the kind has, and only types with a description", () => {
    for (const kind of kinds) {
      const known = tagsOf(deciders[kind].event.ast)
      for (const [event, row] of Object.entries(reportedEvents[kind])) {
        assert.include(known, event, kind)
        for (const { type } of row) assert.include(eventTypes, type)
      }
    }
  })

  it("finds the events that lead to a type", () => {
    assert.deepStrictEqual(eventsFor("auction", ["distribution.updated"]), ["Configured", "Extended"])
    assert.deepStrictEqual(eventsFor("waitlist", ["distribution.bid_placed"]), [])
  })

  it("describes each type with a sentence, and each type has an event", () => {
    for (const type of eventTypes) {
      assert.match(descriptionOf(type), /^(An?|The|Another|Fields|Deliveries) .*\.$/)
      assert.isNotEmpty([...kinds.flatMap((kind) => eventsFor(kind, [type])), ...changesFor([type])])
    }
  })
})
