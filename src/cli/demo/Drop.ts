/**
 * Plays the demo: a load on a server of its own, with a crash in the middle, the other mechanisms next to the queue, and
 * checks of what was promised at the end. Client, arrivals and journeys are those of `usher load`.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Clock, Console, Effect, Redacted, Schedule } from "effect"
import { HttpClient } from "effect/http"
import * as Client from "../../load/Client.ts"
import type { Proof } from "../../load/Report.ts"
import * as Board from "./Board.ts"
import * as Checks from "./Checks.ts"
import * as Crowd from "./Crowd.ts"
import { DemoFailed } from "./DemoFailed.ts"
import * as DemoServer from "./DemoServer.ts"
import * as OneStock from "./OneStock.ts"
import { journalsReplay } from "./Replays.ts"
import * as SideEvents from "./SideEvents.ts"
import { shares } from "./SideEvents.ts"

/** Pairs of sneakers per consumer, besides those that are kept for the side events. */
const pairsPerConsumer = 0.3
const admissionsPerMinute = 3_000
const admissionExpirationSeconds = 5
const lobbySeconds = 5
const arrivalSeconds = 10
/** The share of the admissions after which the server is killed. */
const killAtShare = 0.45
/** Connections of the whole crowd. Each carries the requests of many consumers. */
const connections = 64

/** Longer than a slow machine takes for a request of a crowd. */
const timeout = "1 minute"
/** While the server is away, requests are sent again for up to five minutes. */
const retries = Schedule.min([Schedule.exponential("50 millis", 1.5), Schedule.spaced("500 millis")]).pipe(
  Schedule.jittered,
  Schedule.upTo({ duration: "5 minutes" })
)

/** Plays the demo with its own server, which has stopped when this returns. With `stay` it serves on until it is interrupted. */
export const play = (consumers: number, stay: boolean) =>
  Effect.gen(function* () {
    const server = yield* DemoServer.make
    yield* playDrop(server, consumers).pipe(
      Effect.timeoutOrElse({
        duration: "15 minutes",
        orElse: () => Effect.fail(new DemoFailed({ message: "The demo did not finish within 15 minutes." }))
      }),
      Effect.tapError(() =>
        Effect.flatMap(server.logTail, (tail) => Console.error(`The server's last output:\n  ${tail}`))
      )
    )
    if (!stay) return
    yield* server.start
    yield* Console.log("\nThe server runs again, at the same addresses. Ctrl+C ends it.")
    yield* Effect.never
  }).pipe(Effect.scoped, Effect.provide(NodeHttpClient.layerUndiciOptions({ connections })))

/** Kills the server when this many consumers are admitted, and starts it again. `isUp` hears of both. */
const makeCrash = (
  server: DemoServer.DemoServer,
  crowd: Crowd.Crowd,
  board: Board.Board,
  admitted: number,
  isUp: (value: boolean) => void
) =>
  Effect.gen(function* () {
    yield* until(() => crowd.tally.admitted >= admitted)
    isUp(false)
    yield* server.kill
    yield* board.print("  The server was killed (SIGKILL). Consumers retry while it restarts.")
    const millis = yield* server.start
    isUp(true)
    yield* board.print(`  The server is back after ${millis} ms.`)
  })

/** Plays all parts, against a server that does not run yet. */
const playDrop = Effect.fnUntraced(function* (server: DemoServer.DemoServer, consumers: number) {
  const begun = yield* Clock.currentTimeMillis
  const pairs = Math.ceil(consumers * pairsPerConsumer) + shares.draw + shares.release
  let isUp = true
  const crowd = Crowd.make()
  const board = yield* Board.make(crowd, { consumers, pairs, isUp: () => isUp })

  yield* board.print("Usher demo: a sneaker drop, and a crash in the middle of it.\n")
  yield* board.print(`  The server is up after ${yield* server.start} ms, with its own database.`)
  const keys = yield* server.createOrganization
  const target = {
    ...keys,
    url: server.consumerUrl,
    adminUrl: server.adminUrl,
    secretKey: Redacted.make(keys.secretKey)
  }
  const client = yield* Client.make(target, { timeout, retries, onRetry: () => (crowd.tally.retries += 1) })
  const drop = yield* OneStock.createDrop(client, pairs, {
    lobbySeconds,
    admitRate: admissionsPerMinute,
    admissionExpirationSeconds
  })
  const { experienceId, stockId, queueId } = drop
  yield* board.print(addresses(server, keys, experienceId))
  yield* board.print(
    `  The drop: ${pairs} pairs in one stock, ${consumers} consumers, ${admissionsPerMinute} admissions a minute, ` +
      `${admissionExpirationSeconds} s to buy.\n  The lobby is open; the doors open in ${lobbySeconds} s.`
  )

  const killAt = consumers * pairsPerConsumer * killAtShare
  const crash = makeCrash(server, crowd, board, killAt, (value) => (isUp = value))
  const endOfSale = Effect.gen(function* () {
    yield* until(() => crowd.tally.entered === consumers)
    yield* untilSoldOut(client, queueId)
    yield* board.print("  Sold out. The queue is ended; waiting consumers see that.")
    yield* client.admin((api) => api.queues.end({ params: { id: queueId }, payload: {} }))
  })
  const afterTheCrash = Effect.all([playSideEvents(client, drop, board), endOfSale], { concurrency: 2 })
  const visits = Crowd.visit(crowd, client, queueId, { consumers, seconds: arrivalSeconds })
  const [[side]] = yield* board.during(Effect.all([Effect.andThen(crash, afterTheCrash), visits], { concurrency: 2 }))
  yield* untilTornDown(client, queueId)

  const fallenBack = yield* OneStock.playWaitlist(client, drop, side.decline)
  const bought = crowd.tally.completed + side.bought + fallenBack.bought
  const evidence = yield* evidenceOf(client, crowd, queueId, pairs)
  const checks = [
    ...Checks.run(evidence),
    yield* Checks.grantsVerify(crowd.notes, yield* keySetOf(server), queueId),
    ...side.checks,
    fallenBack.check,
    yield* OneStock.unitsAddUp(client, stockId, bought),
    yield* journalsReplay(client, experienceId),
    stopsGracefully(yield* server.stop)
  ]
  yield* Console.log(`The consumers' responses, compared with ${evidence.history.length} recorded events:\n`)
  yield* report(checks)
  const seconds = (((yield* Clock.currentTimeMillis) - begun) / 1000).toFixed(1)
  yield* Console.log(`\nAll ${checks.length} promises held. It took ${seconds} s.`)
})

