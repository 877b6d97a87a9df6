/**
 * Reads small bodies at a lower cost. The platform reads streams of any kind and size, which costs some 10 µs of
 * processor time. Most bodies are one line of JSON of a stated length, and it is enough to wait for its end.
 *
 * A body can be read once from its connection. A body that was read here as text cannot be read in another form.
 */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect } from "effect"
import { HttpServerError, type HttpServerRequest } from "effect/http"

/** The largest stated length, in bytes, of bodies that are read here. The platform reads all others. */
const smallBytesMax = 16_384

type Request = HttpServerRequest.HttpServerRequest
type Text = Request["text"]

const utf8 = new TextDecoder()

/** Installs a fast body reader for requests up to 16 KiB. */
export const installFastBodyReader = (request: Request): void => {
  const { "content-length": length, expect } = request.headers
  // The platform answers clients that expect a `100 Continue`.
  if (length === undefined || expect !== undefined || !(Number(length) <= smallBytesMax)) return
  Object.defineProperty(request, "text", { value: textOf(request) })
}

/** The text of the body. It can be read any number of times. */
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
