/**
 * Kills and stops processes of one installation, one after another, under load of every kind: a front, the engine, and
 * their supervisor. What was acknowledged is stored, no place changes, and the service soon answers again. Who stops on
 * request leaves no request without an answer.
 *
 * The installation is one machine with `--processes`, or an engine and two fronts as nodes behind HAProxy. Without HAProxy
 * clients turn to the fronts themselves.
 */
import { Apis, type Guest } from "../support/Apis.ts"
import { Balancer, behindBalancer, isInstalled } from "../support/Balancer.ts"
import { BalancedConnections, brokenAtBalancer } from "../support/BalancedConnections.ts"
import { Dice } from "../support/Dice.ts"
import * as FreshDatabase from "../support/FreshDatabase.ts"
import type { Exchange } from "../support/HttpConnections.ts"
import { Ledger } from "../load/Ledger.ts"
import { Load } from "../load/Load.ts"
import { type Findings, noFindings, Setup } from "../load/Setup.ts"
import { nodeSettings } from "../support/Nodes.ts"
import { PatientConnections } from "../support/PatientConnections.ts"
import { pause } from "../support/Processes.ts"
import { main, ServerUnderTest } from "../support/ServerUnderTest.ts"
import * as Supervised from "../support/Supervised.ts"
import { longestWait } from "./NodesProof.ts"

export interface Options {
  /** How often each part is killed or stopped. */
  readonly rounds: number
  readonly seed: number
  /** Guests that visit at the same time. Default: 16. */
  readonly workers?: number
  readonly onRound?: (event: string, figures: Figures) => void
}

/** What happened to each part. Times are milliseconds. */
export interface Figures extends Findings {
  /** The longest wait for an answer around each event, such as `SIGKILL engine`. */
  readonly waits: Map<string, Array<number>>
  /** From each event until everything was ready again. */
  readonly returns: Map<string, Array<number>>
  /** Requests in progress when a part was asked to stop. */
  inFlight: number
  /** Those without an answer. Behind a balancer: all that had none while the part left and came back. */
  failed: number
  /** Places that changed although nobody acted on them. */
  moved: number
  /** Repeated attempts: refused with 503, or sent to a stopped process. */
  retries: number
  /** From the start of the whole installation until it was ready, without load. */
  readyMillis: number
}

/** A way in which a part stops and comes back. */
interface Event {
  readonly part: string
  readonly signal: "SIGKILL" | "SIGTERM"
  /** Whether no answer may fail at all: others serve meanwhile. */
  readonly isCovered?: boolean
  /** Returns when the part has ended. Returns a complaint about its end. */
  readonly stop: () => Promise<string | undefined>
  /** Starts the part, unless its supervisor does, and returns when everything is ready. */
  readonly restore: () => Promise<void>
}

interface Installation {
  /** Serves the Admin API while parts are away. */
  readonly first: ServerUnderTest
  /** Where clients send their requests. */
  readonly addresses: ConstructorParameters<typeof Apis>[0]
  readonly readyMillis: number
  readonly events: (dice: Dice) => ReadonlyArray<Event>
}

const restMillisMax = 40
const settledGuests = 20
const observers = 6
/** Events between renewals of the lasting mechanisms, so that their histories stay short. */
const eventsPerDrop = 10
/** Until the balancer sends requests to a server that has become ready. */
const noticeMillis = isInstalled ? 1_500 : 0