/** Reads what the server has recorded of the queue. */
const evidenceOf = Effect.fnUntraced(function* (
  client: Client.Client,
  crowd: Crowd.Crowd,
  queueId: string,
  pairs: number
) {
  const places = yield* Client.allOf((cursor) =>
    client.admin((api) =>
      api.distributions.listDistributionConsumers({ params: { id: queueId }, query: { first: 100, ...cursor } })
    )
  )
  return { crowd, pairs, places, history: yield* Client.historyOf(client, queueId) }
})

/** Reads the published keys of grants. */
const keySetOf = ({ consumerUrl }: DemoServer.DemoServer) =>
  Effect.flatMap(HttpClient.get(`${consumerUrl}/.well-known/jwks.json`), ({ json }) => json)

/** Where a person watches the demo in a browser. The key is of the demo's own database. */
const addresses = (server: DemoServer.DemoServer, keys: DemoServer.Keys, experienceId: string): string =>
  `  The room:         ${server.consumerUrl}/e/${experienceId}\n` +
  `  The control room: ${server.adminUrl}/dashboard/experiences/${experienceId}\n` +
  `                    Sign in with ${keys.secretKey}`

/** The ids of the mechanisms that are played next to the queue, and of the sequence in which others are made. */
interface SidePlaces {
  readonly sequenceId: string
  readonly drawId: string
  readonly releaseId: string
}

/** Plays the other mechanisms next to the queue, all at once. Returns their checks, and what was bought of the stock. */
const playSideEvents = Effect.fnUntraced(function* (
  client: Client.Client,
  { sequenceId, drawId, releaseId }: SidePlaces,
  board: Board.Board
) {
  const event = <A extends { readonly checks: ReadonlyArray<Proof> }, E, R>(
    name: string,
    play: Effect.Effect<A, E, R>
  ) => Effect.tap(play, ({ checks }) => board.print(`  Next to the queue, ${name}: ${checks[0]!.detail}.`))
  const [draw, auction, falling, release] = yield* Effect.all(
    [
      event("a draw", SideEvents.playDraw(client, drawId)),
      event("an auction", SideEvents.playEnglishAuction(client, sequenceId)),
      event("a falling price", SideEvents.playDutchAuction(client, sequenceId)),
      event("a timed release", SideEvents.playRelease(client, releaseId))
    ],
    { concurrency: "unbounded" }
  )
  return {
    checks: [draw, auction, falling, release].flatMap(({ checks }) => checks),
    bought: draw.bought + release.bought,
    decline: draw.decline
  }
})

/** Prints each check. Fails if a promise did not hold. */
export const report = Effect.fnUntraced(function* (checks: ReadonlyArray<Proof>) {
  for (const { claim, holds, detail } of checks) {
    yield* Console.log(`  ${holds ? "✓" : "✗ BROKEN:"} ${claim}: ${detail}`)
  }
  const broken = checks.filter(({ holds }) => !holds).length
  if (broken > 0) return yield* new DemoFailed({ message: `${broken} of ${checks.length} promises did not hold.` })
})

/** Waits until the condition on the crowd's figures holds. */
const until = (isSo: () => boolean) =>
  Effect.sync(isSo).pipe(Effect.repeat({ until: (so) => so, schedule: Schedule.spaced("50 millis") }))

/**
 * Waits until no grant has been active for four polls. While admissions are left and consumers wait, grants are always
 * active.
 */
const untilSoldOut = Effect.fnUntraced(function* (client: Client.Client, queueId: string) {
  for (let quietPolls = 0; quietPolls < 4;) {
    yield* Effect.sleep("200 millis")
    const { live } = yield* distribution(client, queueId)
    quietPolls = (live?.counts["GRANTED"] ?? 0) === 0 ? quietPolls + 1 : 0
  }
})

/** Waits until the queue is finished: no consumer waits, and no grant is active. */
const untilTornDown = (client: Client.Client, queueId: string) =>
  distribution(client, queueId).pipe(
    Effect.repeat({
      until: ({ lifecycle, teardownStatus }) => lifecycle === "closed" || teardownStatus === "completed",
      schedule: Schedule.spaced("100 millis")
    })
  )

/** The queue as the admin monitors it. */
const distribution = (client: Client.Client, queueId: string) =>
  client.admin((api) => api.distributions.getDistribution({ params: { id: queueId } }))

const stopsGracefully = (exitCode: number): Proof => ({
  claim: "the server stops gracefully",
  holds: exitCode === 0,
  detail: `exit code ${exitCode} after SIGTERM`
})
