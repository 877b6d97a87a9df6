/**
 * Documents that are the same for everybody: the description of an API, and its reference page. Each is made when it is first
 * asked for, as most processes never are, and then answered from memory: from one buffer, or from one of the same compressed.
 */
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { createHash } from "node:crypto"
import { brotliCompress, constants, gzip } from "node:zlib"

type Response = HttpServerResponse.HttpServerResponse

/** How long a browser or a proxy may keep a document before it asks whether there is another. */
const maxAgeSeconds = 300

/** Dense enough: the next levels take many times as long for a few bytes in a hundred. */
const brotliQuality = 9

export interface Document {
  readonly text: string
  readonly contentType: string
  readonly headers?: { readonly [name: string]: string }
}

/** Answers a document, made once. */
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

type Encoding = "br" | "gzip" | "identity"

const prepare = Effect.fnUntraced(function* ({ text, contentType, headers }: Document) {
  const bytes = Buffer.from(text)
  // The bytes differ with the coding, what they say does not: a weak validator.
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

/** On one of the runtime's own threads: requests are answered meanwhile. */
const compressed = (start: (done: (error: Error | null, bytes: Uint8Array) => void) => void) =>
  Effect.callback<Uint8Array>((resume) => {
    start((error, bytes) => resume(error === null ? Effect.succeed(bytes) : Effect.die(error)))
  })

/** The best coding the caller takes. One with a weight of zero is one it does not take. */
function preferred(acceptEncoding: string): Encoding {
  const parts = acceptEncoding.toLowerCase().split(",")
  const taken = new Set(
    parts.filter((part) => !/;\s*q=0(\.0*)?\s*$/.test(part)).map((part) => part.split(";", 1)[0]!.trim())
  )
  return taken.has("br") ? "br" : taken.has("gzip") ? "gzip" : "identity"
}

/** Whether the caller has the document that the tag names. */
function matches(ifNoneMatch: string | undefined, etag: string): boolean {
  if (ifNoneMatch === undefined) return false
  const known = ifNoneMatch.split(",").map((tag) => tag.trim().replace(/^(W\/)?/, "W/"))
  return ifNoneMatch.trim() === "*" || known.includes(etag)
}
