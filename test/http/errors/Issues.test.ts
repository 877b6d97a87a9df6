import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import { Amount, PositivePrice, Price } from "../../../src/domain/values/Amount.ts"
import { Id } from "../../../src/domain/values/Ids.ts"
import { Timestamp } from "../../../src/domain/values/Time.ts"
import { ValidationError } from "../../../src/api/Errors.ts"
import { issueAt, issuesMax, issuesOf } from "../../../src/http/errors/Issues.ts"

/** Returns the issues of decoding `input` with the schema, in the way that the APIs decode. */
const issues = (schema: Schema.Constraint, input: unknown) => {
  const decode = Schema.decodeUnknownResult(Schema.toCodecJson(schema as Schema.Codec<unknown>), { errors: "all" })
  const outcome = decode(input)
  return Result.isFailure(outcome) ? issuesOf(outcome.failure.issue, input) : []
}

/** Returns the parts of each issue without its path. */
const said = (schema: Schema.Constraint, value: unknown) =>
  issues(Schema.Struct({ field: schema as Schema.Codec<unknown> }), value === undefined ? {} : { field: value }).map(
    ({ kind, type, expected, received }) => [kind, type, expected, received]
  )

const wholeFrom1To10 = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 10 }))
const colour = Schema.Literals(["red", "blue"])

