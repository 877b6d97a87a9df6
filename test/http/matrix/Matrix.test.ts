/**
 * Every operation of both APIs with every credential: what becomes of it follows from the credentials the operation
 * declares. An operation that is new needs a row in `inputs.ts`, and nothing else.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { IpNetwork } from "effect/net"
import { type Answer, asConsumer, asServer } from "../support/usherFixture.ts"
import * as Fixture from "../support/usherFixture.ts"
import { badCredentials, type Credential, goodCredentials, outcome, refusal } from "./credentials.ts"
import { type Input, inputs, type Name } from "./inputs.ts"
import { type Operation, operations } from "./operations.ts"
import { call, guestOf, makeWorld, queueOf, type World } from "./world.ts"

const services = Fixture.layerWith({ trustedProxies: [IpNetwork.fromStringUnsafe("127.0.0.0/8")] })

const shownAs = (operation: Operation, credential: Credential) => `${operation.name} with ${credential.name}`

/** Sends the request; `replaced` puts other identifiers in place of the own ones. */
const send = (
  { api, method, path }: Operation,
  { params = {}, query, body }: Input,
  headers: Credential["headers"],
  replaced: ReadonlyArray<readonly [own: string, other: string]> = []
) => {
  const replace = (text: string) => replaced.reduce((before, [own, other]) => before.replaceAll(own, other), text)
  const filled = path.replace(/:(\w+)/g, (_, name: string) => params[name]!)
  return call(api, {
    method,
    path: replace(query === undefined ? filled : `${filled}?${query}`),
    headers,
    ...(body !== undefined && { body: replace(JSON.stringify(body)) })
  })
}

/** Everything of an answer but what is different each time, and what of the request it repeats. */
const told = ({ status, text, headers }: Answer, { isEchoed = false, names = [] }: Partial<Input> = {}) => {
  const always = /^(date|x-request-id|x-ratelimit-.*)$/
  const sent = isEchoed ? names.flatMap(({ own, others, unknown }) => [own, ...others, unknown]) : []
  return {
    status,
    text: sent.reduce((before, id) => before.replaceAll(id, ""), text),
    headers: Object.entries(headers).filter(([name]) => !always.test(name))
  }
}

const unknown = (names: ReadonlyArray<Name>) => names.map(({ own, unknown }) => [own, unknown] as const)

const inputOf = (operation: Operation, world: World) => inputs[operation.name]!(world.sides.own, world)

const actsForConsumers = ({ requirement }: Operation) => requirement.some((all) => all.includes("consumerId"))

const withRow = operations.filter(({ name }) => inputs[name] !== undefined)

