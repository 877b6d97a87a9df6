/** Answers of the Admin API to references that do not exist, and to records that other records need. */
import { Effect, Schema } from "effect"
import type { UnknownReferences } from "../../../store/catalogue/CatalogueReferences.ts"
import type { InUse } from "../../../store/records/Declaration.ts"
import type { Archival } from "../../../store/records/Records.ts"
import { answering } from "../../errors/Answering.ts"
import { Conflict } from "../../../api/Errors.ts"
import { issueAt, issuesMax } from "../../errors/Issues.ts"
import { invalidInput } from "../../errors/Validation.ts"

/** Turns references to records that do not exist into a 400 that names each of them, in the body as it was sent. */
export const orInvalidReferences = <Body>(schema: Schema.Codec<Body, object>, body: Body) =>
  answering({
    UnknownReferences: ({ references }: UnknownReferences) => {
      const sent = Schema.encodeSync(schema)(body) as { readonly [field: string]: unknown }
      return invalidInput(
        references
          .slice(0, issuesMax)
          .map(({ path, expected }) => issueAt(sent, path, { kind: "validation", type: "picklist", expected }))
      )
    }
  })

/** Returns the archived record, or fails with a 409 that says how many other records need it. */
export const orInUse =
  (options: { readonly record: string; readonly code: string; readonly users: string }) =>
  <A>(archival: Archival<A, InUse>): Effect.Effect<A, Conflict> => {
    if (archival._tag === "Archived") return Effect.succeed(archival.record)
    const error = `${options.record} is in use by ${archival.users} ${options.users}`
    return Effect.fail(new Conflict({ error, code: options.code }))
  }