describe("An issue", () => {
  it("has exactly the documented fields", () => {
    assert.deepStrictEqual(issues(Schema.Struct({ name: Schema.String }), { name: 3, other: true }), [
      {
        kind: "schema",
        type: "string",
        expected: "string",
        received: "3",
        message: "Invalid type: Expected string but received 3",
        path: [{ type: "object", origin: "value", key: "name", input: { name: 3, other: true } }]
      }
    ])
  })

  it("names the expected type if the value has another type or is missing", () => {
    assert.deepStrictEqual(said(Schema.String, undefined), [["schema", "string", "string", "undefined"]])
    assert.deepStrictEqual(said(Schema.String, null), [["schema", "string", "string", "null"]])
    assert.deepStrictEqual(said(Schema.Boolean, "yes"), [["schema", "boolean", "boolean", '"yes"']])
    assert.deepStrictEqual(said(Schema.Int, "1"), [["schema", "number", "number", '"1"']])
    assert.deepStrictEqual(said(Schema.Int, undefined), [["schema", "number", "number", "undefined"]])
    assert.deepStrictEqual(said(Schema.Array(Schema.String), {}), [["schema", "array", "array", "Object"]])
    assert.deepStrictEqual(said(Schema.Struct({ a: Schema.String }), []), [["schema", "object", "object", "Array"]])
    assert.deepStrictEqual(said(Schema.Record(Schema.String, Schema.Json), "a"), [
      ["schema", "object", "object", '"a"']
    ])
    assert.deepStrictEqual(said(Id, undefined), [["schema", "string", "string", "undefined"]])
    assert.deepStrictEqual(said(Timestamp, 5), [["schema", "string", "string", "5"]])
    assert.deepStrictEqual(said(Schema.NullOr(Schema.Int), "x"), [["schema", "number", "number", '"x"']])
  })

  it("names an amount as an amount, also if it is a number or missing", () => {
    for (const schema of [Amount, PositivePrice, Price, Schema.NullOr(Amount), Schema.NullOr(Price)]) {
      assert.deepStrictEqual(said(schema, 5), [["schema", "amount", "amount", "5"]])
      assert.deepStrictEqual(said(schema, undefined), [["schema", "amount", "amount", "undefined"]])
      const [[kind, type] = []] = said(schema, "1e5")
      assert.deepStrictEqual([kind, type], ["validation", "amount"])
    }
    assert.deepStrictEqual(said(PositivePrice, "0"), [["validation", "amount", "an amount above 0", '"0"']])
  })

  it("names the failed check if the type is right", () => {
    assert.deepStrictEqual(said(Schema.Int, 1.5), [["validation", "integer", "integer", "1.5"]])
    assert.deepStrictEqual(said(Schema.Int, Infinity), [["validation", "integer", "integer", "Infinity"]])
    assert.deepStrictEqual(said(wholeFrom1To10, 0), [["validation", "min_value", ">=1", "0"]])
    assert.deepStrictEqual(said(wholeFrom1To10, 11), [["validation", "max_value", "<=10", "11"]])
    assert.deepStrictEqual(said(Schema.Finite.check(Schema.isGreaterThanOrEqualTo(2)), 1), [
      ["validation", "min_value", ">=2", "1"]
    ])
    assert.deepStrictEqual(said(Schema.Finite.check(Schema.isLessThanOrEqualTo(2)), 3), [
      ["validation", "max_value", "<=2", "3"]
    ])
    assert.deepStrictEqual(said(Schema.String.check(Schema.isMinLength(2)), "a"), [
      ["validation", "min_length", ">=2", '"a"']
    ])
    assert.deepStrictEqual(said(Schema.String.check(Schema.isMaxLength(2)), "abc"), [
      ["validation", "max_length", "<=2", '"abc"']
    ])
    assert.deepStrictEqual(said(Schema.Array(Schema.Int).check(Schema.isBetweenLength(1, 2)), []), [
      ["validation", "min_length", ">=1", "Array"]
    ])
    assert.deepStrictEqual(said(Schema.Array(Schema.Int).check(Schema.isBetweenLength(1, 2)), [1, 2, 3]), [
      ["validation", "max_length", "<=2", "Array"]
    ])
    assert.deepStrictEqual(said(Id, "abc"), [["validation", "uuid", "a UUID", '"abc"']])
    assert.deepStrictEqual(said(Timestamp, "tomorrow"), [
      ["validation", "date_time", "an ISO 8601 date-time with an offset", '"tomorrow"']
    ])
    assert.deepStrictEqual(said(Schema.NullOr(Id), "abc"), [["validation", "uuid", "a UUID", '"abc"']])
  })

  it("lists the possible values", () => {
    assert.deepStrictEqual(said(colour, "green"), [["validation", "picklist", '("red" | "blue")', '"green"']])
    assert.deepStrictEqual(said(colour, 3), [["schema", "picklist", '("red" | "blue")', "3"]])
    assert.deepStrictEqual(said(colour, undefined), [["schema", "picklist", '("red" | "blue")', "undefined"]])
    assert.deepStrictEqual(said(Schema.Literal("ended"), "over"), [["validation", "picklist", '"ended"', '"over"']])
  })

  it("names the discriminator of a union if its value matches no member", () => {
    const shape = Schema.Union([
      Schema.Struct({ form: Schema.Literal("circle"), radius: Schema.Int }),
      Schema.Struct({ form: Schema.Literal("square"), side: Schema.Int })
    ])
    const summaries = (value: unknown) =>
      issues(Schema.Struct({ shape }), { shape: value }).map(
        ({ type, expected, path }) => `${path.map(({ key }) => key).join(".")}: ${type} ${expected}`
      )
    for (const value of [{}, { form: "line" }, { form: 3, radius: 1 }]) {
      assert.deepStrictEqual(summaries(value), ['shape.form: picklist ("circle" | "square")'])
    }
    assert.deepStrictEqual(summaries({ form: "circle", side: 1 }), ["shape.radius: number number"])
    for (const value of [null, "circle", []]) assert.deepStrictEqual(summaries(value), ["shape: object object"])
  })

  it("can be serialized if a number exceeds the range of JSON", () => {
    const [issue] = issues(Schema.Struct({ rate: Schema.Int }), JSON.parse('{"rate": 1e999}'))
    assert.doesNotThrow(() => new ValidationError({ error: "validation_error", issues: [issue!] }))
    assert.deepStrictEqual(issue?.path[0]?.input, { rate: "Infinity" })
  })

  it("reads a number from the text of a query", () => {
    const written = Schema.FiniteFromString.check(Schema.isInt(), Schema.isBetween({ minimum: 1, maximum: 100 }))
    const inQuery = Schema.toCodecStringTree(wholeFrom1To10)
    const received = (first: Schema.Constraint, text: string) =>
      issues(Schema.Struct({ first }), { first: text }).map(({ kind, type }) => [kind, type])
    for (const first of [written, inQuery]) {
      assert.deepStrictEqual(received(first, "abc"), [["schema", "number"]])
      assert.deepStrictEqual(received(first, "101"), [["validation", "max_value"]])
      assert.deepStrictEqual(received(first, "1.5"), [["validation", "integer"]])
    }
    for (const text of ["", " 5", "0x5", "NaN", "Infinity"]) {
      assert.deepStrictEqual(received(inQuery, text), [["schema", "number"]], text)
    }
  })

  it("has a path through objects and arrays, with keys as text", () => {
    const schema = Schema.Struct({ rows: Schema.Array(Schema.Struct({ id: Schema.String })) })
    const [issue] = issues(schema, { rows: [{ id: "a" }, { id: 2 }] })
    assert.deepStrictEqual(issue?.path, [
      { type: "object", origin: "value", key: "rows", input: { rows: [] } },
      { type: "array", origin: "value", key: "1", input: [{}, {}] },
      { type: "object", origin: "value", key: "id", input: { id: 2 } }
    ])
  })

  it("has an empty path if the whole body is wrong", () => {
    const [issue] = issues(Schema.Struct({ a: Schema.String }), undefined)
    assert.deepStrictEqual([issue?.received, issue?.path], ["undefined", []])
  })

  it("describes the closest alternative", () => {
    const schema = Schema.Union([
      Schema.Struct({ email: Schema.String, code: Schema.String }),
      Schema.Struct({ phone: Schema.String, country: Schema.String, code: Schema.String })
    ])
    assert.deepStrictEqual(
      issues(schema, { email: 1, code: "123456" }).map((issue) => issue.path[0]?.key),
      ["email"]
    )
  })
})

