/** Shared code of the handlers of all kinds of mechanism on the Consumer API. */
import type { Effect, Schema } from "effect"
import type { HttpServerRequest } from "effect/http"
import type { Kind, MechanismRef, ViewOf } from "../../../domain/mechanism/Mechanism.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import type { EngineError } from "../../../engine/Engine.ts"
import type { orAnswer } from "../../errors/Refusals.ts"

/** A kind of mechanism on the Consumer API. */
export interface Presentation<
  K extends Kind,
  Param extends string,
  Fields extends Schema.Struct.Fields,
  State extends Schema.Codec<unknown, unknown>
> {
  readonly kind: K
  /** The path parameter that names the mechanism: `queueId`. */
  readonly param: Param
  /** The public view of a mechanism. */
  readonly Public: Schema.Struct<Fields>
  /** A consumer's own standing in a mechanism. */
  readonly State: State
}

/** A request to one mechanism. */
export interface ToMechanism<Param extends string> {
  readonly params: { readonly [P in Param]: string }
}

/** A request to enter one mechanism. */
export interface ToEntry<Param extends string> extends ToMechanism<Param> {
  readonly request: HttpServerRequest.HttpServerRequest
}

/** Makes the response for a consumer's view of its own place. */
export type Present<K extends Kind, State> = (
  mechanism: MechanismRef<K>,
  consumerId: string,
  view: ViewOf<K>
) => Effect.Effect<State, EngineError>

/** The services that a handler needs for its mechanism and its answer. */
export interface Handling<K extends Kind, Param extends string, State> {
  /** The mechanism that the request names. */
  readonly refOf: (tenant: Tenant, request: ToMechanism<Param>) => MechanismRef<K>
  readonly present: Present<K, State>
  /** Turns refusals and the engine's errors into HTTP answers. */
  readonly orHttpAnswer: ReturnType<typeof orAnswer>
}
