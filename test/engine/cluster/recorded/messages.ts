/**
 * The messages between nodes of the protocol that this release speaks: one of each question, and answers of each shape.
 * `protocol1.jsonl` has them as the first release of that protocol has sent them:
 *
 *     node test/engine/cluster/recorded/messages.ts > test/engine/cluster/recorded/protocol1.jsonl
 */
import { HashMap, Result } from "effect"
import type { Facts } from "../../../../src/domain/appointment/Appointment.ts"
import type { Kind } from "../../../../src/domain/mechanism/Mechanism.ts"
import * as Refusals from "../../../../src/domain/mechanism/Refusals.ts"
import {
  type AddressedQuestion,
  type Answer,
  answerToWire,
  decode,
  decodeQuestions,
  decodeReply,
  encode,
  encodeQuestions,
  encodeReply,
  type Question,
  type WireReply
} from "../../../../src/engine/cluster/Wire.ts"
import type { Change } from "../../../../src/engine/actor/Change.ts"
import { Unavailable } from "../../../../src/store/postgres/Unavailable.ts"
import { consumer, enter, queue, queueId } from "../../engineFixture.ts"

const named = (kind: Kind) => ({ ...queue(), kind })

const entry = { method: "send", mechanism: named("queue"), command: enter(1) } as const

const questions: ReadonlyArray<Question> = [
  entry,
  { method: "sendAdmin", mechanism: named("queue"), command: { _tag: "Pause", by: "admin", reason: "OTHER" } },
  { method: "view", mechanism: named("draw"), consumerId: consumer(1) },
  { method: "viewMany", consumerIds: [consumer(1), consumer(2)] },
  { method: "line", mechanism: queue(), version: 3 },
  { method: "facts", mechanism: named("auction") },
  { method: "definition", mechanism: named("queue") },
  { method: "identity", mechanism: named("queue") },
  { method: "inspect", mechanism: named("waitlist") },
  { method: "peek", mechanism: named("timed_release") },
  { method: "start" },
  { method: "unpark" }
]

const facts: Question = { method: "facts", mechanism: named("appointment") }

const answers: ReadonlyArray<readonly [Question, Answer]> = [
  [questions[0]!, Result.succeed({ status: "QUEUED", position: 7, enteredAt: 1_795_294_020_123 })],
  [questions[0]!, Result.fail(new Refusals.NotOpen({ opensAt: 1_795_294_020_123 }))],
  [questions[0]!, Result.fail(new Unavailable({ cause: "the mechanism's actor has stopped" }))],
  [questions[5]!, Result.succeed({ highestBid: "900719925474.09", admissionsLeft: Infinity })],
  [facts, Result.succeed({ taken: HashMap.make(["slot-1", 2]), slots: [] } as unknown as Facts)]
]

const change: Change = { consumerIds: [consumer(1)], recordChanged: false }

interface Message {
  readonly name: string
  readonly value: unknown
  readonly bytes: Uint8Array
  readonly decode: (bytes: Uint8Array) => unknown
}

const questionsOf = (name: string, asked: ReadonlyArray<Question>): Message => {
  const value = asked.map((question): AddressedQuestion => ({ id: queueId(), question }))
  return { name, value, bytes: encodeQuestions(value), decode: decodeQuestions }
}

const replyOf = (name: string, value: WireReply): Message => ({
  name,
  value,
  bytes: encodeReply(value),
  decode: decodeReply
})

/** The messages with their names. */
export const messages: ReadonlyArray<Message> = [
  ...questions.map((question) => questionsOf(`question ${question.method}`, [question])),
  questionsOf("questions", [...questions, ...[2, 3].map((n): Question => ({ ...entry, command: enter(n) }))]),
  ...answers.map(([question, answer], index) =>
    replyOf(`answer ${index}`, { answers: [[0, answerToWire(question, answer)]], continuation: undefined })
  ),
  replyOf("answers", {
    answers: answers.map(([question, answer], index) => [index, answerToWire(question, answer)]),
    continuation: undefined
  }),
  replyOf("answers so far", { answers: [], continuation: 3 }),
  { name: "change", value: change, bytes: encode(change), decode }
]

/** The questions and their answers, by the name of the message that carries the answer. */
export const answered: ReadonlyMap<string, readonly [Question, Answer]> = new Map(
  answers.map((answer, index) => [`answer ${index}`, answer])
)

if (process.argv[1] === import.meta.filename) {
  for (const { name, bytes } of messages) {
    console.log(JSON.stringify({ name, bytes: Buffer.from(bytes).toString("base64") }))
  }
}
