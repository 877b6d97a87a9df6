import { assert, describe, it } from "@effect/vitest"
import { OpenApi } from "effect/http-api"
import { help, parseArguments } from "../../../bench/lists/Arguments.ts"
import { casesOf, type Description, knownOf, listsOf, unknownIn } from "../../../bench/lists/Cases.ts"
import { AdminApi } from "../../../src/api/admin/AdminApi.ts"

const made = {
  experienceId: "experience",
  sequenceId: "sequence",
  productId: "product",
  consumerId: "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a",
  queueId: "queue",
  auctionId: "auction",
  appointmentId: "appointment",
  audienceId: "audience",
  dynamicAudienceId: "dynamic",
  optionId: "option"
}
const description = OpenApi.fromApi(AdminApi) as unknown as Description

describe("the measurement of lists", () => {
  it("knows every list of the Admin API with its filters and searches, and nothing else", () => {
    assert.deepStrictEqual(unknownIn(description, knownOf(made)), [])
    const listed = listsOf(description)
    assert.sameMembers(
      listed.map(({ path }) => path),
      Object.keys(knownOf(made))
    )
    for (const { path, filters } of listed) {
      assert.sameMembers(filters, Object.keys(knownOf(made)[path]!.filters ?? {}), path)
    }
  })

  it("refuses a description with a list, a filter or a search of which nothing is known", () => {
    const sortBy = { name: "sortBy", schema: { enum: ["createdAt"] } }
    const added = {
      paths: {
        "/api/news": { get: { parameters: [sortBy] } },
        "/api/experiences": { get: { parameters: [sortBy, { name: "colour", schema: {} }] } },
        "/api/api-keys": { get: { parameters: [sortBy, { name: "search", schema: {} }] } },
        "/api/organizations/me": { get: {} }
      }
    }
    assert.deepStrictEqual(unknownIn(added, knownOf(made)), ["/news", "/experiences?colour", "/api-keys?search"])
    assert.throws(() => casesOf(added, made), /Add \/news/)
  })

  it("asks for every order in both directions: the first page, a deep one, one near the end, narrowed and searched", () => {
    const cases = casesOf(description, made)
    const names = cases.map(({ name }) => name)
    assert.lengthOf(new Set(names), names.length)
    for (const { path, sorts } of listsOf(description)) {
      for (const sortBy of sorts) {
        for (const sortDir of ["asc", "desc"]) {
          const order = `sortBy=${sortBy}&sortDir=${sortDir}`
          const ofOrder = cases.filter(({ list, path: asked }) => list === path && asked.includes(order))
          assert.includeMembers(
            ofOrder.map(({ walk }) => walk),
            ["none", "deep", "end"],
            `${path} ${order}`
          )
          for (const term of knownOf(made)[path]!.terms ?? []) {
            const search = `search=${encodeURIComponent(term)}`
            assert.isTrue(
              ofOrder.some(({ path: asked }) => asked.endsWith(search)),
              `${path} ${order} ${search}`
            )
          }
        }
      }
    }
    assert.isTrue(cases.every(({ path }) => !path.includes("{id}")))
  })

  it("names a wrong argument on the command line, and the valid ones", () => {
    const { consumers, requests, plans, database } = parseArguments([])
    assert.deepStrictEqual([consumers, requests, plans, database], [1_000_000, 100, 5, undefined])
    assert.strictEqual(parseArguments(["--only=/orders", "--plans", "0"]).only, "/orders")
    assert.throws(() => parseArguments(["--requests", "0"]), /--requests must be a whole number, not 0/)
    assert.throws(() => parseArguments(["--speed"]), /speed/)
    for (const option of ["database", "consumers", "requests", "only", "plans", "json"])
      assert.include(help, `--${option}`)
  })
})