describe("Issues", () => {
  it("are all reported", () => {
    const schema = Schema.Struct({ a: Schema.String, b: wholeFrom1To10, c: colour, d: Schema.String })
    const keys = issues(schema, { a: 1, b: 0, c: "green" }).map((issue) => issue.path[0]?.key)
    assert.deepStrictEqual(keys, ["a", "b", "c", "d"])
  })

  it("never repeat a secret", () => {
    const schema = Schema.Struct({
      code: Schema.Int,
      refreshToken: Schema.Int,
      secretKey: Schema.String.check(Schema.isMaxLength(2)),
      password: Schema.Struct({ inner: Schema.Int }),
      other: Schema.Int
    })
    const input = {
      code: "123456",
      refreshToken: "canary-1",
      secretKey: "canary-2",
      password: { inner: "canary-3" },
      other: "seen"
    }
    const text = JSON.stringify(issues(schema, input))
    assert.notMatch(text, /canary|123456/)
    assert.include(text, "seen")
    assert.strictEqual(issues(schema, input).length, 5)
  })

  it("stay short for any size of request", () => {
    const row = { text: "x".repeat(10_000), nested: { deep: "y".repeat(10_000) } }
    const input = { rows: Array.from({ length: 50_000 }, () => row) }
    const found = issues(Schema.Struct({ rows: Schema.Array(Schema.Struct({ text: Schema.Int })) }), input)
    assert.strictEqual(found.length, issuesMax)
    assert.isBelow(JSON.stringify(found).length, 200_000)
  })

  it("of a manual check have the same form", () => {
    const found = issueAt({ first: "1", last: "2" }, "last", {
      kind: "validation",
      type: "custom",
      expected: "not both"
    })
    assert.strictEqual(found.message, 'Invalid value: Expected not both but received "2"')
    assert.deepStrictEqual(found.path, [
      { type: "object", origin: "value", key: "last", input: { first: "1", last: "2" } }
    ])
  })
})
