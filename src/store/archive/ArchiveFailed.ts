/** Why an archive could not be written or read. */
import { Data, Effect } from "effect"

/** The machine, or the connection to the database, failed. */
export class ArchiveFailed extends Data.TaggedError("ArchiveFailed")<{ readonly cause: unknown }> {
  get code(): string | undefined {
    const code = (this.cause as { readonly code?: unknown } | undefined)?.code
    return typeof code === "string" ? code : undefined
  }

  override get message(): string {
    return this.cause instanceof Error ? this.cause.message : String(this.cause)
  }
}

/** The file is not a complete, unchanged backup. */
export class ArchiveDamaged extends Data.TaggedError("ArchiveDamaged")<{ readonly problem: string }> {}

export const damaged = (problem: string) => new ArchiveDamaged({ problem })

export const attempt = <A>(run: () => PromiseLike<A>) =>
  Effect.tryPromise({ try: run, catch: (cause) => new ArchiveFailed({ cause }) })
