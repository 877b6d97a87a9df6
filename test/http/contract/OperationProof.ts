/**
 * One operation under requests that are made from its declaration: right ones, ones that are wrong in one way, damaged
 * ones. Each is one of a tenant that has what the operation's row in the matrix makes beforehand.
 */
import { Effect } from "effect"
import type { Agent } from "node:http"
import { Dice } from "../../e2e/support/Dice.ts"
import { inputs, type Input } from "../matrix/inputs.ts"
import { makeWorld, type World } from "../matrix/world.ts"
import { type Answer, Usher } from "../support/usherFixture.ts"
import { breaksOf, type Broken } from "./breaks.ts"
import type { Declared } from "./description.ts"
import { type Exchange, Figures, type Sort } from "./Figures.ts"
import { learnFromAnswer, learnFromWorld } from "./learning.ts"
import { mutated } from "./mutations.ts"
import { changed, records } from "./Records.ts"
import { baseOf, credentialsFor, type Draft, varied, written } from "./requests.ts"
import type { Known, Making } from "./values.ts"
import { send, type Wire } from "./wire.ts"

export interface Options {
  /** Requests of each sort. */
  readonly requests: number
  readonly seed: number
  readonly agent: Agent
  readonly figures: Figures
  /** Every operation: those that create something make records for the others to name. */
  readonly all: ReadonlyArray<Declared>
}

/** Requests for which one world and its records serve: what is changed is made again for the next. */
const worldServes = 25

/** Records of other operations that a world has besides, where a body may name them. */
const neighboursCount = 2

/** Sends all requests to the operation, and notes what they were answered. */
export const proveOperation = Effect.fnUntraced(function* (declared: Declared, options: Options) {
  const { requests } = options
  const dice = new Dice(seedOf(options.seed, declared.operation.name))
  const first = yield* sceneOf(declared, options, dice)
  yield* refuses(first)
  for (let sent = 0; sent < requests; sent += worldServes) {
    const scene = sent === 0 ? first : yield* sceneOf(declared, options, dice)
    yield* serves(scene, Math.min(worldServes, requests - sent))
  }
  for (let sent = 0; sent < requests; sent += worldServes) {
    // What only reads has left its world as it was.
    const scene = sent === 0 && declared.operation.method === "GET" ? first : yield* sceneOf(declared, options, dice)
    yield* survives(scene, Math.min(worldServes, requests - sent))
  }
})

/** A world of its own for an operation, and what it can be asked there. */
interface Scene {
  readonly declared: Declared
  readonly options: Options
  readonly world: World
  readonly input: Input
  readonly making: Making
  /** The row's own request, with one of the credentials that the operation lets in. */
  readonly base: () => Draft
}

const sceneOf = Effect.fnUntraced(function* (declared: Declared, options: Options, dice: Dice) {
  const world = yield* makeWorld
  const known: Known = new Map()
  learnFromWorld(known, world)
  const { input } = yield* rowOf(declared, world)
  const credentials = credentialsFor(declared, world)
  const making = { dice, known, resolve: declared.resolve }
  return { declared, options, world, input, making, base: () => baseOf(input, dice.pick(credentials)) } satisfies Scene
})

/** Makes records that a body may name, after the row's own request: some of its operations regard all there is. */
const meetNeighbours = Effect.fnUntraced(function* ({ declared, options, world, making: { dice, known } }: Scene) {
  if (declared.body === undefined) return
  const creating = options.all.filter(({ operation: { name } }) => /^POST \/api\/[\w-]+$/.test(name))
  for (let count = 0; count < neighboursCount; count++) {
    const neighbour = dice.pick(creating)
    const { wire } = yield* rowOf(neighbour, world)
    learnFromAnswer(known, wire.path, yield* exchanged(neighbour, options.agent, wire))
  }
})

const rowOf = Effect.fnUntraced(function* (declared: Declared, world: World) {
  const input = yield* inputs[declared.operation.name]!(world.sides.own, world)
  return { input, wire: written(declared, baseOf(input, credentialsFor(declared, world)[0]!)) }
})

/** Every invalid request is refused as one, and all of them together change nothing. */
const refuses = Effect.fnUntraced(function* (scene: Scene) {
  const { declared, options, making } = scene
  const { dice } = making
  const before = yield* records
  let pool: Array<Broken | Unknown> = shuffled([...breaksOf(declared, scene.base(), dice), ...unknowns(scene)], dice)
  if (pool.length === 0) options.figures.unbreakable.add(declared.operation.name)
  const all: Array<string> = []
  for (let count = 0; count < options.requests && pool.length > 0; count++) {
    const { what, wire, status } = pool.pop()!
    if (pool.length === 0) pool = shuffled([...breaksOf(declared, varied(declared, scene.base(), making), dice)], dice)
    const exchange = yield* exchangedAs(scene, "invalid", what, wire)
    all.push(what)
    const { answer } = exchange
    const isRefused = status === "unknown" ? isUnknown(scene, answer) : answer.status === status
    if (!isRefused) options.figures.violated(exchange, `expected ${status}, answered ${answer.status}`)
    if (answer.status === 400 && answer.body?.error === "validation_error" && answer.body.issues.length === 0)
      options.figures.violated(exchange, "no issue is named")
  }
  const tables = changed(before, yield* records)
  if (tables.length === 0) return
  const last = yield* exchangedAs(scene, "invalid", all.join("; "), written(declared, scene.base()))
  options.figures.violated(last, `refused requests have changed ${tables.join()}`)
})