/** One machine: an engine, two fronts and their supervisor, with the embedded Postgres or another. */
export async function supervisedProof(options: Options & { readonly isEmbedded: boolean }): Promise<Figures> {
  await using database = await (options.isEmbedded ? FreshDatabase.makeEmbedded() : FreshDatabase.make())
  await using server = await ServerUnderTest.make({ database })
  const program = [main, "serve", "--processes", "3"]
  const readyMillis = await server.start(program)
  let former: ReadonlyArray<number> = []
  const startAgain = async () => {
    // Processes of a killed supervisor serve until the next ones take over.
    await server.start(program)
    while (former.some(Supervised.isAlive)) await pause(20)
    while (!(await server.isReady())) await pause(20)
  }
  const killed = (part: string): Event => {
    let former = 0
    const running = () => Supervised.processesOf(server.processId).get(part)
    return {
      part,
      signal: "SIGKILL",
      stop: async () => {
        former = running()!
        Supervised.kill(former)
        return undefined
      },
      restore: async () => {
        for (let id = running(); id === undefined || id === former; id = running()) await pause(50)
        while (!(await server.isReady())) await pause(20)
      }
    }
  }
  const supervisor = (signal: Event["signal"]): Event => ({
    part: "supervisor",
    signal,
    stop: () => {
      former = [...Supervised.processesOf(server.processId).values()]
      return signal === "SIGKILL" ? server.kill().then(() => undefined) : stopped(server)
    },
    restore: startAgain
  })
  const figures = await stopEach(options, {
    first: server,
    addresses: server,
    readyMillis,
    events: (dice) => [
      killed(`front-${dice.between(1, 2)}`),
      killed("engine"),
      supervisor("SIGKILL"),
      supervisor("SIGTERM")
    ]
  })
  await server.terminate()
  return figures
}

/** Three nodes: an engine and two fronts. */
export async function frontsProof(options: Options): Promise<Figures> {
  await using database = await FreshDatabase.make()
  const node = async (role: string) => {
    const settings = {
      ...(await nodeSettings()),
      ...(isInstalled ? behindBalancer : {}),
      CLUSTER_ROLE: role,
      // The balancer asks each half second, and is late itself on a starved machine.
      SHUTDOWN_DELAY_MILLISECONDS: "2000"
    }
    return ServerUnderTest.make({ database, settings })
  }
  await using engine = await node("engine")
  await using one = await node("front")
  await using two = await node("front")
  const begun = performance.now()
  await Promise.all([engine, one, two].map((each) => each.start()))
  const readyMillis = performance.now() - begun
  await using balancer = isInstalled ? await Balancer.make([engine, one, two]) : undefined
  const event = (server: ServerUnderTest, part: string, signal: Event["signal"]): Event => ({
    part,
    signal,
    isCovered: balancer !== undefined && signal === "SIGTERM",
    stop: () => (signal === "SIGKILL" ? server.kill().then(() => undefined) : stopped(server)),
    restore: async () => {
      await server.start()
      await pause(noticeMillis)
    }
  })
  return await stopEach(options, {
    first: engine,
    addresses: balancer ?? [one, two],
    readyMillis,
    events: (dice) => [
      event(one, "front", "SIGKILL"),
      event(two, "front", "SIGKILL"),
      event(engine, "engine", "SIGKILL"),
      event(dice.pick([one, two]), "front", "SIGTERM")
    ]
  })
}

/** Asks a server to stop. Returns a complaint if it did not end with success. */
async function stopped(server: ServerUnderTest): Promise<string | undefined> {
  const { code, signal } = await server.terminate()
  return code === 0 ? undefined : `it ended with ${signal ?? code}:\n${server.log}`
}

