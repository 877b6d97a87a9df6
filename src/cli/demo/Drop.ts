/**
 * The story that the demo tells: the crowd, the crash, what happens beside the queue, and what is checked at the end.
 */
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

/** Pairs of sneakers: admissions in all. */
const pairsPerConsumer = 0.3
const admissionsPerMinute = 3_000
const admissionExpirationSeconds = 5
const lobbySeconds = 5
const arrivalSeconds = 10
/** The server is killed when so many of the pairs' admissions have been seen. */
const killAtShare = 0.45
/** Connections of the whole crowd; each carries the requests of many. */
const connections = 64

/** Plays it with a server of its own, which has ended when this returns. */
export const play = (consumers: number) =>
  Effect.gen(function* () {
    const server = yield* DemoServer.make
    yield* story(server, consumers).pipe(
      Effect.timeoutOrElse({
        duration: "3 minutes",
        orElse: () => Effect.fail(new DemoFailed({ message: "The demo did not come to its end within 3 minutes." }))
      }),
      Effect.tapError(() => Effect.flatMap(server.logTail, (tail) => Console.error(`The server said last:\n  ${tail}`)))
    )
  }).pipe(Effect.scoped, Effect.provide(NodeHttpClient.layerUndiciOptions({ connections })))

/** The whole story, against a server that is not running yet. */
const story = Effect.fnUntraced(function* (server: DemoServer.DemoServer, consumers: number) {
  const begun = yield* Clock.currentTimeMillis
  const maxAdmissions = Math.ceil(consumers * pairsPerConsumer)
  let isUp = true
  const crowd = Crowd.make()
  const board = yield* Board.make(crowd, { consumers, maxAdmissions, isUp: () => isUp })

  yield* board.tell("Usher demo: a sneaker drop, and a crash in the middle of it.\n")
  yield* board.tell(`  The server is up after ${yield* server.start} ms, with a database of its own.`)
  const keys = yield* server.createOrganization
  const apis = yield* Apis.make(server, keys, () => (crowd.tally.retries += 1))
  const { sequenceId, queueId } = yield* createDrop(apis, maxAdmissions)
  yield* board.tell(
    `  The drop: ${maxAdmissions} pairs, ${consumers} consumers, ${admissionsPerMinute} admissions a minute, ` +
      `${admissionExpirationSeconds} s to buy.\n  The lobby is open; the doors open in ${lobbySeconds} s.`
  )

  const crash = Effect.gen(function* () {
    yield* until(() => crowd.tally.admitted >= maxAdmissions * killAtShare)
    isUp = false
    yield* server.kill
    yield* board.tell("  The server was killed (SIGKILL). Consumers try again; it is started anew.")
    const millis = yield* server.start
    isUp = true
    yield* board.tell(`  The server is back after ${millis} ms.`)
  })
  const besides: Array<Checks.Check> = []
  const beside = <E, R>(name: string, event: Effect.Effect<ReadonlyArray<Checks.Check>, E, R>) =>
    Effect.gen(function* () {
      const checks = yield* event
      besides.push(...checks)
      yield* board.tell(`  Beside the queue, ${name}: ${checks[0]!.detail}.`)
    })
  const sideEvents = Effect.all(
    [
      beside("a draw", Raffle.play(apis, sequenceId)),
      beside("an auction", Bidding.playEnglish(apis, sequenceId)),
      beside("a falling price", Bidding.playDutch(apis, sequenceId)),
      beside("a timed release", Release.play(apis, sequenceId))
    ],
    { concurrency: "unbounded", discard: true }
  )
  const endOfSale = Effect.gen(function* () {
    yield* untilSoldOut(apis, queueId)
    yield* board.tell("  Sold out. The queue is ended: whoever still waits is told so.")
    yield* apis.admin.end(queueId)
  })
  yield* board.during(
    Effect.all(
      [
        Crowd.visit(crowd, apis, queueId, { consumers, overSeconds: arrivalSeconds }),
        Effect.andThen(crash, Effect.all([endOfSale, sideEvents], { concurrency: "unbounded" }))
      ],
      { concurrency: "unbounded", discard: true }
    )
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
    ...besides,
    endsInOrder(yield* server.stop)
  ]
  yield* Console.log(`What the consumers were told, held against ${evidence.history.length} recorded events:\n`)
  for (const { promise, holds, detail } of checks) {
    yield* Console.log(`  ${holds ? "✓" : "✗ BROKEN:"} ${promise}: ${detail}`)
  }
  const seconds = (((yield* Clock.currentTimeMillis) - begun) / 1000).toFixed(1)
  const broken = checks.filter(({ holds }) => !holds).length
  if (broken > 0) return yield* new DemoFailed({ message: `${broken} of ${checks.length} promises did not hold.` })
  yield* Console.log(`\nAll ${checks.length} promises held. It took ${seconds} s.`)
})

/** Experience, sequence and queue, as a brand's server would create them; answers the ids of the latter two. */
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
  return { sequenceId: sequence.id, queueId: queue.id }
})

/** Waits for the crowd's notes to say so. */
const until = (isSo: () => boolean) =>
  Effect.sync(isSo).pipe(Effect.repeat({ until: (so) => so, schedule: Schedule.spaced("50 millis") }))

/** While admissions are left and someone waits, somebody holds a grant at any moment; so nobody means sold out. */
const untilSoldOut = Effect.fnUntraced(function* (apis: Apis.Apis, queueId: string) {
  for (let quietLooks = 0; quietLooks < 4;) {
    yield* Effect.sleep("200 millis")
    const { live } = yield* apis.admin.live(queueId)
    quietLooks = (live.counts["GRANTED"] ?? 0) === 0 ? quietLooks + 1 : 0
  }
})

/** Waits until the queue's work is over: nobody waits, no grant is outstanding. */
const untilTornDown = (apis: Apis.Apis, queueId: string) =>
  apis.admin.live(queueId).pipe(
    Effect.repeat({
      until: ({ lifecycle, teardownStatus }) => lifecycle === "closed" || teardownStatus === "completed",
      schedule: Schedule.spaced("100 millis")
    })
  )

const endsInOrder = (exitCode: number): Checks.Check => ({
  promise: "the server ends in order",
  holds: exitCode === 0,
  detail: `exit code ${exitCode} after SIGTERM`
})
