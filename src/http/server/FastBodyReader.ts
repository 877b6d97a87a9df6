/**
 * Reads small bodies at a lower price. The platform's way of reading is made for streams of any kind and size, which takes
 * some 10 µs of processor; most bodies are a line of JSON of a stated length, whose end is all there is to wait for.
 *
 * A body is to be had once from its connection: what was read here as text cannot be read in another form as well.
 */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect } from "effect"
import { HttpServerError, type HttpServerRequest } from "effect/http"

/** Bodies of a stated length up to this, in bytes, are read here; all others as the platform does. */
const smallBytesMax = 16_384

type Request = HttpServerRequest.HttpServerRequest
type Text = Request["text"]

const utf8 = new TextDecoder()

/** Has `text` of a request whose body is small read here. */
export const installFastBodyReader = (request: Request): void => {
  const { "content-length": length, expect } = request.headers
  // A client that expects to be told to go on is told so by the platform's way of reading.
  if (length === undefined || expect !== undefined || !(Number(length) <= smallBytesMax)) return
  Object.defineProperty(request, "text", { value: textOf(request) })
}

/** The body's text, however often it is asked for. */
const textOf = (request: Request): Text => {
  let text: Text | undefined
  const waiting: Array<(text: Text) => void> = []
  return Effect.suspend(
    () =>
      text ??
      Effect.callback((resume) => {
        if (waiting.push(resume) > 1) return
        read(request, (outcome) => {
          text = outcome
          for (const resume of waiting) resume(outcome)
        })
      })
  )
}

const read = (request: Request, done: (outcome: Text) => void): void => {
  const source = NodeHttpServerRequest.toIncomingMessage(request)
  const chunks: Array<Buffer> = []
  source.on("data", (chunk: Buffer) => void chunks.push(chunk))
  source.on("end", () => done(Effect.succeed(utf8.decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)))))
  source.on("error", (cause) => {
    const reason = new HttpServerError.RequestParseError({ request, reason: "Parse", cause })
    done(Effect.fail(new HttpServerError.HttpServerError({ reason })))
  })
}
