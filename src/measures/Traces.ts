/**
 * The traces of sampled requests. Spans are made by hand at four places (a request, its command to the engine, the
 * append, the statement), so a span holds what these places give it and nothing else: no header, body or query. The
 * tracer of the runtime stays the one that exports nothing. Without an endpoint there are no traces, and the four places
 * are left out when their services are built.
 */
import { type Clock, Context, Exit, Option, Tracer } from "effect"

/** Where spans go, and the share of requests that are sampled without a parent. */
export interface Tracing {
  readonly tracer: Tracer.Tracer
  /** From 0 to 1. */
  readonly sample: number
}

/** The traces of this process; undefined if nothing is exported. */
export const Traces = Context.Reference<Tracing | undefined>("usher/measures/Traces", {
  defaultValue: () => undefined
})

/** The span in which the fiber works; undefined unless its request is sampled. */
export const CurrentSpan = Context.Reference<Tracer.Span | undefined>("usher/measures/CurrentSpan", {
  defaultValue: () => undefined
})

interface SpanOptions {
  readonly kind?: Tracer.SpanKind
  readonly parent?: Tracer.AnySpan | undefined
  readonly links?: ReadonlyArray<Tracer.AnySpan>
  readonly attributes?: { readonly [name: string]: string | number }
}

/** Starts a span that will be exported. Without a parent it begins a trace. */
export function startSpan({ tracer }: Tracing, clock: Clock.Clock, name: string, options: SpanOptions): Tracer.Span {
  const { kind = "internal", parent, links = [], attributes = {} } = options
  const span = tracer.span({
    name,
    kind,
    parent: Option.fromUndefinedOr(parent),
    root: parent === undefined,
    annotations: Context.empty(),
    links: links.map(linkTo),
    startTime: clock.currentTimeNanosUnsafe(),
    sampled: true
  })
  for (const [key, value] of Object.entries(attributes)) span.attribute(key, value)
  return span
}

/** Links a span to another one. */
export const linkTo = (span: Tracer.AnySpan): Tracer.SpanLink => ({ span, attributes: {} })

/** Ends a span. A failure is named by its tag alone, because its message may contain what a caller sent. */
export function endSpan(span: Tracer.Span, clock: Clock.Clock, failure?: string): void {
  if (failure !== undefined) span.attribute("error.type", failure)
  span.end(clock.currentTimeNanosUnsafe(), failure === undefined ? Exit.void : Exit.fail({ message: failure }))
}

/** Returns the tag of a failure, or the name of a defect. */
export function tagOf(exit: Exit.Exit<unknown, unknown>): string | undefined {
  if (Exit.isSuccess(exit)) return undefined
  const [reason] = exit.cause.reasons
  if (reason === undefined || reason._tag === "Interrupt") return "Interrupted"
  const error: unknown = reason._tag === "Fail" ? reason.error : reason.defect
  if (typeof error === "object" && error !== null && "_tag" in error) return String(error._tag)
  return error instanceof Error ? error.name : "Defect"
}
