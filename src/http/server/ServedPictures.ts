/**
 * `GET /pictures/{id}`: an uploaded picture, for everybody who knows its address. Its bytes were encoded by this program,
 * and the headers allow them to be shown as a picture, and nothing else: no type is guessed, and nothing in it may run
 * or load. Pictures that are asked for stay in memory while there is room, so a crowd does not reach the database.
 */
import { Clock, Effect, Layer } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { pictureRoute, pictureType } from "../../domain/catalogue/Picture.ts"
import { isUuid } from "../../domain/values/Ids.ts"
import type { Millis } from "../../domain/values/Time.ts"
import { Pictures } from "../../store/catalogue/Pictures.ts"
import * as ConcurrencyLimit from "../../store/postgres/ConcurrencyLimit.ts"
import { limitByAddress } from "../limits/RateLimit.ts"
import { matches } from "./Documents.ts"

/** Requests of one address for pictures in a minute. */
export const pictureRequestsMax = 1_200

/** Bytes of all kept pictures of a listener. */
const keptBytesMax = 67_108_864

/** A removed picture may be served for this long. */
const freshMillis = 300_000

/** Pictures that are read from the database at once, and requests that wait for that. */
const reading = { most: 2, waitingMax: 1_000 } as const

const safety = {
  "content-security-policy": "default-src 'none'; sandbox",
  "cross-origin-resource-policy": "cross-origin",
  "x-content-type-options": "nosniff"
}

const cacheControl = "public, max-age=31536000, immutable"

const refused = (status: number, error: string, headers: { readonly [name: string]: string } = {}) =>
  HttpServerResponse.jsonUnsafe({ error }, { status, headers: { ...safety, "cache-control": "no-store", ...headers } })

const notFound = refused(404, "Picture not found")
const unavailable = refused(503, "Service unavailable", { "retry-after": "1" })

/** The route, on either listener: the dashboard shows pictures from its own origin. */
export const layer = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const pictures = yield* Pictures
    const admit = yield* limitByAddress({ name: "pictures", requestsMax: pictureRequestsMax, exemptsServers: false })
    const inTurn = yield* ConcurrencyLimit.make("pictures", reading)
    const kept = makeKept()

    /** Reads a picture, unless another request has done so while this one waited. */
    const read = Effect.fnUntraced(function* (id: string) {
      const known = kept.get(id, yield* Clock.currentTimeMillis)
      if (known?.isFresh === true) return known.bytes
      const bytes = yield* pictures.bytes(id)
      kept.set(id, bytes, yield* Clock.currentTimeMillis)
      return bytes
    })

    const bytesOf = Effect.fnUntraced(function* (id: string) {
      const known = kept.get(id, yield* Clock.currentTimeMillis)
      if (known?.isFresh === true) return known.bytes
      // While the database is away, rooms show the pictures that they have shown.
      return yield* Effect.catchTag(inTurn(read(id)), "Unavailable", (error) =>
        known === undefined ? Effect.fail(error) : Effect.succeed(known.bytes)
      )
    })

    const handle = Effect.gen(function* () {
      yield* admit
      const { headers } = yield* HttpServerRequest.HttpServerRequest
      const { id: text = "" } = yield* HttpRouter.params
      if (!isUuid(text)) return notFound
      const id = text.toLowerCase()
      const bytes = yield* bytesOf(id)
      if (bytes === undefined) return notFound
      const etag = `W/"${id}"`
      const common = { ...safety, etag, "cache-control": cacheControl }
      return matches(headers["if-none-match"], etag)
        ? HttpServerResponse.empty({ status: 304, headers: common })
        : HttpServerResponse.uint8Array(bytes, { contentType: pictureType, headers: common })
    }).pipe(Effect.catchTag("Unavailable", () => Effect.succeed(unavailable)))
    yield* router.add("GET", pictureRoute, handle)
  })
).pipe(Layer.provide(Pictures.layer))

/** Pictures in memory, the oldest first. `set` without bytes drops one that is gone. */
export const makeKept = (bytesMax: number = keptBytesMax) => {
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
