/**
 * Sends every operation of both APIs every credential. The result must follow from the credentials that the operation
 * declares. A new operation needs only a row in `inputs.ts`.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { HttpClientRequest, HttpClientResponse } from "effect/http"
import { HttpApiClient } from "effect/http-api"
import { IpNetwork } from "effect/net"
import { AdminApi } from "../../../src/api/admin/AdminApi.ts"
import { ConsumerApi } from "../../../src/api/consumer/ConsumerApi.ts"
import { type Answer, asConsumer, asServer } from "../support/usherFixture.ts"
import * as Fixture from "../support/usherFixture.ts"
import { badCredentials, type Credential, goodCredentials, outcome, refusal } from "./credentials.ts"
import { type Input, inputs, type Name } from "./inputs.ts"
import { type Operation, operations } from "./operations.ts"
import { call, guestOf, makeWorld, queueOf, sharedWorld, withNewOwn, type World } from "./world.ts"

const services = Fixture.layerWith({ trustedProxies: [IpNetwork.fromStringUnsafe("127.0.0.0/8")] })

/** The world of all reads, and of all requests that change nothing. */
const unchanged = sharedWorld()

const shownAs = (operation: Operation, credential: Credential) => `${operation.name} with ${credential.name}`

/** Sends the request; `replaced` replaces own identifiers by others. */
const send = (
  { api, method, path }: Operation,
  { params = {}, query, body, file }: Input,
  headers: Credential["headers"],
  replaced: ReadonlyArray<readonly [own: string, other: string]> = []
) => {
  const replace = (text: string) => replaced.reduce((before, [own, other]) => before.replaceAll(own, other), text)
  const filled = path.replace(/:(\w+)/g, (_, name: string) => params[name]!)
  return call(api, {
    method,
    path: replace(query === undefined ? filled : `${filled}?${query}`),
    headers: file === undefined ? headers : { ...headers, "content-type": file.type },
    ...(body !== undefined && { body: replace(JSON.stringify(body)) }),
    ...(file !== undefined && { body: file.bytes })
  })
}

/**
 * Returns the comparable parts of a response: without headers that always differ and without identifiers that it
 * echoes.
 */
const comparable = ({ status, text, headers }: Answer, { isEchoed = false, names = [] }: Partial<Input> = {}) => {
  const always = /^(date|x-request-id|x-ratelimit-.*)$/
  const sent = isEchoed ? names.flatMap(({ own, others, unknown }) => [own, ...others, unknown]) : []
  return {
    status,
    text: sent.reduce((before, id) => before.replaceAll(id, ""), text),
    headers: Object.entries(headers).filter(([name]) => !always.test(name))
  }
}

/** Decodes a success as a client does that follows from the API's declaration. */
const decoded = ({ api, group, endpoint }: Operation, { status, text, headers }: Answer) => {
  const names = { group, endpoint } as never
  const decode = HttpApiClient.decodeResponse((api === "admin" ? AdminApi : ConsumerApi) as never, names)
  const response = new Response(status === 204 ? null : text, { status, headers: headers as Record<string, string> })
  return decode(HttpClientResponse.fromWeb(HttpClientRequest.get("/"), response)) as Effect.Effect<unknown, Error>
}

const unknown = (names: ReadonlyArray<Name>) => names.map(({ own, unknown }) => [own, unknown] as const)

const inputOf = (operation: Operation, world: World) => inputs[operation.name]!(world.sides.own, world)

const actsForConsumers = ({ requirement }: Operation) => requirement.some((all) => all.includes("consumerId"))

const withRow = operations.filter(({ name }) => inputs[name] !== undefined)

