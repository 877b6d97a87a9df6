/** Receivers next to one whose events cannot be handled for now. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Layer, Schedule } from "effect"
import { StoppedAddresses } from "../../../../src/store/message/StoppedAddresses.ts"
import * as Worker from "../../../../src/workers/ReceivedEvents.ts"
import { twilioRequest, twilioToken } from "../../../domain/receiver/vectors.ts"
import { layer as usherLayer, Usher } from "../../support/usherFixture.ts"
import { aReceiver, logOf, postTo } from "./receiverFixture.ts"

type Receiver = Effect.Success<ReturnType<typeof aReceiver>>

const aTwilio = aReceiver({ adapter: "twilio", secret: twilioToken })

/** Posts the message STOP of so many numbers, one after another. Returns the numbers. */
const postStops = Effect.fnUntraced(function* (receiver: Receiver, count: number) {
  const { consumerUrl } = yield* Usher
  const numbers = Array.from({ length: count }, (_, index) => `+120255501${index + 10}`)
  for (const [index, From] of numbers.entries()) {
    const fields = { MessageSid: `SM${index}`, SmsStatus: "received", From, To: "+12025550100", Body: "STOP" }
    yield* postTo(consumerUrl, receiver, twilioRequest(fields, { signedUrl: `${consumerUrl}${receiver.path}` }))
  }
  return numbers
})

const until = <E, R>(holds: Effect.Effect<boolean, E, R>) =>
  holds.pipe(
    Effect.repeat({ until: (it) => it, schedule: Schedule.spaced("10 millis") }),
    Effect.timeout("1 minute"),
    Effect.asVoid
  )

const isDone = (receiver: Receiver) =>
  Effect.map(logOf(receiver), (log) => log.length > 0 && log.every((line) => line.includes(" DONE ")))

/**
 * Starts the worker, as a server does. For some receivers no address is ever stopped. Returns the addresses of each
 * receiver's events that have begun, and the receivers of which two events were in progress at once.
 */
const startWorker = Effect.fnUntraced(function* (stuck: ReadonlyArray<Receiver>) {
  const begun = new Map<string, Array<string>>()
  const inProgress = new Set<string>()
  const overlapping = new Set<string>()
  const stopping = Layer.effect(
    StoppedAddresses,
    Effect.map(StoppedAddresses, (real) => ({
      ...real,
      stop: (tenant, receiverId, channel, addresses, reason) =>
        Effect.suspend(() => {
          begun.set(receiverId, [...(begun.get(receiverId) ?? []), ...addresses])
          if (stuck.some(({ id }) => id === receiverId)) return Effect.never
          if (inProgress.has(receiverId)) overlapping.add(receiverId)
          inProgress.add(receiverId)
          return Effect.ensuring(
            real.stop(tenant, receiverId, channel, addresses, reason),
            Effect.sync(() => inProgress.delete(receiverId))
          )
        })
    }))
  ).pipe(Layer.provide(StoppedAddresses.layer))
  yield* Effect.provide(Worker.run, Layer.merge(Layer.fresh(Worker.stores), stopping))
  return { begunOf: ({ id }: Receiver) => begun.get(id) ?? [], overlapping }
})

describe("The events of a receiver", () => {
  layer(usherLayer, { excludeTestServices: true })((it) => {
    it.effect("are handled while those of another one are stuck, of which one is tried at a time", () =>
      Effect.gen(function* () {
        const [stuck, others] = [yield* aTwilio, [yield* aTwilio, yield* aTwilio]]
        const [first] = yield* postStops(stuck, 25)
        for (const other of others) yield* postStops(other, 3)
        const { begunOf } = yield* startWorker([stuck])
        for (const other of others) yield* until(isDone(other))
        assert.deepStrictEqual(begunOf(stuck), [first])
      }).pipe(Effect.scoped)
    )

    it.effect("are handled in the order of their arrival", () =>
      Effect.gen(function* () {
        const receiver = yield* aTwilio
        const numbers = yield* postStops(receiver, 30)
        const { begunOf, overlapping } = yield* startWorker([])
        yield* until(Effect.sync(() => begunOf(receiver).length === numbers.length))
        assert.deepStrictEqual(begunOf(receiver), numbers)
        assert.isFalse(overlapping.has(receiver.id))
      }).pipe(Effect.scoped)
    )

    it.effect("wait for their turn while every other receiver has more to do", () =>
      Effect.gen(function* () {
        const busy = [yield* aTwilio, yield* aTwilio, yield* aTwilio, yield* aTwilio]
        for (const receiver of busy) yield* postStops(receiver, 50)
        const last = yield* aTwilio
        yield* postStops(last, 1)
        const { begunOf } = yield* startWorker([])
        yield* until(Effect.sync(() => begunOf(last).length > 0))
        for (const receiver of busy) assert.isBelow(begunOf(receiver).length, 50)
      }).pipe(Effect.scoped)
    )
  })
})
