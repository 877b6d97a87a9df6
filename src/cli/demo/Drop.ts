/** Plays the demo: the crowd, the crash, the other mechanisms next to the queue, and the checks at the end. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Clock, Console, Effect, Schedule } from "effect"
import { toText } from "../../domain/values/Time.ts"
import * as Apis from "./Apis.ts"
import * as Bidding from "./Bidding.ts"
import * as Board from "./Board.ts"
import * as Checks from "./Checks.ts"
import * as Crowd from "./Crowd.ts"
import { DemoFailed } from "./DemoFailed.ts"
import * as DemoServer from "./DemoServer.ts"
import * as Grants from "./Grants.ts"
import * as Raffle from "./Raffle.ts"
import * as Release from "./Release.ts"

/** Pairs of sneakers per consumer, which limit the admissions. */
const pairsPerConsumer = 0.3
const admissionsPerMinute = 3_000
const admissionExpirationSeconds = 5
const lobbySeconds = 5
const arrivalSeconds = 10
/** The share of the admissions after which the server is killed. */
const killAtShare = 0.45
/** Connections of the whole crowd. Each carries the requests of many consumers. */
const connections = 64

/** Plays the demo with its own server, which has stopped when this returns. With `stay` it serves on until it is interrupted. */
export const play = (consumers: number, stay: boolean) =>
  Effect.gen(function* () {
    const server = yield* DemoServer.make
    yield* story(server, consumers).pipe(
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

/** Plays all parts, against a server that does not run yet. */
const story = Effect.fnUntraced(function* (server: DemoServer.DemoServer, consumers: number) {
  const begun = yield* Clock.currentTimeMillis
  const maxAdmissions = Math.ceil(consumers * pairsPerConsumer)
  let isUp = true
  const crowd = Crowd.make()
  const board = yield* Board.make(crowd, { consumers, maxAdmissions, isUp: () => isUp })

  yield* board.print("Usher demo: a sneaker drop, and a crash in the middle of it.\n")
  yield* board.print(`  The server is up after ${yield* server.start} ms, with its own database.`)
  const keys = yield* server.createOrganization
  const apis = yield* Apis.make(server, keys, () => (crowd.tally.retries += 1))
  const { experienceId, sequenceId, queueId } = yield* createDrop(apis, maxAdmissions)
  yield* board.print(addresses(server, keys, experienceId))
  yield* board.print(
    `  The drop: ${maxAdmissions} pairs, ${consumers} consumers, ${admissionsPerMinute} admissions a minute, ` +
      `${admissionExpirationSeconds} s to buy.\n  The lobby is open; the doors open in ${lobbySeconds} s.`
  )

  const crash = Effect.gen(function* () {
    yield* until(() => crowd.tally.admitted >= maxAdmissions * killAtShare)
    isUp = false
    yield* server.kill
    yield* board.print("  The server was killed (SIGKILL). Consumers retry while it restarts.")
    const millis = yield* server.start
    isUp = true
    yield* board.print(`  The server is back after ${millis} ms.`)
  })
  const endOfSale = Effect.gen(function* () {
    yield* until(() => crowd.tally.entered === consumers)
    yield* untilSoldOut(apis, queueId)
    yield* board.print("  Sold out. The queue is ended; waiting consumers see that.")
    yield* apis.admin.end(queueId)
  })
  const afterTheCrash = Effect.all([playSideEvents(apis, sequenceId, board), endOfSale], { concurrency: 2 })
  const visits = Crowd.visit(crowd, apis, queueId, { consumers, overSeconds: arrivalSeconds })
  const [[sideChecks]] = yield* board.during(
    Effect.all([Effect.andThen(crash, afterTheCrash), visits], { concurrency: 2 })
  )
  yield* untilTornDown(apis, queueId)

  const evidence = {
    crowd,
    maxAdmissions,
    history: yield* apis.admin.history(queueId),
    places: yield* apis.admin.places(queueId)
  }
  const checks = [
    ...Checks.run(evidence),
    yield* Grants.check(crowd.notes, yield* apis.shop.keySet, queueId),
    ...sideChecks,
    stopsGracefully(yield* server.stop)
  ]
  yield* Console.log(`The consumers' responses, compared with ${evidence.history.length} recorded events:\n`)
  yield* report(checks)
  const seconds = (((yield* Clock.currentTimeMillis) - begun) / 1000).toFixed(1)
  yield* Console.log(`\nAll ${checks.length} promises held. It took ${seconds} s.`)
})

/** Where a person watches the demo in a browser. The key is of the demo's own database. */
const addresses = (server: DemoServer.DemoServer, keys: DemoServer.Keys, experienceId: string): string =>
  `  The room:         ${server.consumerUrl}/e/${experienceId}\n` +
  `  The control room: ${server.adminUrl}/dashboard/experiences/${experienceId}\n` +
  `                    Sign in with ${keys.secretKey}`

/** Plays the other mechanisms next to the queue, all at once. Returns their checks. */
const playSideEvents = Effect.fnUntraced(function* (apis: Apis.Apis, sequenceId: string, board: Board.Board) {
  const event = <E, R>(name: string, play: Effect.Effect<ReadonlyArray<Checks.Check>, E, R>) =>
    Effect.tap(play, (checks) => board.print(`  Next to the queue, ${name}: ${checks[0]!.detail}.`))
  const checks = yield* Effect.all(
    [
      event("a draw", Raffle.play(apis, sequenceId)),
      event("an auction", Bidding.playEnglish(apis, sequenceId)),
      event("a falling price", Bidding.playDutch(apis, sequenceId)),
      event("a timed release", Release.play(apis, sequenceId))
    ],
    { concurrency: "unbounded" }
  )
  return checks.flat()
})

/** Prints each check. Fails if a promise did not hold. */
const report = Effect.fnUntraced(function* (checks: ReadonlyArray<Checks.Check>) {
  for (const { promise, holds, detail } of checks) {
    yield* Console.log(`  ${holds ? "✓" : "✗ BROKEN:"} ${promise}: ${detail}`)
  }
  const broken = checks.filter(({ holds }) => !holds).length
  if (broken > 0) return yield* new DemoFailed({ message: `${broken} of ${checks.length} promises did not hold.` })
})

/** Creates the experience, the sequence and the queue, as a brand's server would. Returns their ids. */
const createDrop = Effect.fnUntraced(function* (apis: Apis.Apis, maxAdmissions: number) {
  const now = yield* Clock.currentTimeMillis
  const experience = yield* apis.admin.create("/experiences", { name: "Sneaker drop" })
  const sequence = yield* apis.admin.create("/sequences", { experienceId: experience.id, name: "General sale" })
  const queue = yield* apis.admin.create("/queues", {
    sequenceId: sequence.id,
    name: "Sneaker queue",
    supportsGuest: true,
    lobbyOpenAt: toText(now - 1_000),
    openAt: toText(now + lobbySeconds * 1_000),
    admitRate: admissionsPerMinute,
    admissionExpirationSeconds,
    maxAdmissions,
    recycleExpiredAdmissions: true
  })
  return { experienceId: experience.id, sequenceId: sequence.id, queueId: queue.id }
})

/** Waits until the condition on the crowd's figures holds. */
const until = (isSo: () => boolean) =>
  Effect.sync(isSo).pipe(Effect.repeat({ until: (so) => so, schedule: Schedule.spaced("50 millis") }))

/**
 * Waits until no grant has been active for four polls. While admissions are left and consumers wait, grants are always
 * active.
 */
const untilSoldOut = Effect.fnUntraced(function* (apis: Apis.Apis, queueId: string) {
  for (let quietPolls = 0; quietPolls < 4;) {
    yield* Effect.sleep("200 millis")
    const { live } = yield* apis.admin.live(queueId)
    quietPolls = (live.counts["GRANTED"] ?? 0) === 0 ? quietPolls + 1 : 0
  }
})

/** Waits until the queue is finished: no consumer waits, and no grant is active. */
const untilTornDown = (apis: Apis.Apis, queueId: string) =>
  apis.admin.live(queueId).pipe(
    Effect.repeat({
      until: ({ lifecycle, teardownStatus }) => lifecycle === "closed" || teardownStatus === "completed",
      schedule: Schedule.spaced("100 millis")
    })
  )

const stopsGracefully = (exitCode: number): Checks.Check => ({
  promise: "the server stops gracefully",
  holds: exitCode === 0,
  detail: `exit code ${exitCode} after SIGTERM`
})
