/**
 * A mechanism as the other nodes reach it: one entity each, on the node that owns its shard. It is a door, not a second
 * actor: whatever comes in goes to the actor of this node, which also answers those who ask here. Questions about other
 * mechanisms of the same node come in at the same door, as they travel together.
 *
 * Nothing of it is persisted. The journal is the truth, and whoever was not answered asks again.
 */
import { Effect, Queue as Mailbox, Schema, Stream } from "effect"
import { ClusterSchema, Entity } from "effect/cluster"
import { Rpc } from "effect/rpc"
import type { MechanismRef } from "../../domain/mechanism/Mechanism.ts"
import { Unavailable } from "../../store/postgres/Unavailable.ts"
import { hasStopped } from "../actor/Actor.ts"
import type { Engine } from "../Engine.ts"
import type { Registry } from "../registry/Registry.ts"
import type { ShardOwnership } from "../registry/ShardOwnership.ts"
import type { Change } from "../actor/Change.ts"
import { ReplyBatch } from "./ReplyBatch.ts"
import { answerToWire, type Asked, decode, encode, type Refused, type WireReply } from "./Wire.ts"

/** Changes that wait for a slow node. At the limit its stream ends; it asks anew, and looks at everybody it follows. */
const waitingChangesMax = 256

export const MechanismEntity = Entity.make("Mechanism", [
  // Answers what can be answered soon, with a ticket for the rest.
  Rpc.make("Ask", { payload: { questions: Schema.Uint8Array }, success: Schema.Uint8Array }),
  // Answers more of what a ticket stands for.
  Rpc.make("FetchMore", { payload: { ticket: Schema.Int }, success: Schema.Uint8Array }),
  // It ends only when nobody follows any more: a node that gives the mechanism away does not wait for that.
  Rpc.make("Follow", { success: Schema.Uint8Array, stream: true }).annotate(ClusterSchema.InterruptOnTermination, true),
  Rpc.make("Proof", { payload: { draw: Schema.Uint8Array }, success: Schema.String, stream: true })
])

/** What lives on this node. */
interface Here {
  readonly engine: Engine["Service"]
  readonly registry: Registry
  readonly territory: ShardOwnership
}

/** Answers other nodes out of what lives here. */
export const layer = (here: Here) =>
  MechanismEntity.toLayer(
    Effect.gen(function* () {
      const { entityId: id } = yield* Entity.CurrentAddress
      const replyBatches = new Map<number, ReplyBatch>()
      let lastTicket = 0
      const told = (collector: ReplyBatch, ticket: number): Effect.Effect<Uint8Array> =>
        Effect.map(collector.taken, (answers) => {
          if (collector.isDone) replyBatches.delete(ticket)
          else replyBatches.set(ticket, collector)
          return encode({ answers, continuation: collector.isDone ? undefined : ticket } satisfies WireReply)
        })
      return {
        Ask: ({ payload }) =>
          Effect.flatMap(collected(here, decode<ReadonlyArray<Asked>>(payload.questions)), (collector) =>
            told(collector, ++lastTicket)
          ),
        FetchMore: ({ payload: { ticket } }) => {
          const collector = replyBatches.get(ticket)
          return collector === undefined ? Effect.succeed(encode(nothing)) : told(collector, ticket)
        },
        Follow: () => Stream.map(changesOf(here.registry, id), encode),
        Proof: ({ payload }) =>
          Stream.unwrap(
            Effect.map(here.engine.proof(decode<MechanismRef<"draw">>(payload.draw)), (text) => text ?? Stream.empty)
          ).pipe(Stream.orDie)
      }
    }),
    {
      concurrency: "unbounded",
      mailboxCapacity: "unbounded",
      // A defect concerns who asked; the actor has its own supervision.
      disableFatalDefects: true
    }
  )

/** Puts each question to the engine of this node, if the mechanism is its own. */
const collected = (here: Here, questions: ReadonlyArray<Asked>): Effect.Effect<ReplyBatch> =>
  Effect.suspend(() => {
    const collector = new ReplyBatch(questions.length)
    const asked = Effect.forEach(
      questions,
      (question, index) => Effect.map(answered(here, question), (answer) => collector.add(index, answer)),
      { concurrency: "unbounded", discard: true }
    )
    // What was asked is carried out, whether or not somebody still waits for the answer.
    return Effect.as(Effect.forkDetach(asked, { startImmediately: true }), collector)
  })

const answered = (
  { engine, registry, territory }: Here,
  { id, question }: Asked
): Effect.Effect<ReturnType<typeof answerToWire>> => {
  const ask = (): Effect.Effect<unknown, Refused> => {
    switch (question.ask) {
      case "send":
        return engine.send(question.mechanism, question.command)
      case "sendAdmin":
        return engine.sendAdmin(question.mechanism, question.command)
      case "view":
        return engine.view(question.mechanism, question.consumerId)
      case "viewMany":
        return Effect.flatMap(
          registry.acquire(id),
          (actor): Effect.Effect<unknown, Refused> => actor?.viewMany(question.consumerIds) ?? notHere
        )
      case "start":
        return engine.start(id)
      case "unpark":
        return engine.unpark(id)
      default:
        return engine[question.ask](question.mechanism)
    }
  }
  return Effect.suspend(() => (territory.owns(id) ? ask() : notHere)).pipe(
    Effect.catchDefect((cause) => new Unavailable({ cause })),
    Effect.result,
    Effect.map((answer) => answerToWire(question, answer))
  )
}

/** What the holder of a ticket hears from a node that does not know it: the entity has moved, and the answers are lost. */
const nothing: WireReply = { answers: [], continuation: undefined }

const notHere = Effect.fail(new Unavailable({ cause: hasStopped }))

/** What changes in a mechanism of this node; first, that nothing can be missed any more. */
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
