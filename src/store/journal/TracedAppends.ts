/**
 * The spans of the journal. Each sampled caller in a commit has its own `journal.append`, in its own trace. Commits of
 * many callers share one statement, so `journal.statement` begins a trace of its own, and links point in both
 * directions.
 */
import { Effect, type Tracer } from "effect"
import { endSpan, linkTo, startSpan, tagOf, type Tracing } from "../../measures/Traces.ts"
import type { Unavailable } from "../postgres/Unavailable.ts"
import type { Commit, JournalConflict } from "./Journal.ts"
import type { EncodedCommit } from "./JournalCodec.ts"
import type { Write } from "./MeasuredStatement.ts"
import * as Time from "../coordination/Time.ts"

type Append = (commit: Commit) => Effect.Effect<void, JournalConflict | Unavailable>

/** Runs a commit in the spans of its sampled callers. */
export const inSpans = (tracing: Tracing | undefined, append: Append): Append =>
  tracing === undefined
    ? append
    : (commit) =>
        commit.spans === undefined
          ? append(commit)
          : Effect.flatMap(Time.serverClock, (clock) => {
              const attributes = { "usher.mechanism.kind": commit.kind, "usher.events": commit.events.length }
              const spans = commit.spans!.map((parent) =>
                startSpan(tracing, clock, "journal.append", { parent, attributes })
              )
              return Effect.onExit(append({ ...commit, spans }), (exit) =>
                Effect.sync(() => {
                  for (const span of spans) endSpan(span, clock, tagOf(exit))
                })
              )
            })

/** Runs a statement in a span, if it has a sampled commit. */
export const inSpan = <E>(tracing: Tracing | undefined, write: Write<E>): Write<E> =>
  tracing === undefined
    ? write
    : (commits) => {
        const appends = spansOf(commits)
        if (appends.length === 0) return write(commits)
        return Effect.flatMap(Time.serverClock, (clock) => {
          const statement = startSpan(tracing, clock, "journal.statement", {
            kind: "client",
            links: appends,
            attributes: { "db.system.name": "postgresql", "usher.commits": commits.length }
          })
          for (const append of appends) append.addLinks([linkTo(statement)])
          return Effect.onExit(write(commits), (exit) => Effect.sync(() => endSpan(statement, clock, tagOf(exit))))
        })
      }

function spansOf(commits: ReadonlyArray<EncodedCommit>): ReadonlyArray<Tracer.Span> {
  const spans: Array<Tracer.Span> = []
  for (const { commit } of commits) if (commit.spans !== undefined) spans.push(...commit.spans)
  return spans
}
