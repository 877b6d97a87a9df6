/** Tests the generator and the checks of generated requests: responses, valid and invalid requests, and seeds. */
import { assert, describe, it } from "@effect/vitest"
import { apiVersion } from "../../../src/api/OpenApi.ts"
import { Dice } from "../../e2e/support/Dice.ts"
import { breaksOf } from "./breaks.ts"
import { declarations } from "./description.ts"
import { mutated } from "./mutations.ts"
import { type Draft, varied, written } from "./requests.ts"

const all = declarations()
const declared = (name: string) => all.find(({ operation }) => operation.name === name)!

const id = "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a"

/** The headers that every response has. */
const always = {
  "x-ratelimit-limit": "300",
  "x-ratelimit-remaining": "299",
  "x-ratelimit-reset": "1790000000",
  "x-request-id": "ada-1",
  "x-api-version": apiVersion
}
const json = { "content-type": "application/json" }
const answer = (status: number, body: unknown, headers: object = json) => ({
  status,
  headers: { ...always, ...headers },
  text: JSON.stringify(body),
  body
})

const draft: Draft = { params: { id }, query: [], headers: {}, body: { consumerIds: [id] } }
const making = (operation: string, seed: number) => ({
  dice: new Dice(seed),
  known: new Map(),
  resolve: declared(operation).resolve
})

describe("a response", () => {
  const { undeclared } = declared("GET /api/queues/:queueId/status")

  it("that matches its declaration passes", () => {
    assert.isUndefined(undeclared(answer(200, { status: "NOT_QUEUED" })))
    assert.isUndefined(undeclared(answer(404, { error: "Queue not found" })))
  })

  it("with an undeclared status, field, value, content or header is found", () => {
    const wrong = [
      answer(409, { error: "Queue is full", code: "QUEUE_FULL" }),
      answer(200, { status: "QUEUED" }),
      answer(200, { status: "NOT_QUEUED", secret: 1 }),
      answer(200, { status: "LOST" }),
      answer(200, "NOT_QUEUED", { "content-type": "text/plain" }),
      answer(503, { error: "Service unavailable" }),
      answer(200, { status: "NOT_QUEUED" }, { ...json, "x-ratelimit-limit": "many" }),
      answer(400, { error: "validation_error", issues: [{ kind: "schema" }] })
    ]
    for (const one of wrong) assert.isDefined(undeclared(one), one.text)
  })
})

describe("generated requests", () => {
  const name = "POST /api/audiences/:id/members"

  it("that are valid match the description, and differ", () => {
    for (const operation of all.filter(({ body }) => body !== undefined)) {
      const bodies = Array.from({ length: 20 }, (_, seed) => {
        const { body } = varied(operation, { ...draft, body: {} }, making(operation.operation.name, seed))
        return JSON.stringify(body)
      })
      assert.isAbove(new Set(bodies).size, 1, operation.operation.name)
    }
  })

  it("that are invalid break each constraint, and the description accepts none of them", () => {
    const broken = breaksOf(declared(name), draft, new Dice(1))
    const bodies = broken.filter(({ what }) => what.startsWith("body")).map(({ wire }) => JSON.parse(`${wire.body}`))
    assert.isFalse(bodies.some((body) => declared(name).body!.accepts(body)))
    const whats = broken.map(({ what }) => what)
    for (const what of ["body.consumerIds is missing", "body.consumerIds is []", 'path id is "not it"'])
      assert.include(whats, what)
    assert.isTrue(whats.some((what) => what.startsWith("body.consumerIds[0] is ")))
    assert.isTrue(bodies.some((body) => body?.consumerIds?.length === 501))
    assert.isTrue(broken.some(({ status }) => status === 415))
  })

  it("are the same with the same seed, and differ with another seed", () => {
    const of = (seed: number) => {
      const { dice, ...rest } = making(name, seed)
      const one = varied(declared(name), draft, { dice, ...rest })
      return [written(declared(name), one), mutated(declared(name), one, dice)]
    }
    assert.deepStrictEqual(of(1), of(1))
    assert.notDeepEqual([1, 2, 3, 4].map(of), [5, 6, 7, 8].map(of))
  })
})
