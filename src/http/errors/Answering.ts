/** Turns errors of the store, the engine and other services into answers of an API. */
import { Effect } from "effect"

type Answers = { readonly [tag: string]: (error: never) => unknown }

/** An error, or its answer if it has one. */
export type Answered<E, All extends Answers> = E extends { readonly _tag: infer Tag }
  ? Tag extends keyof All
    ? ReturnType<All[Tag]>
    : E
  : E

/**
 * Replaces the errors whose tags are named with their answers, and keeps other errors. An answer is in the resulting
 * type only if the effect can fail with its error. TypeScript cannot infer this for an effect of any type, so the one
 * cast is here.
 *
 * For example, `answering({ SlugTaken: (_: SlugTaken) => new Conflict({ error, code }) })`.
 */
export const answering =
  <const All extends Answers>(answers: All) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, Answered<E, All>, R> =>
    Effect.mapError(effect, (error) => {
      const tag = (error as { readonly _tag?: string })._tag
      return tag !== undefined && Object.hasOwn(answers, tag) ? answers[tag]!(error as never) : error
    }) as Effect.Effect<A, Answered<E, All>, R>
