/**
 * Documents that are the same for every caller: the description of an API, and its reference page. Each is made at the
 * first request for it, because most processes get none. Later requests are answered from one buffer in memory, plain
 * or compressed.
 */
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import { brotliCompress, constants, gzip } from "node:zlib"

type Response = HttpServerResponse.HttpServerResponse

/** Seconds for which a browser or a proxy may keep a document before it asks for changes. */
const maxAgeSeconds = 300

/** The compression level. The next levels take many times as long for a few percent less. */
const brotliQuality = 9

export interface Document {
  readonly text: string
  readonly contentType: string
  readonly headers?: { readonly [name: string]: string }
}

export const serve = <E, R>(make: Effect.Effect<Document, E, R>) =>
  Effect.map(Effect.cached(Effect.flatMap(make, prepare)), (prepared) =>
    Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers }) =>
      Effect.map(prepared, ({ etag, unchanged, encodings }) => {
        if (matches(headers["if-none-match"], etag)) return unchanged
        return encodings[preferred(headers["accept-encoding"] ?? "")]
      })
    )
  )

interface Prepared {
  readonly etag: string
  readonly unchanged: Response
  readonly encodings: { readonly [Coding in Encoding]: Response }
}

/** A coding of a body. */
export type Encoding = "br" | "gzip" | "identity"

const prepare = Effect.fnUntraced(function* ({ text, contentType, headers }: Document) {
  const bytes = Buffer.from(text)
  // The bytes differ by coding and the content does not, so the validator is weak.
  const etag = `W/"${createHash("sha256").update(bytes).digest("base64url")}"`
  const common = {
    ...headers,
    etag,
    "cache-control": `public, max-age=${maxAgeSeconds}`,
    vary: "Accept-Encoding",
    "x-content-type-options": "nosniff"
  }
  const response = (body: Uint8Array, coding: Encoding) =>
    HttpServerResponse.uint8Array(body, {
      contentType,
      headers: coding === "identity" ? common : { ...common, "content-encoding": coding }
    })
  const [br, gz] = yield* Effect.all(
    [
      compressed((done) =>
        brotliCompress(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }, done)
      ),
      compressed((done) => gzip(bytes, done))
    ],
    { concurrency: "unbounded" }
  )
  return {
    etag,
    unchanged: HttpServerResponse.empty({ status: 304, headers: common }),
    encodings: { br: response(br, "br"), gzip: response(gz, "gzip"), identity: response(bytes, "identity") }
  } satisfies Prepared
})

/** Compresses on a thread of the runtime. Requests are answered meanwhile. */
export const compressed = (start: (done: (error: Error | null, bytes: Uint8Array) => void) => void) =>
  Effect.callback<Uint8Array>((resume) => {
    start((error, bytes) => resume(error === null ? Effect.succeed(bytes) : Effect.die(error)))
  })

/** The best coding that the caller accepts. A weight of zero means that it does not. */
export function preferred(acceptEncoding: string): Encoding {
  const parts = acceptEncoding.toLowerCase().split(",")
  const taken = new Set(
    parts.filter((part) => !/;\s*q=0(\.0*)?\s*$/.test(part)).map((part) => part.split(";", 1)[0]!.trim())
  )
  return taken.has("br") ? "br" : taken.has("gzip") ? "gzip" : "identity"
}

/** True if the caller has the document of this tag. */
export function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  const known = ifNoneMatch.split(",").map((tag) => tag.trim().replace(/^(W\/)?/, "W/"))
  return ifNoneMatch.trim() === "*" || known.includes(etag)
}
