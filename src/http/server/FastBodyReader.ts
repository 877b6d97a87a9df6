/**
 * Reads bodies, within the bounds of `JsonBounds.ts`. The platform reads streams of any kind and size, which costs some
 * 10 µs of processor time. Most bodies are one line of JSON, and it is enough to wait for its end.
 *
 * A body that exceeds a bound ends its request with a 413 or a 400 before anything of it is parsed. A body can be read
 * once from its connection. A body that was read here as text cannot be read in another form.
 */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { ByteSize, Effect } from "effect"
import { HttpIncomingMessage, HttpServerError, type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { IncomingHttpHeaders, IncomingMessage } from "node:http"
import { issueAt } from "../errors/Issues.ts"
import type { Api } from "../limits/Limit.ts"
import { exceededBy, type JsonBounds, publicBounds, secretBounds } from "../../domain/values/JsonBounds.ts"

type Request = HttpServerRequest.HttpServerRequest
type Text = Request["text"]

const utf8 = new TextDecoder()

const textOfChunks = (chunks: ReadonlyArray<Buffer>): string =>
  utf8.decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))

/** True for a body of a stated length that the direct path reads. The platform answers `Expect: 100-continue`. */
export const isSmall = ({ "content-length": length, expect }: IncomingHttpHeaders): boolean =>
  length !== undefined && expect === undefined && Number(length) <= publicBounds.bytesMax

/** Reads the text of a small body. `done` is not called if the connection ends before the body. */
export const readSmall = (message: IncomingMessage, done: (text: string) => void): void => {
  const chunks: Array<Buffer> = []
  message.on("data", (chunk: Buffer) => void chunks.push(chunk))
  message.on("end", () => done(textOfChunks(chunks)))
  message.on("error", () => {})
}

/** Texts of bodies that were read before the platform got the request. */
const texts = new WeakMap<object, string>()

/** Keeps the text of a body for the platform. */
export const keepText = (message: IncomingMessage, text: string): void => void texts.set(message, text)

const largeBody = Symbol("usher/http/largeBody")

/** The request of the platform. It is the same object in all middlewares. */
interface Marked {
  [largeBody]?: boolean
}

/** Allows the request a body of an operation of the secret key. Called once its key is known. */
export const allowLargeBody = (request: Request): void => {
  ;(request.source as Marked)[largeBody] = true
}

/** Installs the reader. On the Consumer API bodies are small unless `allowLargeBody` was called. */
export const installFastBodyReader = (request: Request, api: Api): void => {
  const { "content-length": length, "transfer-encoding": transfer } = request.headers
  if ((length === undefined && transfer === undefined) || (request.method === "GET" && length === "0")) return
  const boundsOf = (): JsonBounds =>
    api === "admin" || (request.source as Marked)[largeBody] === true ? secretBounds : publicBounds
  Object.defineProperty(request, "text", { value: readerOf(request, boundsOf) })
}

/** The reader of a body that was kept, of one that the platform reads for `100 Continue`, or of any other. */
const readerOf = (request: Request, boundsOf: () => JsonBounds): Text => {
  const kept = texts.get(request.source)
  if (kept !== undefined) return Effect.suspend(() => bounded(kept, boundsOf()))
  return request.headers["expect"] === undefined
    ? textOf(request, boundsOf)
    : platformText(request, request.text, boundsOf)
}

/** The text of the body. It can be read any number of times. */
const textOf = (request: Request, boundsOf: () => JsonBounds): Text => {
  let text: Text | undefined
  const waiting: Array<(text: Text) => void> = []
  return Effect.suspend(
    () =>
      text ??
      Effect.callback((resume) => {
        if (waiting.push(resume) > 1) return
        read(request, boundsOf(), (outcome) => {
          text = outcome
          for (const resume of waiting) resume(outcome)
        })
      })
  )
}

const read = (request: Request, bounds: JsonBounds, done: (outcome: Text) => void): void => {
  if (Number(request.headers["content-length"] ?? 0) > bounds.bytesMax) return done(tooLarge(bounds))
  const source = NodeHttpServerRequest.toIncomingMessage(request)
  const chunks: Array<Buffer> = []
  let bytes = 0
  source.on("data", (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= bounds.bytesMax) chunks.push(chunk)
    else if (bytes - chunk.length <= bounds.bytesMax) done(tooLarge(bounds))
  })
  source.on("end", () => {
    if (bytes > bounds.bytesMax) return
    done(bounded(textOfChunks(chunks), bounds))
  })
  source.on("error", (cause) => {
    const reason = new HttpServerError.RequestParseError({ request, reason: "Parse", cause })
    done(Effect.fail(new HttpServerError.HttpServerError({ reason })))
  })
}

const platformText = (request: Request, text: Text, boundsOf: () => JsonBounds): Text =>
  Effect.suspend(() => {
    const bounds = boundsOf()
    if (Number(request.headers["content-length"] ?? 0) > bounds.bytesMax) return tooLarge(bounds)
    return Effect.flatMap(
      Effect.provideService(text, HttpIncomingMessage.MaxBodySize, ByteSize.bytes(bounds.bytesMax)),
      (read) => bounded(read, bounds)
    )
  })

const bounded = (text: string, bounds: JsonBounds): Text => {
  const exceeded = exceededBy(text, bounds)
  return exceeded === undefined ? Effect.succeed(text) : Effect.die(tooComplex(exceeded, bounds))
}

const tooLarge = ({ bytesMax }: JsonBounds): Text => {
  const size = bytesMax === publicBounds.bytesMax ? "16 KiB" : "1 MiB"
  const error = `Request body is larger than ${size}`
  // The rest of the body is not read, so the connection cannot be used again.
  return Effect.die(HttpServerResponse.jsonUnsafe({ error }, { status: 413, headers: { connection: "close" } }))
}

const tooComplex = (exceeded: "depth" | "values", { depthMax, valuesMax }: JsonBounds) => {
  const expected =
    exceeded === "depth" ? `at most ${depthMax} levels of JSON` : `at most ${valuesMax} fields and items of JSON`
  const issue = { ...issueAt({}, [], { kind: "validation", type: "json", expected }), received: "more" }
  const issues = [{ ...issue, message: `Invalid value: Expected ${expected} but received more` }]
  return HttpServerResponse.jsonUnsafe({ error: "validation_error", issues }, { status: 400 })
}