describe("The matrix of credentials", () => {
  layer(services, { excludeTestServices: true })((it) => {
    it.effect("has one row for each operation", () =>
      Effect.sync(() => {
        assert.sameMembers(
          operations.map(({ name }) => name),
          Object.keys(inputs)
        )
        for (const { name, requirement } of operations) assert.isNotEmpty(requirement, `${name} requires a credential`)
      })
    )

    it.effect("refuses undeclared credentials, and names the missing one", () =>
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
      it.effect(
        `${operation.name} accepts its declared credentials, answers as declared, and does not reveal to strangers what exists`,
        () =>
          Effect.gen(function* () {
            let accepted = 0
            const shared = yield* unchanged
            const sharedInput = yield* inputOf(operation, shared)
            const isReading = operation.method === "GET"
            for (const [index, { shown }] of goodCredentials(shared).entries()) {
              const tenancy = outcome(operation, shown)
              if (tenancy === "refused") continue
              accepted++
              // A caller that may change its tenant gets a new one. A stranger's request with foreign identifiers
              // changes nothing.
              const isShared = isReading || (tenancy !== "own" && (sharedInput.names ?? []).length > 0)
              const world = isShared ? shared : tenancy === "own" ? yield* withNewOwn(shared) : yield* makeWorld
              const credential = goodCredentials(world)[index]!
              const input = isShared ? sharedInput : yield* inputOf(operation, world)
              const { names = [], secrets = [], strangerStatus = 404 } = input
              const what = shownAs(operation, credential)
              if (tenancy === "own") {
                const isAnother = actsForConsumers(operation) && credential.name.includes("another consumer's")
                const before = isAnother ? yield* statusIn(world) : undefined
                const answer = yield* send(operation, input, credential.headers)
                if (!isAnother) assert.strictEqual(answer.status, input.status, `${what}: ${answer.text}`)
                else assert.deepStrictEqual(yield* statusIn(world), before, what)
                if (answer.status < 300) yield* decoded(operation, answer)
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
                assert.notInclude(comparable(answer, input).text, secret, what)
              if (names.length === 0) continue
              const forUnknown = yield* send(operation, input, credential.headers, unknown(names))
              assert.deepStrictEqual(comparable(answer, input), comparable(forUnknown, input), what)
            }
            assert.isAbove(accepted, 0)
          })
      )
    }

    it.effect("does not reveal whether an identifier is another tenant's or unknown", () =>
      Effect.gen(function* () {
        let compared = 0
        const world = yield* makeWorld
        for (const operation of withRow) {
          const input = yield* inputOf(operation, world)
          const credential = goodCredentials(world).find(
            (candidate) => outcome(operation, candidate.shown) === "own" && !candidate.name.includes("another")
          )!
          for (const { own, others, unknown } of input.names ?? []) {
            const forUnknown = yield* send(operation, input, credential.headers, [[own, unknown]])
            for (const other of others) {
              const forOther = yield* send(operation, input, credential.headers, [[own, other]])
              assert.deepStrictEqual(
                comparable(forOther, input),
                comparable(forUnknown, input),
                shownAs(operation, credential)
              )
              compared++
            }
          }
        }
        assert.isAbove(compared, 40)
      })
    )

    it.effect("reveals nothing about another tenant's consumers to a server", () =>
      Effect.gen(function* () {
        const { world, strangers } = yield* badCredentials(yield* makeWorld)
        for (const operation of withRow.filter(actsForConsumers)) {
          const input = yield* inputOf(operation, world)
          const answers = yield* Effect.forEach(strangers, (id) =>
            Effect.map(send(operation, input, asServer(world.sides.own.secretKey, id)), comparable)
          )
          assert.deepInclude(answers[0], { status: 404, text: '{"error":"Consumer not found"}' })
          for (const answer of answers) assert.deepStrictEqual(answer, answers[0])
        }
      })
    )

    it.effect("refuses guests where they are not supported", () =>
      Effect.gen(function* () {
        const world = yield* makeWorld
        const { own } = world.sides
        const { queueId } = yield* queueOf(own, { supportsGuest: false })
        for (const operation of withRow.filter(actsForConsumers)) {
          const input = yield* inputOf(operation, world)
          assert.isDefined(input.guestStatus, `${operation.name} declares its status for a guest`)
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

/** Returns the response about the consumer's place in its queue. */
const statusIn = ({ sides: { own } }: World) =>
  call("consumer", {
    path: `/api/queues/${own.queueId}/status`,
    headers: asServer(own.secretKey, own.consumerId)
  }).pipe(Effect.map(({ status, text }) => ({ status, text })))
