/**
 * Stops the server gracefully under load. All requests in flight receive a response, and live streams end without an
 * error. `/ready` reports the shutdown, and the process exits with success. Everything acknowledged is still there
 * afterwards. `npm start` starts the server, and only npm receives the signal.
 */
import { Effect } from "effect"
import { openStream } from "../../http/support/eventStream.ts"
import { Apis, type Guest } from "../support/Apis.ts"
import { Dice } from "../support/Dice.ts"
import { type HttpAnswer, HttpConnections } from "../support/HttpConnections.ts"
import { read } from "../invariants/Invariants.ts"
import { Ledger } from "../load/Ledger.ts"
import { pause } from "../support/Processes.ts"
import { ServerUnderTest } from "../support/ServerUnderTest.ts"

export interface Figures {
  rounds: number
  /** Requests in flight when the process received SIGTERM. */
  inFlight: number
  /** Requests in flight whose connection broke or that received an error. */
  failed: number
  /** Requests in flight that received a 503. */
  postponed: number
  /** Live streams open at that time. */
  streams: number
  /** Live streams that received an event and ended without an error. */
  ended: number
  /** Rounds in which `/ready` returned 503. */
  seenDraining: number
  /** Milliseconds from SIGTERM to the exit of the process. */
  readonly millis: Array<number>
  acknowledged: number
  lost: number
  readonly violations: Array<string>
}

/** A request in flight. */
interface Pending {
  readonly sentAt: number
  readonly what: string
}

const workers = 32
const subscribers = 20

export async function shutdownProof(options: { readonly rounds: number; readonly seed: number }): Promise<Figures> {
  const dice = new Dice(options.seed)
  await using server = await ServerUnderTest.make()
  await server.startByNpm()
  const keys = await server.createOrganization()
  using apis = new Apis(server, keys, workers)
  const [queueId] = (await apis.createQueues(1, { admitRate: 6_000 })) as [string]
  const ledger = new Ledger()
  const figures: Figures = {
    rounds: 0,
    inFlight: 0,
    failed: 0,
    postponed: 0,
    streams: 0,
    ended: 0,
    seenDraining: 0,
    millis: [],
    acknowledged: 0,
    lost: 0,
    violations: []
  }

  for (let round = 1; round <= options.rounds; round++) {
    await stopUnderLoad(server, apis, queueId, ledger, dice, figures)
    await server.startByNpm()
    const history = await apis.history(queueId)
    figures.lost += ledger.missing(queueId, history).length
    figures.violations.push(...read(history).violations)
    figures.rounds = round
  }
  figures.acknowledged = ledger.writes
  figures.violations.push(...ledger.unexpected)
  return figures
}

async function stopUnderLoad(
  server: ServerUnderTest,
  apis: Apis,
  queueId: string,
  ledger: Ledger,
  dice: Dice,
  figures: Figures
): Promise<void> {
  const pending = new Set<Pending>()
  let stoppedAt = Infinity

  /** Sends one request and records its result. Returns undefined if the sender has to stop. */
  const account = async (what: string, send: () => Promise<HttpAnswer>): Promise<HttpAnswer | undefined> => {
    const request: Pending = { sentAt: performance.now(), what }
    pending.add(request)
    try {
      const answer = await send()
      if (request.sentAt < stoppedAt && answer.status >= 500) {
        if (answer.status === 503) figures.postponed += 1
        else fail(`${what} returned ${answer.status}`)
      }
      return answer
    } catch (error) {
      if (request.sentAt < stoppedAt) fail(`${what} failed: ${String(error)}`)
      return undefined
    } finally {
      pending.delete(request)
    }
  }
  const fail = (what: string): void => {
    figures.failed += 1
    figures.violations.push(what)
  }

  const work = async (): Promise<void> => {
    const guest: Guest = await apis.guest()
    for (;;) {
      const action = dice.pick(["enter", "status", "leave"] as const)
      const answer = await account(action, () => apis[action](queueId, guest))
      if (answer === undefined || stoppedAt < Infinity) return
      if (answer.status !== 409) ledger.note(action === "status" ? "read" : "write", queueId, guest.consumerId, answer)
    }
  }
  const load = Array.from({ length: workers }, work)

  const subscribe = async () => {
    const path = `/api/queues/${queueId}/events`
    return Effect.runPromise(openStream(server.consumerUrl, path, apis.as(await apis.guest())))
  }
  const streams = await Promise.all(Array.from({ length: subscribers }, subscribe))

  let isDraining = false
  const watch = async (): Promise<void> => {
    const probe = new HttpConnections(server.adminUrl, 1)
    for (let answer: HttpAnswer | undefined; server.isRunning;) {
      answer = await probe.send({ method: "GET", path: "/ready" }).catch(() => undefined)
      if (answer === undefined && stoppedAt < Infinity) break
      if (answer?.status === 503) isDraining = true
      await pause(1)
    }
    probe.close()
  }

  await pause(dice.between(200, 600))
  const watching = watch()
  await pause(50)
  stoppedAt = performance.now()
  figures.inFlight += pending.size
  const ending = await server.terminate()
  figures.millis.push(ending.millis)
  for (const { next, over } of streams) {
    figures.streams += 1
    const { data } = await Effect.runPromise(next)
    if ((await Effect.runPromise(over)) === "ended" && typeof data.status === "string") figures.ended += 1
  }
  if (ending.code !== 0)
    figures.violations.push(`the process exited with ${ending.signal ?? `code ${ending.code}`}:\n${server.log}`)
  await Promise.all([...load, watching])
  if (isDraining) figures.seenDraining += 1
}
