/**
 * Sends one operation requests that are derived from its declaration: valid ones, ones with one broken constraint, and
 * damaged ones. They run in a tenant with the records that the operation's row in the matrix creates.
 */
import { Effect } from "effect"
import type { Agent } from "node:http"
import type { Organizations } from "../../../src/auth/keys/Organizations.ts"
import type { Unavailable } from "../../../src/store/postgres/Unavailable.ts"
import { Dice } from "../../e2e/support/Dice.ts"
import { inputs, type Input } from "../matrix/inputs.ts"
import { withNewOwn, type World } from "../matrix/world.ts"
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
  /** The number of requests of each sort. */
  readonly requests: number
  readonly seed: number
  readonly agent: Agent
  readonly figures: Figures
  /** The world whose test and foreign tenants all scenes share. No request of a scene changes them. */
  readonly shared: Effect.Effect<World, Unavailable, Organizations | Usher>
  /** All operations. Those that create records create them for the other operations' requests. */
  readonly all: ReadonlyArray<Declared>
}

/** The number of requests that share one world and its records. */
const worldServes = 25

/** The number of additional records from other operations that a body may reference. */
const neighboursCount = 2

/** Sends all requests to the operation, and records their responses. */
export const proveOperation = Effect.fnUntraced(function* (declared: Declared, options: Options) {
  const { requests } = options
  const dice = new Dice(seedOf(options.seed, declared.operation.name))
  const first = yield* sceneOf(declared, options, dice)
  yield* refusesInvalid(first)
  for (let sent = 0; sent < requests; sent += worldServes) {
    const scene = sent === 0 ? first : yield* sceneOf(declared, options, dice)
    yield* servesValid(scene, Math.min(worldServes, requests - sent))
  }
  for (let sent = 0; sent < requests; sent += worldServes) {
    // Reads leave their world unchanged.
    const scene = sent === 0 && declared.operation.method === "GET" ? first : yield* sceneOf(declared, options, dice)
    yield* survivesDamaged(scene, Math.min(worldServes, requests - sent))
  }
})

/** A new world for an operation, with the input of its requests. */
interface Scene {
  readonly declared: Declared
  readonly options: Options
  readonly world: World
  readonly input: Input
  readonly making: Making
  /** Returns the row's own request, with credentials that the operation accepts. */
  readonly base: () => Draft
}

const sceneOf = Effect.fnUntraced(function* (declared: Declared, options: Options, dice: Dice) {
  const world = yield* withNewOwn(yield* options.shared)
  const known: Known = new Map()
  learnFromWorld(known, world)
  const { input } = yield* rowOf(declared, world)
  const credentials = credentialsFor(declared, world)
  const making = { dice, known, resolve: declared.resolve }
  return { declared, options, world, input, making, base: () => baseOf(input, dice.pick(credentials)) } satisfies Scene
})

/**
 * Creates records that a body may reference, after the row's own request, because some rows depend on the number of
 * records.
 */
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

/** Every invalid request must be refused with its status, and together they must change nothing. */
const refusesInvalid = Effect.fnUntraced(function* (scene: Scene) {
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
    if (!isRefused) options.figures.violated(exchange, `expected ${status}, received ${answer.status}`)
    if (answer.status === 400 && answer.body?.error === "validation_error" && answer.body.issues.length === 0)
      options.figures.violated(exchange, "the response has no issue")
  }
  const tables = changed(before, yield* records)
  if (tables.length === 0) return
  const last = yield* exchangedAs(scene, "invalid", all.join("; "), written(declared, scene.base()))
  options.figures.violated(last, `refused requests changed ${tables.join()}`)
})

interface Unknown extends Omit<Broken, "status"> {
  readonly status: "unknown"
}

/** Returns the row's request with an unknown identifier in its path. */
const unknowns = (scene: Scene): ReadonlyArray<Unknown> =>
  (scene.input.names ?? []).flatMap(({ own, unknown }) => {
    const wire = written(scene.declared, scene.base())
    const path = wire.path.replaceAll(own, unknown)
    return path === wire.path ? [] : [{ what: "an unknown identifier", wire: { ...wire, path }, status: "unknown" }]
  })

const isUnknown = ({ input: { strangerStatus = 404 } }: Scene, { status }: Answer) =>
  status === strangerStatus || (status >= 400 && status < 500)

/** Every valid request must have a declared response. A refusal is allowed for its meaning, but not for its shape. */
const servesValid = Effect.fnUntraced(function* (scene: Scene, count: number) {
  const { declared, options, making, input } = scene
  for (let index = 0; index < count; index++) {
    const isBase = index === 0
    const draft = isBase ? scene.base() : varied(declared, scene.base(), making)
    const exchange = yield* exchangedAs(scene, "valid", isBase ? "the row's own" : "varied", written(declared, draft))
    const { answer } = exchange
    learnFromAnswer(making.known, exchange.wire.path, answer)
    if (isBase && answer.status !== input.status)
      options.figures.violated(exchange, `expected ${input.status}, received ${answer.status}`)
    if (isBase) yield* meetNeighbours(scene)
    const misread = answer.status === 400 && answer.body?.issues?.find(isOfShape)
    if (misread) options.figures.violated(exchange, `refused for its shape: ${misread.message}`)
  }
})

/**
 * Whether an issue reports a wrong type. A required field may depend on another field, so missing values do not count.
 */
const isOfShape = ({ kind, received }: { readonly kind: string; readonly received: string }) =>
  kind === "schema" && received !== "undefined" && received !== "null"

/** Every damaged request must have a declared response. */
const survivesDamaged = Effect.fnUntraced(function* (scene: Scene, count: number) {
  const { declared, making } = scene
  for (let index = 0; index < count; index++) {
    const { what, wire } = mutated(declared, varied(declared, scene.base(), making), making.dice)
    yield* exchangedAs(scene, "mutated", what, wire)
  }
})

/** Sends a request, records it, and compares the response with the declaration. */
const exchangedAs = Effect.fnUntraced(function* ({ declared, options }: Scene, sort: Sort, what: string, wire: Wire) {
  const answer = yield* exchanged(declared, options.agent, wire)
  const exchange: Exchange = { operation: declared.operation.name, sort, what, wire, answer }
  options.figures.note(exchange)
  const undeclared =
    answer.status >= 500 ? "a failure" : isNowhere(wire, answer) ? undefined : declared.undeclared(answer)
  if (undeclared !== undefined) options.figures.violated(exchange, undeclared)
  return exchange
})

/** The most bytes of a request's head. The listener refuses a longer head itself. */
const headBytesMax = 32_000

/** Whether a response comes from the listener, because the path cannot be decoded or the head is too large. */
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

/** Shuffles the items in place. */
function shuffled<A>(items: Array<A>, dice: Dice): Array<A> {
  for (let end = items.length - 1; end > 0; end--) {
    const other = dice.between(0, end)
    const item = items[end]!
    items[end] = items[other]!
    items[other] = item
  }
  return items
}

/** Returns a separate seed for each operation, so that a new operation does not change the requests of the others. */
const seedOf = (seed: number, name: string): number =>
  [...name].reduce((mixed, letter) => (Math.imul(mixed, 31) + letter.charCodeAt(0)) | 0, seed)
