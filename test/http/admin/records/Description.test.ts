import { assert, describe, it } from "@effect/vitest"
import { OpenApi } from "effect/http-api"
import { AdminApi } from "../../../../src/api/admin/AdminApi.ts"
import { ConsumerApi } from "../../../../src/api/consumer/ConsumerApi.ts"

interface Operation {
  readonly operationId: string
  readonly summary?: string
  readonly security: ReadonlyArray<object>
  readonly parameters: ReadonlyArray<{ readonly name: string; readonly in: string; readonly schema: object }>
  readonly responses: {
    readonly [status: string]: {
      readonly headers?: object
      readonly content?: { readonly [type: string]: { readonly schema: object } }
    }
  }
}

const description = OpenApi.fromApi(AdminApi)
const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(
    ([method, operation]) => [`${method} ${path}`, operation as unknown as Operation] as const
  )
)

const takesNothing = new Set([
  "get /api/organizations/me",
  "get /api/nodes",
  "get /api/event-types",
  "get /api/test-clock",
  "delete /api/test-clock"
])

/** Operations whose answer is one whole. */
const unpaged = new Set([
  ...takesNothing,
  "get /api/appointments/{id}/slots",
  "get /api/distributions/{id}/contacts",
  "get /api/gates/{id}/instances"
])

/** The status of an operation that has done what it was asked for. */
const successOf = (name: string): string => {
  if (["post /api/test-clock/advance", "post /api/experiences/{id}/rehearsals"].includes(name)) return "202"
  return name === "put /api/test-clock" || /^post .*(s|people|duplicate)$/.test(name) ? "201" : "200"
}

