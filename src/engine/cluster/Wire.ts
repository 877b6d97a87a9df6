/**
 * What nodes ask each other about a mechanism, and what they answer, as bytes: commands, views and facts are plain data,
 * and travel as the structured clones they are in memory, exact to the last decimal. Both ends are the same version of
 * the rules, as nodes with another schema do not understand each other ({@link ./Transport.ts}).
 */
import { HashMap, Result } from "effect"
import { deserialize, serialize } from "node:v8"
import type { Facts } from "../../domain/appointment/Appointment.ts"
import type { AdminCommand, ConsumerCommand, MechanismRef } from "../../domain/mechanism/Mechanism.ts"
import type { Kind } from "../../domain/mechanism/Decider.ts"
import * as Refusals from "../../domain/mechanism/Refusals.ts"
import { Unavailable } from "../../store/postgres/Unavailable.ts"
import { Overloaded } from "../actor/Actor.ts"
import { type EngineError, MechanismNotFound } from "../Engine.ts"
import { Parked } from "../registry/Registry.ts"

/** One question about a mechanism; what is asked for a tenant names it, what nodes ask for themselves does not. */
export type Question =
  | { readonly ask: "send"; readonly mechanism: Named; readonly command: ConsumerCommand<Kind> }
  | { readonly ask: "sendAdmin"; readonly mechanism: Named; readonly command: AdminCommand<Kind> }
  | { readonly ask: "view"; readonly mechanism: Named; readonly consumerId: string }
  | { readonly ask: "facts" | "configuration" | "identity" | "inspect" | "peek"; readonly mechanism: Named }
  | { readonly ask: "viewMany"; readonly consumerIds: ReadonlyArray<string> }
  | { readonly ask: "start" | "unpark" }

type Named = MechanismRef<Kind>

/** A question and the mechanism it is about, by id. */
export interface Asked {
  readonly id: string
  readonly question: Question
}

/** What the one who asked is told: whatever the engine answers, or its refusal. */
export type Answer = Result.Result<unknown, Refused>

/** Any typed no. */
export type Refused = EngineError | { readonly _tag: string }

export const encode = (value: unknown): Uint8Array => serialize(value)

/** The value that such bytes say: they come from a node that has the database's secret. */
export const decode = <A>(bytes: Uint8Array): A => deserialize(bytes) as A

/** Answers that are there, each with the place of its question in the message. */
export type WireAnswers = ReadonlyArray<readonly [index: number, answer: WireAnswer]>

/** A reply: what is answered by now, and what to ask for the rest with. */
export interface WireReply {
  readonly answers: WireAnswers
  readonly continuation: number | undefined
}

export type WireAnswer = readonly [kind: "yes" | "no", value: unknown]

/** An answer as it travels: errors are objects that know more than their fields, and are made anew. */
export const answerToWire = (question: Question, answer: Answer): WireAnswer => {
  if (Result.isFailure(answer)) return ["no", fieldsOf(answer.failure)]
  if (question.ask !== "facts") return ["yes", answer.success]
  return ["yes", isOfSlots(question) ? factsToWire(answer.success as Facts) : withoutProof(answer.success)]
}

export const answerFromWire = (question: Question, [kind, value]: WireAnswer): Answer => {
  if (kind === "no") return Result.fail(refusedOf(value as ReturnType<typeof fieldsOf>))
  return Result.succeed(isOfSlots(question) ? factsFromWire(value as ReturnType<typeof factsToWire>) : value)
}

const isOfSlots = (question: Question): boolean => question.ask === "facts" && question.mechanism.kind === "appointment"

/** A draw's proof is not data but a way to write it; it is asked for by itself. */
const withoutProof = (facts: unknown): unknown => {
  if (typeof facts !== "object" || facts === null || !("proof" in facts)) return facts
  const { proof: _, ...known } = facts
  return known
}

/** All that can be refused, by tag. */
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

/** An appointment's facts; what is taken is kept in a structure that knows more than its entries. */
const factsToWire = ({ taken, ...facts }: Facts) => ({ ...facts, taken: [...HashMap.entries(taken)] })

const factsFromWire = ({ taken, ...facts }: ReturnType<typeof factsToWire>): Facts => ({
  ...facts,
  taken: HashMap.fromIterable(taken)
})