interface Unknown extends Omit<Broken, "status"> {
  readonly status: "unknown"
}

/** The row's request with a path in which an identifier is one that nobody has. */
const unknowns = (scene: Scene): ReadonlyArray<Unknown> =>
  (scene.input.names ?? []).flatMap(({ own, unknown }) => {
    const wire = written(scene.declared, scene.base())
    const path = wire.path.replaceAll(own, unknown)
    return path === wire.path ? [] : [{ what: "an unknown identifier", wire: { ...wire, path }, status: "unknown" }]
  })

const isUnknown = ({ input: { strangerStatus = 404 } }: Scene, { status }: Answer) =>
  status === strangerStatus || (status >= 400 && status < 500)

/** Every valid request is answered as declared; what is refused all the same is refused for what it means. */
const serves = Effect.fnUntraced(function* (scene: Scene, count: number) {
  const { declared, options, making, input } = scene
  for (let index = 0; index < count; index++) {
    const isBase = index === 0
    const draft = isBase ? scene.base() : varied(declared, scene.base(), making)
    const exchange = yield* exchangedAs(scene, "valid", isBase ? "the row's own" : "varied", written(declared, draft))
    const { answer } = exchange
    learnFromAnswer(making.known, exchange.wire.path, answer)
    if (isBase && answer.status !== input.status)
      options.figures.violated(exchange, `expected ${input.status}, answered ${answer.status}`)
    if (isBase) yield* meetNeighbours(scene)
    const misread = answer.status === 400 && answer.body?.issues?.find(isOfShape)
    if (misread) options.figures.violated(exchange, `refused for its shape: ${misread.message}`)
  }
})

/** A value was of the wrong type, though the description allows it. Another field may ask for one where there is none. */
const isOfShape = ({ kind, received }: { readonly kind: string; readonly received: string }) =>
  kind === "schema" && received !== "undefined" && received !== "null"

/** Whatever comes is answered as declared. */
const survives = Effect.fnUntraced(function* (scene: Scene, count: number) {
  const { declared, making } = scene
  for (let index = 0; index < count; index++) {
    const { what, wire } = mutated(declared, varied(declared, scene.base(), making), making.dice)
    yield* exchangedAs(scene, "mutated", what, wire)
  }
})

/** Sends a request, notes it, and holds the answer against the declaration. */
const exchangedAs = Effect.fnUntraced(function* ({ declared, options }: Scene, sort: Sort, what: string, wire: Wire) {
  const answer = yield* exchanged(declared, options.agent, wire)
  const exchange: Exchange = { operation: declared.operation.name, sort, what, wire, answer }
  options.figures.note(exchange)
  const undeclared =
    answer.status >= 500 ? "a failure" : isNowhere(wire, answer) ? undefined : declared.undeclared(answer)
  if (undeclared !== undefined) options.figures.violated(exchange, undeclared)
  return exchange
})

/** What the listener reads of a request's head; with more it refuses the request itself. */
const headBytesMax = 32_000

/** No operation is reached by a path that cannot be decoded, or by a head that is too large; and the listener says so. */
function isNowhere({ path, headers }: Wire, { status, text }: Answer): boolean {
  if (status === 431) return path.length + JSON.stringify(headers).length > headBytesMax
  try {
    decodeURIComponent(path.split("?")[0]!)
    return false
  } catch {
    return status === 404 && text === '{"error":"Not found"}'
  }
}

const exchanged = Effect.fnUntraced(function* ({ operation }: Declared, agent: Agent, wire: Wire) {
  const { consumerUrl, adminUrl } = yield* Usher
  return yield* send(agent, operation.api === "admin" ? adminUrl : consumerUrl, wire)
})

/** In an order of chance. */
function shuffled<A>(items: Array<A>, dice: Dice): Array<A> {
  for (let end = items.length - 1; end > 0; end--) {
    const other = dice.between(0, end)
    const item = items[end]!
    items[end] = items[other]!
    items[other] = item
  }
  return items
}

/** Chance of its own for each operation, so that a new one leaves the others' as they were. */
const seedOf = (seed: number, name: string): number =>
  [...name].reduce((mixed, letter) => (Math.imul(mixed, 31) + letter.charCodeAt(0)) | 0, seed)
