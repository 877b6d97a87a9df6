/** The answers of pages: compressed, and with a tag if caches may keep them. */
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import { brotliCompress, constants, gzip } from "node:zlib"
import { SegmentedCache } from "../domain/values/SegmentedCache.ts"
import { compressed, type Encoding, matches, preferred } from "../http/server/Documents.ts"

type Headers = { readonly [name: string]: string }

const contentType = "text/html; charset=utf-8"

/** For a page of one visitor, which is compressed for each request. */
const quickQuality = 4

/** For a page that many visitors get. */
const thoroughQuality = 9

/** Shorter bodies are sent as they are. */
const compressedFrom = 1_000

const encoded = (text: string, encoding: Encoding, quality: number): Effect.Effect<Uint8Array> => {
  const bytes = Buffer.from(text)
  if (encoding === "identity") return Effect.succeed(bytes)
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
  return compressed((done) => (encoding === "br" ? brotliCompress(bytes, { params }, done) : gzip(bytes, done)))
}

/** Answers with a page of one visitor. No cache keeps it. */
export const ofVisitor = Effect.fnUntraced(function* (text: string, status: number, headers: Headers) {
  const request = yield* HttpServerRequest.HttpServerRequest
  const encoding = text.length < compressedFrom ? "identity" : preferred(request.headers["accept-encoding"] ?? "")
  return HttpServerResponse.uint8Array(yield* encoded(text, encoding, quickQuality), {
    status,
    contentType,
    headers: { ...headers, ...codingOf(encoding), "cache-control": "no-store", vary: "Accept-Encoding, Accept, Cookie" }
  })
})

const codingOf = (encoding: Encoding): Headers => (encoding === "identity" ? {} : { "content-encoding": encoding })

/** Bodies of shared pages that stay in memory. */
const rememberedMax = 1_000

/** Makes the function that answers with a page that is the same for every visitor, or says that it has not changed. */
export const makeShared = (type = contentType) => {
  const bodies = new SegmentedCache<Uint8Array>(rememberedMax)
  return Effect.fnUntraced(function* (text: string, cacheControl: string, headers: Headers) {
    const request = yield* HttpServerRequest.HttpServerRequest
    // The bytes differ by coding and the content does not, so the validator is weak.
    const etag = `W/"${createHash("sha256").update(text).digest("base64url")}"`
    const common = { ...headers, etag, "cache-control": cacheControl, vary: "Accept-Encoding, Accept-Language" }
    if (matches(request.headers["if-none-match"], etag)) {
      return HttpServerResponse.empty({ status: 304, headers: common })
    }
    const encoding = preferred(request.headers["accept-encoding"] ?? "")
    const key = `${encoding} ${etag}`
    const body = bodies.get(key) ?? (yield* encoded(text, encoding, thoroughQuality))
    bodies.set(key, body)
    return HttpServerResponse.uint8Array(body, { contentType: type, headers: { ...common, ...codingOf(encoding) } })
  })
}
