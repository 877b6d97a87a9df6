/** Tests that each broken rule is found. `npm run check:api` checks the project's own descriptions. */
import { assert, describe, it } from "@effect/vitest"
import { lint } from "./rules/descriptions.ts"

const operation = {
  operationId: "find",
  summary: "Find a thing",
  security: [],
  responses: { 200: { description: "Found" }, 404: { description: "No such thing" } }
}

/** A description of one operation that breaks no rule, with changed parts. */
const described = (changes: object, parts: object = {}) => ({
  openapi: "3.1.0",
  info: { title: "A sample", version: "1.0.0", license: { name: "MIT", identifier: "MIT" } },
  servers: [{ url: "/" }],
  paths: { "/things": { get: { ...operation, ...changes } } },
  ...parts
})

const answering = (schema: object) => ({
  responses: {
    ...operation.responses,
    200: { description: "Found", content: { "application/json": { schema } } }
  }
})

const broken: { readonly [rule: string]: object } = {
  "operation-summary": described({ summary: undefined }),
  "operation-4xx-response": described({ responses: { 200: { description: "Found" } } }),
  "no-unresolved-refs": described(answering({ $ref: "#/components/schemas/Thing" })),
  struct: described(answering({ type: "strnig" })),
  "security-defined": described({ security: [{ secretKey: [] }] }),
  "no-empty-servers": described({}, { servers: [] })
}

describe("a description of an API", () => {
  it("that breaks no rule passes; each that breaks one is found, and the rule named", () => {
    const sound = lint({ sound: described({}) })
    assert.isTrue(sound.isClean, sound.problems)
    for (const [rule, description] of Object.entries(broken)) {
      const { isClean, problems } = lint({ broken: description })
      assert.isFalse(isClean, rule)
      assert.include(problems, rule)
    }
  })
})
