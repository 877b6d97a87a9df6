/**
 * Responses that stay open: Server-Sent Events.
 *
 * There may be many thousands of streams, so a stream has no fiber. The source of an event writes to the stream, and
 * one loop checks all streams. Each second it ends those whose token has expired or whose session has ended. Every 15
 * seconds it sends each stream a comment, so that proxies and clients keep it open, and checks its credentials in full.
 *
 * When the process shuts down, streams end, and clients reconnect, each after the pause that it got at the beginning,
 * so that they do not return at once. If a reconnection makes no sense, an event `end` says so.
 */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Clock, Context, Effect, Latch, Layer, Schedule, type Scope } from "effect"
import { HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
import type { ServerResponse } from "node:http"
import type { StreamCredentials } from "../../api/Credentials.ts"
import { ServiceUnavailable } from "../../api/Errors.ts"
import type { Api } from "../limits/Limit.ts"
import { refuseNow } from "../limits/RateLimit.ts"
import { Measures } from "../../measures/Measures.ts"
import { Settings } from "../../settings/Settings.ts"
import { type EventSource, EventStream } from "./EventStream.ts"
import { type Owner, type OwnerBounds, StreamOwners } from "./StreamOwners.ts"
import { Readiness } from "../../engine/lifecycle/Readiness.ts"
import * as Time from "../../store/coordination/Time.ts"

/** Streams of one process. Each takes some 20 KiB of memory, and a little more until it is collected. */
const streamsMax = 20_000

/** Seconds between two comments on a stream, and between two full checks of its credentials. */
const heartbeatSeconds = 15

/** Credentials that are checked at the same time, if the database has to be asked. */
const concurrency = 16

/** Streams that are written to without a break for other work. */
const sliceMax = 64

/** Milliseconds after which clients reconnect: between these two, evenly spread. */
const retryMillis = { least: 1_000, most: 5_000 } as const

const headers = {
  "content-type": "text/event-stream",
  // A proxy that compresses a stream may hold its events back.
  "cache-control": "no-store, no-transform",
  // Tells proxies not to buffer the response.
  "x-accel-buffering": "no"
}

export class EventStreams extends Context.Service<
  EventStreams,
  {
    /**
     * Opens a response that stays open while its credentials are accepted. Fails if there are too many streams, of all
     * owners or of the organization, or if the process is shutting down. An address with too many gets a 429.
     */
    open(
      credentials: StreamCredentials,
      source: EventSource,
      owner: Owner
    ): Effect.Effect<HttpServerResponse.HttpServerResponse, ServiceUnavailable>
  }
>()("usher/http/streams/EventStreams") {
  /** The streams of a process with at most so many open. */
  static readonly layerWith = (options: Options) => Layer.effect(EventStreams, make(options))
  static readonly layer = Layer.unwrap(
    Effect.map(Settings, ({ streamsPerAddress, streamsPerOrganization }) =>
      EventStreams.layerWith({
        api: "consumer",
        streamsMax,
        perAddress: streamsPerAddress,
        perOrganization: streamsPerOrganization
      })
    )
  )
}

interface Options extends OwnerBounds {
  readonly streamsMax: number
  /** The API that opens the streams. */
  readonly api: Api
}

const make = Effect.fnUntraced(function* (
  options: Options
): Effect.fn.Return<EventStreams["Service"], never, Readiness | Scope.Scope> {
  const clock = yield* Time.serverClock
  const readiness = yield* Readiness
  const streams = new CountedStreams((yield* Measures).http.streams[options.api], options.streamsMax)
  const owners = new StreamOwners(options)
  let opened = 0

  /** Open while there may be streams. Without streams there is nothing to check. */
  const occupied = Latch.makeUnsafe()
  const lookAfter = makeLookAfter(streams, clock, occupied)
  const closeAll = Effect.suspend(() => inSlices([...streams], (stream) => Effect.sync(() => stream.close())))

  yield* Effect.forkScoped(Effect.forever(Effect.andThen(occupied.await, Effect.delay(lookAfter, "1 second"))))
  // Repeated, because a stream may just be opening.
  yield* readiness.awaitDraining.pipe(
    Effect.andThen(Effect.repeat(closeAll, Schedule.spaced("100 millis"))),
    Effect.forkScoped
  )

  /** Sends the head, and returns when the stream has ended. */
  const held = (request: Request, head: Response, { credentials, source, owner }: Opening) =>
    Effect.callback<void>((resume) => {
      const response = NodeHttpServerRequest.toServerResponse(request) as ServerResponse
      response.writeHead(head.status, head.headers)
      // Separately: joined with the first event, it would stay in memory in pieces for as long as the stream lasts.
      response.flushHeaders()
      const onEnd = () => {
        streams.delete(stream)
        owners.remove(owner, stream)
        source.stop()
        resume(Effect.void)
      }
      const stream = new EventStream({ number: opened++, response, credentials, clock, onEnd })
      streams.add(stream)
      owners.add(owner, stream)
      occupied.openUnsafe()
      stream.write(`retry: ${pauseOf(stream.number)}\n\n`)
      source.begin(stream)
      return Effect.sync(() => stream.leave())
    }).pipe(Effect.interruptible, Effect.as(head))

  return {
    open: (credentials, source, owner) =>
      Effect.withFiber((fiber) => {
        const full = owners.fullOwner(owner)
        if (full === "address") return refuseAddress(options, fiber.context, clock)
        if (streams.size >= options.streamsMax || full !== undefined || readiness.isDraining()) {
          return Effect.fail(new ServiceUnavailable({ retryAfterSeconds: 5 }))
        }
        // At this point the head has all its fields, and the server writes nothing to a response that is complete.
        HttpEffect.appendPreResponseHandlerUnsafe(fiber.context, (request, head) =>
          request.method === "HEAD" ? Effect.succeed(head) : held(request, head, { credentials, source, owner })
        )
        return Effect.succeed(HttpServerResponse.empty({ status: 200, headers }))
      })
  }
})

/** The open streams, whose number the measures know. */
class CountedStreams extends Set<EventStream> {
  private readonly measures: { open: number }

  constructor(measures: { open: number; max: number }, max: number) {
    super()
    this.measures = measures
    measures.max = max
  }

  override add(stream: EventStream): this {
    super.add(stream)
    this.measures.open = this.size
    return this
  }

  override delete(stream: EventStream): boolean {
    const wasThere = super.delete(stream)
    this.measures.open = this.size
    return wasThere
  }
}

const refuseAddress = ({ perAddress }: Options, context: Context.Context<never>, clock: Clock.Clock) => {
  const request = Context.getUnsafe(context, HttpServerRequest.HttpServerRequest)
  return refuseNow(request, perAddress, clock.currentTimeMillisUnsafe() + retryMillis.most)
}

interface Opening {
  readonly credentials: StreamCredentials
  readonly source: EventSource
  readonly owner: Owner
}

/** Makes the check that runs each second. */
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

/** A pause within the bounds. The pauses of streams that follow each other differ widely. */
function pauseOf(number: number): number {
  const { least, most } = retryMillis
  return least + Math.floor(((number * 0.618_034) % 1) * (most - least))
}

/** Acts on each stream, with breaks for other work. */
const inSlices = <A>(all: ReadonlyArray<A>, act: (one: A) => Effect.Effect<void>) =>
  Effect.forEach(
    Array.from({ length: Math.ceil(all.length / sliceMax) }, (_, n) => all.slice(n * sliceMax, (n + 1) * sliceMax)),
    (slice) => Effect.andThen(Effect.forEach(slice, act, { concurrency, discard: true }), Effect.yieldNow),
    { discard: true }
  )
