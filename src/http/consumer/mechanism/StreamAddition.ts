/** What a page adds to the states of a stream of the API that it opens. */
import { Context, type Effect } from "effect"
import type { Kind, MechanismRef } from "../../../domain/mechanism/Mechanism.ts"

/** Returns further fields of a consumer's state, given its view of its place. */
export type AddFields = (
  mechanism: MechanismRef<Kind>,
  view: unknown
) => Effect.Effect<{ readonly [name: string]: unknown }>

/** Undefined: the state goes out as the API declares it. */
export const StreamAddition = Context.Reference<AddFields | undefined>("usher/http/consumer/mechanism/StreamAddition", {
  defaultValue: () => undefined
})
