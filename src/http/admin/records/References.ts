/**
 * What a body refers to and what needs a record, as answers on the Admin API.
 */
import { Effect, Schema } from "effect"
import type { UnknownReferences } from "../../../store/catalogue/CatalogueReferences.ts"
import type { InUse } from "../../../store/records/Declaration.ts"
import type { Archival } from "../../../store/records/Records.ts"
import { Conflict, type ValidationError } from "../../errors/Errors.ts"
import { issueAt, issuesMax } from "../../errors/Issues.ts"
import { invalidInput } from "../../errors/Validation.ts"

/** Turns references to records that are not there into a 400 that names each of them, in the body as it was sent. */
export const orInvalidReferences =
  <Body>(schema: Schema.Codec<Body, object>, body: Body) =>
  <A, E, R>(
    effect: Effect.Effect<A, E | UnknownReferences, R>
  ): Effect.Effect<A, Exclude<E, UnknownReferences> | ValidationError, R> =>
    Effect.catchTag(effect as Effect.Effect<A, UnknownReferences, R>, "UnknownReferences", ({ references }) => {
      const sent = Schema.encodeSync(schema)(body) as { readonly [field: string]: unknown }
      return Effect.fail(
        invalidInput(
          references
            .slice(0, issuesMax)
            .map(({ path, expected }) => issueAt(sent, path, { kind: "validation", type: "picklist", expected }))
        )
      )
    }) as Effect.Effect<A, Exclude<E, UnknownReferences> | ValidationError, R>

/** The archived record; or a 409 that says how much still needs it. */
export const orInUse =
  (options: { readonly record: string; readonly code: string; readonly users: string }) =>
  <A>(archival: Archival<A, InUse>): Effect.Effect<A, Conflict> =>
    archival._tag === "Archived"
      ? Effect.succeed(archival.record)
      : Effect.fail(
          new Conflict({
            error: `${options.record} is in use by ${archival.users} ${options.users}`,
            code: options.code
          })
        )
