/**
 * The questions between nodes and their answers, as bytes. Commands, views and facts are plain data and travel as
 * structured clones, exact to the last decimal; questions and answers as columns ({@link ./Columns.ts}).
 *
 * The two ends may run different releases whose protocols overlap ({@link ./Transport.ts}). A release ignores unknown
 * fields, and answers an unknown question with `Unavailable`. A release sends a question that came with level N only
 * once the installation writes level N.
 */
import { HashMap, Result } from "effect"
import { deserialize, serialize } from "node:v8"
import type { Facts } from "../../domain/appointment/Appointment.ts"
import type { AdminCommand, ConsumerCommand, ActorKind, MechanismRef } from "../../domain/mechanism/Mechanism.ts"
import * as Refusals from "../../domain/mechanism/Refusals.ts"
import { Unavailable } from "../../store/postgres/Unavailable.ts"
import { Overloaded } from "../actor/Actor.ts"
import { type Column, fromColumn, toColumn } from "./Columns.ts"
import { type EngineError, MechanismNotFound } from "../Engine.ts"
import { Parked } from "../registry/Registry.ts"

/** One question about a mechanism. A question for a tenant names the tenant; a question between nodes does not. */
export type Question =
  | { readonly method: "send"; readonly mechanism: Named; readonly command: ConsumerCommand<ActorKind> }
  | { readonly method: "sendAdmin"; readonly mechanism: Named; readonly command: AdminCommand<ActorKind> }
  | {
      readonly method: "view"
      readonly mechanism: Named
      readonly consumerId: string
      /**
       * What a status read may be answered from while the database is away: the memory of an owner, or also of a former
       * owner. A release that does not know the field answers the current view, or none.
       */
      readonly recall?: "owner" | "former"
    }
  | {
      /** Asks for a {@link LineUpdate}. A node that does not know the question is asked for views. */
      readonly method: "line"
      readonly mechanism: MechanismRef<"queue">
      readonly version: number | undefined
    }
  | { readonly method: "facts" | "definition" | "identity" | "inspect" | "peek"; readonly mechanism: Named }
  | { readonly method: "viewMany"; readonly consumerIds: ReadonlyArray<string> }
  | { readonly method: "start" | "unpark" }

type Named = MechanismRef<ActorKind>

/** A question and the id of its mechanism. */
export interface AddressedQuestion {
  readonly id: string
  readonly question: Question
}

/** The engine's result, or its refusal. */
export type Answer = Result.Result<unknown, Refused>

/** Any typed refusal. */
export type Refused = EngineError | { readonly _tag: string }

export const encode = (value: unknown): Uint8Array => serialize(value)

/** Returns the decoded value. The bytes are trusted, because they come from a node with the database's secret. */
export const decode = <A>(bytes: Uint8Array): A => deserialize(bytes) as A

/** A list as it travels. */
interface List {
  readonly count: number
  readonly column: Column
}

const listOf = (values: ReadonlyArray<unknown>): List => ({ count: values.length, column: toColumn(values) })

const valuesOf = ({ count, column }: List) => fromColumn(column, count)

export const encodeQuestions = (questions: ReadonlyArray<AddressedQuestion>): Uint8Array =>
  encode(listOf(questions.map(({ id, question }) => ({ id, question }))))

export const decodeQuestions = (bytes: Uint8Array): ReadonlyArray<AddressedQuestion> =>
  valuesOf(decode(bytes)) as ReadonlyArray<AddressedQuestion>

/** Finished answers, each with the index of its question in the message. */
export type WireAnswers = ReadonlyArray<readonly [index: number, answer: WireAnswer]>

/** A reply: the answers so far, and the continuation to fetch the rest with. */
export interface WireReply {
  readonly answers: WireAnswers
  readonly continuation: number | undefined
}

export type WireAnswer = readonly [kind: "yes" | "no", value: unknown]

/** A reply as it travels. */
interface ReplyOnWire {
  readonly answers: List
  readonly continuation: number | undefined
}

export const encodeReply = ({ answers, continuation }: WireReply): Uint8Array =>
  encode({
    answers: listOf(answers.map(([index, [kind, value]]) => ({ index, kind, value }))),
    continuation
  } satisfies ReplyOnWire)

export const decodeReply = (bytes: Uint8Array): WireReply => {
  const { answers, continuation } = decode<ReplyOnWire>(bytes)
  const values = valuesOf(answers) as ReadonlyArray<{ index: number; kind: WireAnswer[0]; value: unknown }>
  return { answers: values.map(({ index, kind, value }) => [index, [kind, value]]), continuation }
}

/** Encodes an answer. Errors travel as their fields, because a class instance does not survive the clone. */
export const answerToWire = (question: Question, answer: Answer): WireAnswer => {
  if (Result.isFailure(answer)) return ["no", fieldsOf(answer.failure)]
  if (question.method !== "facts") return ["yes", answer.success]
  return ["yes", isOfSlots(question) ? factsToWire(answer.success as Facts) : withoutProof(answer.success)]
}

export const answerFromWire = (question: Question, [kind, value]: WireAnswer): Answer => {
  if (kind === "no") return Result.fail(refusedOf(value as ReturnType<typeof fieldsOf>))
  if (kind !== "yes") return Result.fail(new Unavailable({ cause: `an unknown answer: ${String(kind)}` }))
  return Result.succeed(isOfSlots(question) ? factsFromWire(value as ReturnType<typeof factsToWire>) : value)
}

const isOfSlots = (question: Question): boolean =>
  question.method === "facts" && question.mechanism.kind === "appointment"

/** A draw's proof is a function, not data. `Proof` requests it separately. */
const withoutProof = (facts: unknown): unknown => {
  if (typeof facts !== "object" || facts === null || !("proof" in facts)) return facts
  const { proof: _, ...known } = facts
  return known
}

/** The class of every refusal, by tag. */
const refusals: { readonly [tag: string]: new (fields: never) => { readonly _tag: string } } = {
  ...Refusals,
  MechanismNotFound,
  Overloaded,
  Parked
}

const fieldsOf = (refused: Refused): { readonly _tag: string; readonly [field: string]: unknown } => {
  if (!(refused instanceof Unavailable)) return { ...refused }
  const { cause } = refused
  return { _tag: refused._tag, cause: typeof cause === "string" ? cause : String(cause) }
}

const refusedOf = ({ _tag, ...fields }: ReturnType<typeof fieldsOf>): Refused => {
  if (_tag === "Unavailable") return new Unavailable({ cause: fields["cause"] })
  const Refusal = refusals[_tag]
  return Refusal === undefined
    ? new Unavailable({ cause: `an unknown refusal: ${_tag}` })
    : new Refusal(fields as never)
}

/** Encodes an appointment's facts. The taken slots are a `HashMap`, which travels as its entries. */
const factsToWire = ({ taken, ...facts }: Facts) => ({ ...facts, taken: [...HashMap.entries(taken)] })

const factsFromWire = ({ taken, ...facts }: ReturnType<typeof factsToWire>): Facts => ({
  ...facts,
  taken: HashMap.fromIterable(taken)
})
