/**
 * The endpoint of a mechanism for other nodes: one entity for each mechanism, on the node that owns its shard. It is
 * not a second actor. It passes each question to the actor of this node, which also serves local callers. One message
 * may carry questions about several mechanisms of the same node.
 *
 * No message is persisted. The journal holds the state, and a caller without an answer asks again.
 */
import { Cause, Effect, Exit, Option, Queue as Mailbox, Result, Schema, Stream } from "effect"
import { ClusterSchema, Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import type { MechanismRef } from "../../domain/mechanism/Mechanism.ts"
import { lineUpdate, type LineUpdate } from "../../domain/queue/LineCopy.ts"
import { Unavailable } from "../../store/postgres/Unavailable.ts"
import { hasStopped } from "../actor/Actor.ts"
import { type Engine, lastCommittedView } from "../Engine.ts"
import type { Registry } from "../registry/Registry.ts"
import type { ShardOwnership } from "../registry/ShardOwnership.ts"
import type { Change } from "../actor/Change.ts"
import { ReplyBatch } from "./ReplyBatch.ts"
import {
  answerToWire,
  type AddressedQuestion,
  decode,
  decodeQuestions,
  encode,
  encodeReply,
  type Question,
  type Refused,
  type WireAnswer,
  type WireReply
} from "./Wire.ts"

/**
 * Changes that wait for a slow node. At the limit its stream ends. The node then subscribes again and reads all
 * places it watches.
 */
const waitingChangesMax = 256

export const MechanismEntity = Entity.make("Mechanism", [
  // Returns the answers that are ready soon, and a continuation to fetch the rest with.
  Rpc.make("Query", { payload: { questions: Schema.Uint8Array }, success: Schema.Uint8Array }),
  // Returns further answers of a continuation.
  Rpc.make("FetchMore", { payload: { continuation: Schema.Int }, success: Schema.Uint8Array }),
  // The stream ends only when the last subscriber leaves. A node that gives the mechanism away does not wait for it.
  Rpc.make("Subscribe", { success: Schema.Uint8Array, stream: true }).annotate(
    ClusterSchema.InterruptOnTermination,
    true
  ),
  Rpc.make("Proof", { payload: { draw: Schema.Uint8Array }, success: Schema.String, stream: true })
])

/** The services that run on this node. */
interface Here {
  readonly engine: Engine["Service"]
  readonly registry: Registry
  readonly ownership: ShardOwnership
}

/** Answers other nodes from the mechanisms of this node. */
export const layer = (here: Here) =>
  MechanismEntity.toLayer(
    Effect.gen(function* () {
      const { entityId: id } = yield* Entity.CurrentAddress
      const replyBatches = new Map<number, ReplyBatch>()
      let lastContinuation = 0
      const reply = (batch: ReplyBatch, continuation: number): Effect.Effect<Uint8Array> =>
        batch.taken.pipe(
          Effect.map((answers) => {
            if (batch.isDone) replyBatches.delete(continuation)
            else replyBatches.set(continuation, batch)
            return encodeReply({ answers, continuation: batch.isDone ? undefined : continuation })
          }),
          // The node that asked has stopped waiting for the rest.
          Effect.onInterrupt(() => Effect.sync(() => replyBatches.delete(continuation)))
        )
      return {
        Query: ({ payload }) =>
          Effect.flatMap(runAll(here, decodeQuestions(payload.questions)), (batch) => reply(batch, ++lastContinuation)),
        FetchMore: ({ payload: { continuation } }) => {
          const batch = replyBatches.get(continuation)
          return batch === undefined ? Effect.succeed(encodeReply(nothing)) : reply(batch, continuation)
        },
        Subscribe: () => Stream.map(changesOf(here.registry, id), encode),
        Proof: ({ payload }) =>
          Stream.unwrap(
            Effect.map(here.engine.proof(decode<MechanismRef<"draw">>(payload.draw)), (text) => text ?? Stream.empty)
          ).pipe(Stream.orDie)
      }
    }),
    {
      concurrency: "unbounded",
      mailboxCapacity: "unbounded",
      // A defect concerns only its caller; the actor has its own restart policy.
      disableFatalDefects: true
    }
  )

/**
 * Runs each question on the engine of this node, if the node owns the mechanism. The commands of a message reach an
 * actor together, so that they become one commit.
 */
export const runAll = (here: Here, questions: ReadonlyArray<AddressedQuestion>): Effect.Effect<ReplyBatch> =>
  Effect.suspend(() => {
    const batch = new ReplyBatch(questions.length)
    const others = questions.flatMap((question, index) => {
      const answer = (answer: WireAnswer) => batch.add(index, answer)
      return putCommand(here, question, answer) ? [] : [Effect.map(answerQuestion(here, question), answer)]
    })
    if (others.length === 0) return Effect.succeed(batch)
    const answers = Effect.all(others, { concurrency: "unbounded", discard: true })
    // The questions run to their end, even if the caller has stopped waiting.
    return Effect.as(Effect.forkDetach(answers, { startImmediately: true }), batch)
  })

/** Puts a consumer's command into the mailbox of a running actor, without a fiber. Returns whether it did. */
function putCommand(
  { registry, ownership }: Here,
  { id, question }: AddressedQuestion,
  answer: (answer: WireAnswer) => void
): boolean {
  if (question.method !== "send" || !ownership.owns(id)) return false
  const actor = registry.running(id)
  if (actor?.isFor(question.mechanism) !== true) return false
  actor.put(question.command, (exit) => answer(answerToWire(question, resultOf(exit))))
  return true
}

const resultOf = (exit: Exit.Exit<unknown, Refused>): Result.Result<unknown, Refused> => {
  if (Exit.isSuccess(exit)) return Result.succeed(exit.value)
  const refused = Cause.findErrorOption(exit.cause)
  return Result.fail(Option.getOrElse(refused, () => new Unavailable({ cause: exit.cause })))
}

/** Answers a question from the mechanisms of this node. */
export const answerQuestion = (
  { engine, registry, ownership }: Here,
  { id, question }: AddressedQuestion
): Effect.Effect<ReturnType<typeof answerToWire>> => {
  const run = (): Effect.Effect<unknown, Refused> => {
    switch (question.method) {
      case "send":
        return engine.send(question.mechanism, question.command)
      case "sendAdmin":
        return engine.sendAdmin(question.mechanism, question.command)
      case "view":
        return question.recall === undefined
          ? engine.view(question.mechanism, question.consumerId)
          : engine.viewForStatus(question.mechanism, question.consumerId)
      case "viewMany":
        return Effect.flatMap(
          registry.acquire(id),
          (actor): Effect.Effect<unknown, Refused> => actor?.viewMany(question.consumerIds) ?? notHere
        )
      case "line":
        return Effect.flatMap(registry.acquire(id), (actor): Effect.Effect<unknown, Refused> => {
          if (actor?.isFor(question.mechanism) !== true) return Effect.undefined
          return actor.ask<LineUpdate | undefined>((state, now) => lineUpdate(state, question.version, now))
        })
      case "start":
        return engine.start(id)
      case "unpark":
        return engine.unpark(id)
      case "facts":
      case "definition":
      case "identity":
      case "inspect":
      case "peek":
        return engine[question.method](question.mechanism)
      default:
        return unknown(question)
    }
  }
  return Effect.suspend(() => (ownership.owns(id) ? run() : (recalled(registry, question) ?? notHere))).pipe(
    Effect.catchDefect((cause) => new Unavailable({ cause })),
    Effect.result,
    Effect.map((answer) => answerToWire(question, answer))
  )
}

/** Answers a status read as the last owner, if the node that asks is cut off from the database too. */
const recalled = (registry: Registry, question: Question): Effect.Effect<unknown> | undefined =>
  question.method === "view" && question.recall === "former"
    ? lastCommittedView(registry, question.mechanism, question.consumerId)
    : undefined

/** The reply for a continuation that this node does not know: the entity has moved, and the answers are lost. */
const nothing: WireReply = { answers: [], continuation: undefined }

const notHere = Effect.fail(new Unavailable({ cause: hasStopped }))

/** The answer to a question of a newer release. */
const unknown = ({ method }: { readonly method?: unknown }) =>
  Effect.fail(new Unavailable({ cause: `an unknown question: ${String(method)}` }))

/** Streams the changes of a mechanism of this node. The first element confirms the subscription. */
const changesOf = (registry: Registry, id: string): Stream.Stream<Change> =>
  Stream.callback<Change>((changes) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        Mailbox.offerUnsafe(changes, { consumerIds: [], recordChanged: true })
        return registry.forward(id, ({ consumerIds, recordChanged }) => {
          if (Mailbox.sizeUnsafe(changes) >= waitingChangesMax) Mailbox.endUnsafe(changes)
          else Mailbox.offerUnsafe(changes, { consumerIds: [...consumerIds], recordChanged })
        })
      }),
      (end) => Effect.sync(end)
    )
  )
