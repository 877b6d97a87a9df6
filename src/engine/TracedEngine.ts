/** The span of a command, for requests that are sampled. */
import { type Clock, Context, Effect, Layer } from "effect"
import type { Command } from "../domain/mechanism/Decider.ts"
import type { ActorKind, MechanismRef } from "../domain/mechanism/Mechanism.ts"
import { CurrentSpan, endSpan, startSpan, tagOf, Traces, type Tracing } from "../measures/Traces.ts"
import { Engine } from "./Engine.ts"
import * as Time from "../store/coordination/Time.ts"

/** Errors that are not the caller's: the command had no outcome, or an unknown one. */
const failures: ReadonlySet<string> = new Set(["Unavailable", "Overloaded", "Parked", "Interrupted"])

/** Puts each sampled command into a span `engine.send`. Without traces the engine stays as it is. */
export const layer = Layer.effect(
  Engine,
  Effect.gen(function* () {
    const engine = yield* Engine
    const tracing = yield* Traces
    return tracing === undefined ? engine : traced(engine, tracing, yield* Time.serverClock)
  })
)

const traced = (engine: Engine["Service"], tracing: Tracing, clock: Clock.Clock): Engine["Service"] => {
  const inSpan = <A, E>(
    mechanism: MechanismRef<ActorKind>,
    command: Command,
    sent: Effect.Effect<A, E>
  ): Effect.Effect<A, E> =>
    Effect.withFiber((fiber) => {
      const parent = Context.get(fiber.context, CurrentSpan)
      if (parent === undefined) return sent
      const span = startSpan(tracing, clock, "engine.send", {
        parent,
        attributes: {
          "usher.mechanism.id": mechanism.id,
          "usher.mechanism.kind": mechanism.kind,
          "usher.command": command._tag
        }
      })
      return Effect.onExit(Effect.provideService(sent, CurrentSpan, span), (exit) =>
        Effect.sync(() => {
          const tag = tagOf(exit)
          const isRefusal = tag !== undefined && exit._tag === "Failure" && !isFailure(tag, exit.cause.reasons[0]?._tag)
          if (isRefusal) span.attribute("usher.refusal", tag)
          endSpan(span, clock, isRefusal ? undefined : tag)
        })
      )
    })
  return {
    ...engine,
    send: (mechanism, command) => inSpan(mechanism, command as Command, engine.send(mechanism, command)),
    sendAdmin: (mechanism, command) => inSpan(mechanism, command as Command, engine.sendAdmin(mechanism, command))
  }
}

const isFailure = (tag: string, reason: string | undefined): boolean => reason !== "Fail" || failures.has(tag)