async function stopEach(options: Options, installation: Installation): Promise<Figures> {
  const { rounds, seed, workers = 16, onRound } = options
  const { first, addresses, readyMillis } = installation
  const dice = new Dice(seed)
  const figures: Figures = {
    ...noFindings(),
    waits: new Map(),
    returns: new Map(),
    inFlight: 0,
    failed: 0,
    moved: 0,
    retries: 0,
    readyMillis
  }
  const keys = await first.createOrganization()
  using apis = new Apis(addresses, keys, workers, PatientConnections)
  const [settledQueue, observedQueue] = (await apis.createQueues(2)) as [string, string]
  const settled = await Promise.all(Array.from({ length: settledGuests }, () => apis.guest()))
  await Promise.all(settled.map((guest) => apis.enter(settledQueue, guest)))
  const places = () => Promise.all(settled.map((guest) => placeOf(apis, settledQueue, guest)))
  const before = await places()
  const guests = await Promise.all(Array.from({ length: observers }, () => apis.guest()))

  const setup = await Setup.make(apis, dice)
  const ledger = new Ledger()
  using clients = new Apis(addresses, keys, workers, BalancedConnections)
  const load = new Load(clients, ledger, dice, workers, { restMillisMax })
  load.mechanisms = setup.mechanisms
  let events = 0
  try {
    for (let round = 1; round <= rounds; round++) {
      for (const event of installation.events(dice)) {
        const name = `${event.signal} ${event.part.replace(/-\d$/, "")}`
        await pause(dice.between(300, 800))
        const { waits, returnMillis } = await stopAndRestore(event, {
          apis,
          clients,
          queueId: observedQueue,
          guests,
          figures
        })
        note(figures.waits, name, Math.max(...waits))
        note(figures.returns, name, returnMillis)
        const now = await places()
        figures.moved += now.filter((place, index) => place !== before[index]).length
        await setup.checkUnder(load, ledger, figures, dice, (events += 1) % eventsPerDrop === 0)
        figures.retries = load.retries
        onRound?.(name, figures)
      }
    }
  } catch (error) {
    throw new Error(`${String(error)}; the log of ${first.name}:\n${first.log}`, { cause: error })
  } finally {
    await load.stop()
  }
  await setup.summarize(ledger, figures)
  return figures
}

const note = (figures: Figures["waits"], name: string, millis: number) =>
  figures.set(name, [...(figures.get(name) ?? []), millis])

/** A consumer's place, as far as it must not change. */
async function placeOf(apis: Apis, queueId: string, guest: Guest): Promise<string> {
  const { status, body } = await apis.status(queueId, guest)
  return JSON.stringify([status, body.status, body.position, body.enteredAt])
}

interface Scene {
  readonly apis: Apis
  /** The load's own connections. */
  readonly clients: Apis
  readonly queueId: string
  readonly guests: ReadonlyArray<Guest>
  readonly figures: Figures
}

/** Stops a part and lets it come back. Returns the longest wait of each observer meanwhile, and how long it took. */
async function stopAndRestore(event: Event, { apis, clients, queueId, guests, figures }: Scene) {
  let isBack = false
  const longest = Promise.all(guests.map((guest) => longestWait(apis, queueId, guest, () => isBack)))
  await clients.consumer.nextRequest()
  const stopWatching = watchExchanges(clients, event, figures)
  const begun = performance.now()
  const complaint = await event.stop()
  if (complaint !== undefined) figures.violations.push(`${event.signal} ${event.part}: ${complaint}`)
  // An observer ends before that only with a failure.
  await Promise.race([event.restore(), longest])
  const returnMillis = performance.now() - begun
  isBack = true
  const waits = await longest
  stopWatching()
  return { waits, returnMillis }
}

/**
 * Reports failed requests. After SIGKILL connections may break, and a request may be refused until another process has
 * taken over. After SIGTERM each request in progress must have been answered, and with others to serve every request.
 */
function watchExchanges({ consumer }: Apis, { part, signal, isCovered = false }: Event, figures: Figures): () => void {
  const stopsAt = performance.now()
  consumer.onEnd = ({ what, sentAt, endedAt, outcome }: Exchange) => {
    const isBroken = typeof outcome === "string" || brokenAtBalancer(outcome)
    const isFailure = isBroken || outcome >= 500
    if (signal === "SIGKILL") {
      if (isFailure && !isBroken && outcome !== 503) figures.violations.push(`${signal} ${part}: ${what}: ${outcome}`)
      return
    }
    const wasInFlight = sentAt < stopsAt && endedAt > stopsAt
    if (wasInFlight) figures.inFlight += 1
    if (!isFailure || !(wasInFlight || isCovered)) return
    // A process that drains may refuse what it has not begun.
    if (outcome === 503 && !isCovered) return
    figures.failed += 1
    figures.violations.push(`${signal} ${part}: ${what}: ${outcome}`)
  }
  return () => (consumer.onEnd = undefined)
}
