/**
 * Questions to mechanisms that live on other nodes. While messages to a node are under way, further questions to it
 * gather, and travel together in the next: a herd that comes in at the wrong door costs a message each few milliseconds, not
 * one each. Answers come back as they are there, so nobody waits for a mechanism that is slow.
 */
import { Effect, Exit, Fiber, type Scope, Stream } from "effect"
import { Unavailable } from "../../store/postgres/Unavailable.ts"
import { hasStopped, mailboxCapacity, Overloaded } from "../actor/Actor.ts"
import { answerFromWire, type Asked, encode, type Question, type Refused, type WireAnswers } from "./Wire.ts"

/** Questions in one message. */
const messageQuestionsMax = 512

/** Messages to one node that gather no more questions, and are not answered in full: beyond it questions wait. */
const messagesAtOnce = 4

/**
 * How long an answer is awaited, through changes of the owner; then the caller is told to come back. A request may ask twice,
 * and is to be answered within 5 seconds.
 */
const patienceMillis = 2_400

/** Before a mechanism that is just moving is asked about again. */
const retryMillis = 50

/** Takes questions to the owner of the mechanism that the first is about. The answers end when no more come, or fail. */
export type Transport = (mechanismId: string, message: Uint8Array) => Stream.Stream<WireAnswers, Unavailable>

interface Waiting extends Asked {
  readonly answer: (answer: Effect.Effect<unknown, Refused>) => void
}

/** What waits for one node. */
interface Line {
  readonly waiting: Array<Waiting>
  underWay: number
}

/** What is believed about where mechanisms live. */
export interface OwnerLookup {
  /** Names the node that a mechanism is believed to live on. */
  readonly of: (mechanismId: string) => string
  /** It did not live there: nothing was tried, and it is asked about again. */
  readonly forget: (mechanismId: string) => void
}

/** Asks questions by means of `carry`, whose fibers live in the surrounding scope. */
export const make = Effect.fnUntraced(function* (transport: Transport, owners: OwnerLookup) {
  const scope: Scope.Scope = yield* Effect.scope
  const fork = Effect.runForkWith(yield* Effect.context<never>())
  const lines = new Map<string, Line>()

  const send = (owner: string, line: Line): void => {
    const message = line.waiting.splice(0, messageQuestionsMax)
    line.underWay += 1
    const asked: ReadonlyArray<Asked> = message.map(({ id, question }) => ({ id, question }))
    const carried = Stream.runForEach(transport(message[0]!.id, encode(asked)), (answers) =>
      Effect.sync(() => tell(message, answers))
    ).pipe(
      Effect.onExit((exit) =>
        Effect.sync(() => {
          line.underWay -= 1
          if (line.waiting.length > 0) send(owner, line)
          else if (line.underWay === 0) lines.delete(owner)
          const cause = Exit.isFailure(exit) ? exit.cause : "the node did not answer"
          for (const { answer } of message) answer(Effect.fail(new Unavailable({ cause })))
        })
      )
    )
    Fiber.runIn(fork(Effect.exit(carried)), scope)
  }

  /** One try. */
  const attempt = (id: string, question: Question): Effect.Effect<unknown, Refused> =>
    Effect.callback((resume) => {
      const owner = owners.of(id)
      let line = lines.get(owner)
      if (line === undefined) lines.set(owner, (line = { waiting: [], underWay: 0 }))
      if (line.waiting.length >= mailboxCapacity) return resume(Effect.fail(new Overloaded()))
      line.waiting.push({ id, question, answer: resume })
      if (line.underWay < messagesAtOnce) send(owner, line)
    })

  /** The answer of whichever node owns the mechanism; `here` is asked instead while that is this one. */
  const ask = (
    id: string,
    question: Question,
    here: () => Effect.Effect<unknown, Refused> | undefined
  ): Effect.Effect<unknown, Refused> => {
    const tried: Effect.Effect<unknown, Refused> = Effect.suspend(() => here() ?? attempt(id, question)).pipe(
      Effect.catchIf(wasNotTried, () => {
        owners.forget(id)
        return Effect.andThen(Effect.sleep(retryMillis), tried)
      })
    )
    return Effect.timeoutOrElse(tried, {
      duration: patienceMillis,
      orElse: () => Effect.fail(new Unavailable({ cause: "no node answers for the mechanism" }))
    })
  }

  return { ask }
})

/** True if the one who was asked did nothing, because it does not own the mechanism: another one may. */
export const wasNotTried = (refused: Refused): boolean => refused instanceof Unavailable && refused.cause === hasStopped

/** Who has been answered once hears nothing more. */
function tell(message: ReadonlyArray<Waiting>, answers: WireAnswers): void {
  for (const [index, wireAnswer] of answers) {
    const { question, answer } = message[index]!
    answer(Effect.fromResult(answerFromWire(question, wireAnswer)))
  }
}
