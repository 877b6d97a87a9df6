/** Compiled encoders against the schemas that they are compiled from. */
import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { Id } from "../../../src/domain/values/Ids.ts"
import { SentTimestamp } from "../../../src/domain/values/Time.ts"
import { compileEncoder } from "../../../src/http/direct/JsonEncoder.ts"
import { ConsumerApi } from "../../../src/api/consumer/ConsumerApi.ts"

/** The answers of every operation of the Consumer API. */
const answers = Object.values(ConsumerApi.groups).flatMap((group) =>
  (Object.values(group.endpoints) as ReadonlyArray<HttpApiEndpoint.Top>).flatMap((endpoint) =>
    [...endpoint.success].map((schema) => ({ name: `${group.identifier}.${endpoint.identifier}`, schema }))
  )
)

/** The text that HttpApi writes. */
const interpreted = (schema: Schema.Top) => {
  const encode = Schema.encodeUnknownSync(Schema.toCodecJson(schema as Schema.Codec<unknown, unknown>))
  return (value: unknown) => JSON.stringify(encode(value))
}

describe("A compiled encoder", () => {
  const compiled = answers.flatMap(({ name, schema }) => {
    const encode = compileEncoder(schema)
    return encode === undefined ? [] : [{ name, schema, encode }]
  })

  it("exists for the answers of a drop", () => {
    const names = compiled.map(({ name }) => name)
    for (const group of ["queues", "draws", "auctions", "timedReleases", "waitlists"])
      for (const operation of ["status", "enter", "leave", "bid"])
        if (answers.some(({ name }) => name === `${group}.${operation}`)) assert.include(names, `${group}.${operation}`)
    for (const operation of ["guest", "refresh"]) assert.include(names, `auth.${operation}`)
    for (const operation of ["me", "book", "cancel"]) assert.include(names, `appointments.${operation}`)
  })

  for (const { name, schema, encode } of compiled) {
    const encodeInterpreted = interpreted(schema)
    it.prop(`writes what the schema does: ${name}`, [schema], ([value]) => {
      assert.strictEqual(
        encode(value),
        attempt(() => encodeInterpreted(value))
      )
    })
  }

  it("does not exist for a stream", () => {
    assert.notInclude(
      compiled.map(({ name }) => name),
      "queues.events"
    )
  })

  const Answer = Schema.Struct({
    id: Id,
    count: Schema.Int,
    at: Schema.optionalKey(SentTimestamp),
    tags: Schema.Array(Schema.NullOr(Schema.String))
  })
  const value = { id: "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a", count: 1, at: 0, tags: ['\u2028"☂', null] }

  it("leaves out fields that the schema does not have", () => {
    const encode = compileEncoder(Answer)!
    assert.strictEqual(encode({ ...value, secret: 1 }), interpreted(Answer)({ ...value, secret: 1 }))
  })

  it.each([
    { count: 1.5 },
    { count: Number.NaN },
    { count: "1" },
    { id: "x" },
    { at: undefined },
    { tags: [1] },
    { tags: {} },
    { count: undefined }
  ])("refuses what the schema refuses: %o", (wrong) => {
    const encode = compileEncoder(Answer)!
    assert.isUndefined(attempt(() => interpreted(Answer)({ ...value, ...wrong })))
    assert.isUndefined(encode({ ...value, ...wrong }))
  })

  it("does not exist for a schema with parts that it does not cover", () => {
    assert.isUndefined(compileEncoder(Schema.Record(Schema.String, Schema.Int)))
    assert.isUndefined(compileEncoder(Schema.Struct({ any: Schema.Unknown })))
  })
})

/** The result, or undefined if the function throws. */
const attempt = <A>(make: () => A): A | undefined => {
  try {
    return make()
  } catch {
    return undefined
  }
}
