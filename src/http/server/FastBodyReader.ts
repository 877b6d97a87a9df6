/**
 * Reads small bodies at a lower cost. The platform reads streams of any kind and size, which costs some 10 µs of
 * processor time. Most bodies are one line of JSON of a stated length, and it is enough to wait for its end.
 *
 * A body can be read once from its connection. A body that was read here as text cannot be read in another form.
 */
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import { Effect } from "effect"
import { HttpServerError, type HttpServerRequest } from "effect/http"
import type { IncomingHttpHeaders, IncomingMessage } from "node:http"

/** The largest stated length, in bytes, of bodies that are read here. The platform reads all others. */
const smallBytesMax = 16_384

type Request = HttpServerRequest.HttpServerRequest
type Text = Request["text"]

const utf8 = new TextDecoder()

/** True for a body of a stated length of up to 16 KiB. The platform answers clients that expect a `100 Continue`. */
export const isSmall = ({ "content-length": length, expect }: IncomingHttpHeaders): boolean =>
  length !== undefined && expect === undefined && Number(length) <= smallBytesMax

/** Reads the text of a small body. Nothing is called if the connection ends before the body. */
export const readSmall = (message: IncomingMessage, done: (text: string) => void, failed?: (cause: Error) => void) => {
  const chunks: Array<Buffer> = []
  message.on("data", (chunk: Buffer) => void chunks.push(chunk))
  message.on("end", () => done(utf8.decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks))))
  message.on("error", (cause) => failed?.(cause))
}

/** Texts of bodies that were read before the platform got the request. */
const texts = new WeakMap<object, Text>()

/** Keeps the text of a body for the platform. */
export const keepText = (message: IncomingMessage, text: string): void => {
  texts.set(message, Effect.succeed(text))
}

/** Installs a fast body reader for requests up to 16 KiB. */
export const installFastBodyReader = (request: Request): void => {
  const text = texts.get(request.source)
  if (text !== undefined || isSmall(request.headers)) {
    Object.defineProperty(request, "text", { value: text ?? textOf(request) })
  }
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
        const settle = (outcome: Text) => {
          text = outcome
          for (const resume of waiting) resume(outcome)
        }
        readSmall(
          NodeHttpServerRequest.toIncomingMessage(request) as IncomingMessage,
          (read) => settle(Effect.succeed(read)),
          (cause) => {
            const reason = new HttpServerError.RequestParseError({ request, reason: "Parse", cause })
            settle(Effect.fail(new HttpServerError.HttpServerError({ reason })))
          }
        )
      })
  )
}
