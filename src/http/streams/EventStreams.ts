/**
 * Answers that stay open: Server-Sent Events (completions 3, "Live updates"), of whatever there is to tell.
 *
 * There may be many thousands, so nothing runs for a stream: whoever has something to tell writes to it, and one loop looks
 * after them all. Each second it ends those whose token has expired or whose session has ended; every 15 seconds each
 * stream is sent a comment, so that nobody takes it for dead, and its credentials are checked in full.
 *
 * When the process is about to end, streams just end, and clients come back, each after the pause it was told at the
 * beginning, so that not all come at once. Where coming back makes no sense, an event `end` says so.
 */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Clock, Context, Effect, Latch, Layer, Schedule, type Scope } from "effect"
import { HttpEffect, type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { ServerResponse } from "node:http"
import type { StreamCredentials } from "../credentials/CredentialChecks.ts"
import { ServiceUnavailable } from "../errors/Errors.ts"
import { type EventSource, EventStream } from "./EventStream.ts"
import { Readiness } from "../../engine/lifecycle/Readiness.ts"

/** Streams of one process, at some 20 KiB of memory each, and a few more of what is not collected yet. */
const streamsMax = 20_000

/** Seconds between two signs of life on a stream, and between two full checks of its credentials. */
const heartbeatSeconds = 15

/** Credentials that are checked at the same time, should the database have to be asked. */
const concurrency = 16

/** Streams that are written to without a break. */
const sliceMax = 64

/** After which pause clients come back: between these two, and evenly spread. */
const retryMillis = { least: 1_000, most: 5_000 } as const

const headers = {
  "content-type": "text/event-stream",
  "cache-control": "no-store",
  // Told to proxies that would gather an answer before they pass it on.
  "x-accel-buffering": "no"
}

export class EventStreams extends Context.Service<
  EventStreams,
  {
    /** An answer that stays open for as long as the credentials are good. Refused if there are too many, or the process is ending. */
    open(
      credentials: StreamCredentials,
      source: EventSource
    ): Effect.Effect<HttpServerResponse.HttpServerResponse, ServiceUnavailable>
  }
>()("usher/http/streams/EventStreams") {
  /** The streams of a process, of which so many may be open. */
  static readonly layerWith = (options: { readonly streamsMax: number }) => Layer.effect(EventStreams, make(options))
  static readonly layer = Layer.suspend(() => EventStreams.layerWith({ streamsMax }))
}

const make = Effect.fnUntraced(function* (options: {
  readonly streamsMax: number
}): Effect.fn.Return<EventStreams["Service"], never, Readiness | Scope.Scope> {
  const clock = yield* Clock.Clock
  const readiness = yield* Readiness
  const streams = new Set<EventStream>()
  let opened = 0

  /** Open while there may be streams: without any there is nothing to do. */
  const occupied = Latch.makeUnsafe()
  const lookAfter = makeLookAfter(streams, clock, occupied)
  const closeAll = Effect.suspend(() => inSlices([...streams], (stream) => Effect.sync(() => stream.close())))

  yield* occupied.await.pipe(
    Effect.andThen(Effect.sleep("1 second")),
    Effect.andThen(lookAfter),
    Effect.forever,
    Effect.forkScoped
  )
  // More than once: a stream may just be beginning.
  yield* readiness.awaitDraining.pipe(
    Effect.andThen(Effect.repeat(closeAll, Schedule.spaced("100 millis"))),
    Effect.forkScoped
  )

  /** Sends the head, and returns when the stream has ended. */
  const held = (request: Request, head: Response, credentials: StreamCredentials, source: EventSource) =>
    Effect.callback<void>((resume) => {
      const response = NodeHttpServerRequest.toServerResponse(request) as ServerResponse
      response.writeHead(head.status, head.headers)
      // By itself: joined with what follows, it would be kept in memory in pieces for as long as the stream lasts.
      response.flushHeaders()
      const onEnd = () => {
        streams.delete(stream)
        source.stop()
        resume(Effect.void)
      }
      const stream = new EventStream({ number: opened++, response, credentials, clock, onEnd })
      streams.add(stream)
      occupied.openUnsafe()
      stream.write(`retry: ${pauseOf(stream.number)}\n\n`)
      source.begin(stream)
      return Effect.sync(() => stream.leave())
    }).pipe(Effect.interruptible, Effect.as(head))

  return {
    open: (credentials, source) =>
      Effect.withFiber((fiber) => {
        if (streams.size >= options.streamsMax || readiness.isDraining()) {
          return Effect.fail(new ServiceUnavailable({ retryAfterSeconds: 5 }))
        }
        // There the head has got all its fields; and the server writes nothing where all has been written.
        HttpEffect.appendPreResponseHandlerUnsafe(fiber.context, (request, head) =>
          request.method === "HEAD" ? Effect.succeed(head) : held(request, head, credentials, source)
        )
        return Effect.succeed(HttpServerResponse.empty({ status: 200, headers }))
      })
  }
})

/** Makes what is done each second. */
const makeLookAfter = (streams: ReadonlySet<EventStream>, clock: Clock.Clock, occupied: Latch.Latch) => {
  let seconds = 0

  const beat = (stream: EventStream) =>
    Effect.map(stream.credentials.areGood(), (areGood) => (areGood ? stream.beat() : stream.end("CREDENTIALS_ENDED")))

  return Effect.suspend(() => {
    seconds += 1
    if (streams.size === 0) occupied.closeUnsafe()
    const now = clock.currentTimeMillisUnsafe()
    const silent: Array<EventStream> = []
    for (const stream of streams) {
      if (stream.mayGoOn(now) && stream.number % heartbeatSeconds === seconds % heartbeatSeconds) silent.push(stream)
    }
    return inSlices(silent, beat)
  }).pipe(Effect.catchCause((cause) => Effect.logError("Streams could not be looked after", cause)))
}

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** A pause within the bounds; those of streams that follow one another lie far apart. */
function pauseOf(number: number): number {
  const { least, most } = retryMillis
  return least + Math.floor(((number * 0.618_034) % 1) * (most - least))
}

/** Does it for each, and lets everyone else have a turn now and then. */
const inSlices = <A>(all: ReadonlyArray<A>, act: (one: A) => Effect.Effect<void>) =>
  Effect.forEach(
    Array.from({ length: Math.ceil(all.length / sliceMax) }, (_, n) => all.slice(n * sliceMax, (n + 1) * sliceMax)),
    (slice) => Effect.andThen(Effect.forEach(slice, act, { concurrency, discard: true }), Effect.yieldNow),
    { discard: true }
  )