describe("The matrix of credentials", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("has a row for every operation, and for nothing else", () =>
      Effect.sync(() => {
        assert.sameMembers(
          operations.map(({ name }) => name),
          Object.keys(inputs)
        )
        for (const { name, requirement } of operations) assert.isNotEmpty(requirement, `${name} asks for a credential`)
      })
    )

    it.effect("refuses what is not declared, and says what is missing", () =>
      Effect.gen(function* () {
        const { world, credentials } = yield* badCredentials(yield* makeWorld)
        const good = goodCredentials(world)
        let refused = 0
        for (const operation of withRow) {
          const input = yield* inputOf(operation, world)
          for (const credential of [...credentials, ...good]) {
            if (outcome(operation, credential.shown) !== "refused") continue
            const answer = yield* send(operation, input, credential.headers)
            const expected = [401, JSON.stringify({ error: refusal(operation, credential) })]
            assert.deepStrictEqual([answer.status, answer.text], expected, shownAs(operation, credential))
            assert.strictEqual(answer.headers["www-authenticate"], "Bearer")
            refused++
          }
        }
        assert.isAbove(refused, withRow.length * 30)
      })
    )

    for (const operation of withRow) {
      it.effect(`${operation.name} lets in what it declares; to a stranger what is there and what is not are one`, () =>
        Effect.gen(function* () {
          let letIn = 0
          const shared = yield* makeWorld
          const sharedInput = yield* inputOf(operation, shared)
          const isReading = operation.method === "GET"
          for (const [index, { shown }] of goodCredentials(shared).entries()) {
            const tenancy = outcome(operation, shown)
            if (tenancy === "refused") continue
            letIn++
            // A caller that may change the world gets its own. A stranger that names foreign records changes nothing.
            const isShared = isReading || (tenancy !== "own" && (sharedInput.names ?? []).length > 0)
            const world = isShared ? shared : yield* makeWorld
            const credential = goodCredentials(world)[index]!
            const input = isShared ? sharedInput : yield* inputOf(operation, world)
            const { names = [], secrets = [], strangerStatus = 404 } = input
            const what = shownAs(operation, credential)
            if (tenancy === "own") {
              const isAnother = actsForConsumers(operation) && credential.name.includes("another consumer's")
              const before = isAnother ? yield* standing(world) : undefined
              const answer = yield* send(operation, input, credential.headers)
              if (!isAnother) assert.strictEqual(answer.status, input.status, `${what}: ${answer.text}`)
              else assert.deepStrictEqual(yield* standing(world), before, what)
              continue
            }
            const answer = yield* send(operation, input, credential.headers)
            assert.strictEqual(
              answer.status,
              tenancy === "test" && input.testStatus !== undefined
                ? input.testStatus
                : names.length > 0
                  ? strangerStatus
                  : input.status,
              `${what}: ${answer.text}`
            )
            for (const secret of [...secrets, ...names.map(({ own }) => own)])
              assert.notInclude(told(answer, input).text, secret, what)
            if (names.length === 0) continue
            const nobodys = yield* send(operation, input, credential.headers, unknown(names))
            assert.deepStrictEqual(told(answer, input), told(nobodys, input), what)
          }
          assert.isAbove(letIn, 0)
        })
      )
    }

    it.effect("tells nobody whether an identifier is another tenant's or nobody's", () =>
      Effect.gen(function* () {
        let compared = 0
        const world = yield* makeWorld
        for (const operation of withRow) {
          const input = yield* inputOf(operation, world)
          const credential = goodCredentials(world).find(
            (candidate) => outcome(operation, candidate.shown) === "own" && !candidate.name.includes("another")
          )!
          for (const { own, others, unknown } of input.names ?? []) {
            const nobodys = yield* send(operation, input, credential.headers, [[own, unknown]])
            for (const other of others) {
              const anothers = yield* send(operation, input, credential.headers, [[own, other]])
              assert.deepStrictEqual(told(anothers, input), told(nobodys, input), shownAs(operation, credential))
              compared++
            }
          }
        }
        assert.isAbove(compared, 40)
      })
    )

    it.effect("tells a server nothing of another tenant's consumers", () =>
      Effect.gen(function* () {
        const { world, strangers } = yield* badCredentials(yield* makeWorld)
        for (const operation of withRow.filter(actsForConsumers)) {
          const input = yield* inputOf(operation, world)
          const answers = yield* Effect.forEach(strangers, (id) =>
            Effect.map(send(operation, input, asServer(world.sides.own.secretKey, id)), told)
          )
          assert.deepInclude(answers[0], { status: 404, text: '{"error":"Consumer not found"}' })
          for (const answer of answers) assert.deepStrictEqual(answer, answers[0])
        }
      })
    )

    it.effect("keeps guests out where they are not supported", () =>
      Effect.gen(function* () {
        const world = yield* makeWorld
        const { own } = world.sides
        const { queueId } = yield* queueOf(own, { supportsGuest: false })
        for (const operation of withRow.filter(actsForConsumers)) {
          const input = yield* inputOf(operation, world)
          assert.isDefined(input.guestStatus, `${operation.name} says what a guest is told`)
          const guest = yield* guestOf(own.publishableKey)
          for (const headers of [
            asConsumer(own.publishableKey, guest.accessToken),
            asServer(own.secretKey, guest.consumerId)
          ]) {
            const answer = yield* send(operation, input, headers, [[own.queueId, queueId]])
            assert.strictEqual(answer.status, input.guestStatus, `${operation.name}: ${answer.text}`)
          }
        }
      })
    )
  })
})

/** Where the consumer stands in its queue. */
const standing = ({ sides: { own } }: World) =>
  call("consumer", {
    path: `/api/queues/${own.queueId}/status`,
    headers: asServer(own.secretKey, own.consumerId)
  }).pipe(Effect.map(({ status, text }) => ({ status, text })))
