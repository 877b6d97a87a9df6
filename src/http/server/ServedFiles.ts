/**
 * Files that staff have uploaded, for everybody who knows their address. The headers allow each to be used as what it is,
 * and nothing else: no type is guessed, and nothing in it may run or load. Files that are asked for stay in memory while
 * there is room, so a crowd does not reach the database.
 */
import { Effect } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { isUuid } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import * as ConcurrencyLimit from "../../store/postgres/ConcurrencyLimit.ts"
import type { Unavailable } from "../../store/postgres/Unavailable.ts"
import { limitByAddress } from "../limits/RateLimit.ts"
import { matches } from "./Documents.ts"
import * as Time from "../../store/coordination/Time.ts"

/** A removed file may be served for this long. */
const freshMillis = 300_000

/** Files that are read from the database at once, and requests that wait for that. */
const reading = { most: 2, waitingMax: 1_000 } as const

const safety = {
  "content-security-policy": "default-src 'none'; sandbox",
  "cross-origin-resource-policy": "cross-origin",
  "x-content-type-options": "nosniff"
}

const cacheControl = "public, max-age=31536000, immutable"

const refused = (status: number, error: string, headers: { readonly [name: string]: string } = {}) =>
  HttpServerResponse.jsonUnsafe({ error }, { status, headers: { ...safety, "cache-control": "no-store", ...headers } })

const unavailable = refused(503, "Service unavailable", { "retry-after": "1" })

/** Files of one kind. */
interface Served<R> {
  readonly route: `/${string}`
  /** The name of their limits. */
  readonly name: string
  /** As an answer calls one. */
  readonly noun: string
  readonly contentType: string
  readonly headers?: { readonly [name: string]: string }
  /** Requests of one address in a minute. */
  readonly requestsMax: number
  /** Bytes of all kept files of a listener. */
  readonly keptBytesMax: number
  /** Makes the function that reads a file of any tenant; undefined if there is none. */
  readonly read: Effect.Effect<(id: string) => Effect.Effect<Uint8Array | undefined, Unavailable>, never, R>
}

/** The route of these files. */
export const servedFiles = <R>(served: Served<R>) => {
  const { route, name, noun, contentType, headers: own = {}, requestsMax, keptBytesMax, read } = served
  return HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const readOf = yield* read
      const admit = yield* limitByAddress({ name, requestsMax, exemptsServers: false })
      const inTurn = yield* ConcurrencyLimit.make(name, reading)
      const bytesOf = makeBytesOf(readOf, inTurn, makeKept(keptBytesMax))
      const notFound = refused(404, `${noun} not found`)

      const handle = Effect.gen(function* () {
        yield* admit
        const { headers } = yield* HttpServerRequest.HttpServerRequest
        const { id: text = "" } = yield* HttpRouter.params
        if (!isUuid(text)) return notFound
        const id = text.toLowerCase()
        const bytes = yield* bytesOf(id)
        if (bytes === undefined) return notFound
        const etag = `W/"${id}"`
        const common = { ...safety, ...own, etag, "cache-control": cacheControl }
        return matches(headers["if-none-match"], etag)
          ? HttpServerResponse.empty({ status: 304, headers: common })
          : HttpServerResponse.uint8Array(bytes, { contentType, headers: common })
      }).pipe(Effect.catchTag("Unavailable", () => Effect.succeed(unavailable)))
      yield* router.add("GET", route, handle)
    })
  )
}

type Read = (id: string) => Effect.Effect<Uint8Array | undefined, Unavailable>
type InTurn = Effect.Success<ReturnType<typeof ConcurrencyLimit.make>>

/** Makes the function that returns a file from memory, or else from the database. */
const makeBytesOf = (read: Read, inTurn: InTurn, kept: ReturnType<typeof makeKept>) => {
  /** Reads a file, unless another request has done so while this one waited. */
  const readOnce = Effect.fnUntraced(function* (id: string) {
    const known = kept.get(id, yield* Time.serverNow)
    if (known?.isFresh === true) return known.bytes
    const bytes = yield* read(id)
    kept.set(id, bytes, yield* Time.serverNow)
    return bytes
  })

  return Effect.fnUntraced(function* (id: string) {
    const known = kept.get(id, yield* Time.serverNow)
    if (known?.isFresh === true) return known.bytes
    // While the database is away, rooms show the files that they have shown.
    return yield* Effect.catchTag(inTurn(readOnce(id)), "Unavailable", (error) =>
      known === undefined ? Effect.fail(error) : Effect.succeed(known.bytes)
    )
  })
}

/** Files in memory, the oldest first. `set` without bytes drops one that is gone. */
export const makeKept = (bytesMax: number) => {
  const kept = new Map<string, { readonly bytes: Uint8Array; readonly at: Millis }>()
  let total = 0
  const drop = (id: string): void => {
    total -= kept.get(id)?.bytes.length ?? 0
    kept.delete(id)
  }
  return {
    get: (id: string, now: Millis) => {
      const found = kept.get(id)
      return found && { bytes: found.bytes, isFresh: now - found.at < freshMillis }
    },
    set: (id: string, bytes: Uint8Array | undefined, at: Millis): void => {
      drop(id)
      if (bytes === undefined) return
      kept.set(id, { bytes, at })
      total += bytes.length
      for (const oldest of kept.keys()) {
        if (total <= bytesMax) return
        drop(oldest)
      }
    }
  }
}