describe("The Admin API's description", () => {
  it("is version 1.0.0 in OpenAPI 3.1", () => {
    assert.strictEqual(description.openapi.slice(0, 3), "3.1")
    assert.strictEqual(description.info.version, "1.0.0")
  })

  for (const [title, api] of [
    ["Admin", AdminApi],
    ["Consumer", ConsumerApi]
  ] as const) {
    const { paths, components } = OpenApi.fromApi(api as typeof AdminApi)
    const responses = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, operation]) =>
        Object.entries((operation as unknown as Operation).responses).map(
          ([status, { headers }]) => [`${method} ${path} ${status}`, status, headers ?? {}] as const
        )
      )
    )

    it(`of the ${title} API has the limit's headers at every response`, () => {
      assert.isAbove(responses.length, 100)
      for (const [name, , headers] of responses) {
        for (const header of ["X-RateLimit-Limit", "X-RateLimit-Remaining", "X-RateLimit-Reset"]) {
          assert.deepInclude(headers, { [header]: { $ref: `#/components/headers/${header}` } }, name)
          assert.property((components as { readonly headers?: object }).headers, header)
        }
      }
    })

    it(`of the ${title} API has a whole number of seconds to wait at every 423, 429 and 503`, () => {
      for (const [name, status, headers] of responses) {
        if (!["423", "429", "503"].includes(status)) continue
        const { "Retry-After": wait } = headers as { readonly "Retry-After"?: object }
        assert.deepInclude({ ...wait }, { required: true, schema: { type: "integer", minimum: 1 } }, name)
      }
    })
  }

  it("says that a search needs two characters", () => {
    const searches = operations.flatMap(([, { parameters }]) => parameters.filter(({ name }) => name === "search"))
    assert.isAbove(searches.length, 10)
    for (const { schema } of searches) assert.deepInclude(schema, { minLength: 2 })
  })

  it("has a summary for every operation, and requires the secret key for each", () => {
    assert.isAbove(operations.length, 15)
    for (const [name, { summary, security }] of operations) {
      assert.isString(summary, name)
      assert.deepStrictEqual(security, [{ secretKey: [] }], name)
    }
  })

  it("declares each status that an operation can answer", () => {
    for (const [name, { responses }] of operations) {
      const statuses = Object.keys(responses)
      assert.includeMembers(statuses, ["401", "403", "500", "503"], name)
      // An operation without input cannot receive malformed input.
      if (!takesNothing.has(name)) assert.include(statuses, "400", name)
      if (name.includes("{id}")) assert.include(statuses, "404", name)
      if (name.startsWith("post ")) assert.include(statuses, "409", name)
      if (/^(post|put) .*(s|people)(\/\{id\})?$/.test(name)) assert.includeMembers(statuses, ["413", "415"], name)
      assert.include(statuses, successOf(name), name)
    }
    const withConflict = operations
      .filter(([name, { responses }]) => "409" in responses && !name.startsWith("post "))
      .map(([name]) => name)
    assert.deepStrictEqual(withConflict.toSorted(), [
      "delete /api/audiences/{id}",
      "delete /api/audiences/{id}/members",
      "delete /api/fonts/{id}",
      "delete /api/media-assets/{id}",
      "delete /api/pictures/{id}",
      "delete /api/products/{id}",
      "delete /api/stocks/{id}",
      "delete /api/sync-sources/{id}",
      "delete /api/variant-options/{optionId}",
      "delete /api/variant-options/{optionId}/values/{valueId}",
      "delete /api/variants/{id}",
      "put /api/appointments/{id}",
      "put /api/auctions/{id}",
      "put /api/audiences/{id}",
      "put /api/consumers/{id}",
      "put /api/draws/{id}",
      "put /api/experience-pages/{id}",
      "put /api/orders/{id}",
      "put /api/queues/{id}",
      "put /api/stocks/{id}",
      "put /api/test-clock",
      "put /api/timed-releases/{id}",
      "put /api/variant-options/{optionId}/values/{valueId}",
      "put /api/variants/{id}",
      "put /api/waitlists/{id}"
    ])
  })

  it("lets callers repeat every POST, and no other method", () => {
    for (const [name, { parameters, responses }] of operations) {
      const isPost = name.startsWith("post ")
      assert.strictEqual(
        parameters.some((parameter) => parameter.name === "Idempotency-Key" && parameter.in === "header"),
        isPost,
        name
      )
      for (const [status, { headers = {} }] of Object.entries(responses)) {
        const isRepeated = isPost && Number(status) < 500 && !["400", "401", "429"].includes(status)
        assert.strictEqual("Idempotency-Replayed" in headers, isRepeated, `${name} ${status}`)
      }
    }
  })

  it("gives every list the page parameters, with page sizes as integers", () => {
    for (const [name, { parameters }] of operations) {
      if (!/^get .*(s|consumers|history)$/.test(name) || unpaged.has(name) || name.endsWith("/events")) continue
      const names = parameters.map((parameter) => parameter.name)
      assert.includeMembers(names, ["first", "after", "last", "before", "sortBy", "sortDir"], name)
      for (const size of parameters.filter((parameter) => ["first", "last"].includes(parameter.name))) {
        assert.deepInclude(size.schema, { type: "integer", minimum: 1, maximum: 100 })
      }
    }
  })

  it("contains the creative document once, and declares that the nodes of an email contain nodes", () => {
    const { schemas } = description.components
    /** Returns the part of the schemas at the end of the path. */
    const part = (...path: ReadonlyArray<string>): unknown =>
      path.reduce((node: object, key): object => Reflect.get(node, key), schemas)
    const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` })
    assert.deepStrictEqual(
      part("CreateExperiencePage", "properties", "creativeDocument"),
      ref("CreativeDocumentEncoded")
    )
    assert.deepStrictEqual(part("CreativeDocumentEncoded"), ref("CreativeDocument"))
    assert.deepStrictEqual(part("ExperiencePage", "properties", "creativeDocument"), ref("CreativeDocument"))
    assert.deepStrictEqual(part("CreativeDocument", "anyOf"), [
      ref("EmailDocument"),
      ref("SmsDocument"),
      ref("RichContentDocument")
    ])
    assert.deepStrictEqual(
      part("EmailDocument", "properties", "body", "properties", "nodes", "items"),
      ref("EmailNode")
    )
    assert.lengthOf(part("EmailNode", "anyOf") as ReadonlyArray<unknown>, 13)
    assert.deepStrictEqual(part("EmailNode", "anyOf", "0", "properties", "children", "items"), ref("EmailNode"))
    assert.deepStrictEqual(
      Object.keys(schemas).filter((name) => /^(Creative|Email|Rich|Sms).*\d$/.test(name)),
      []
    )
  })

  it("names the record schemas, and shares them between operations", () => {
    const schemas = Object.keys(description.components.schemas)
    assert.includeMembers(schemas, ["WholeExperience", "Sequence", "Queue", "QueueDistribution", "Theme", "Issue"])
    for (const [name, { responses }] of operations) {
      if (name.endsWith("/events") || name.endsWith(".csv")) continue
      const success = (responses["200"] ?? responses["201"] ?? responses["202"])!.content!["application/json"]!.schema
      assert.property(success, "$ref", name)
    }
  })
})
