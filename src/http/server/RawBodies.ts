/** Reads bodies that are files (`RawBody` in `api/Annotations.ts`). A larger one, or one of another type, is not read. */
import { ByteSize, Context, Effect } from "effect"
import { HttpIncomingMessage, type HttpServerRequest, HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { RawBody } from "../../api/Annotations.ts"

/** Returns the effect that reads the body, any number of times; undefined for an operation that takes no file. */
export const rawBodyOf = (
  request: HttpServerRequest.HttpServerRequest,
  endpoint: HttpApiEndpoint.Top
): Effect.Effect<Uint8Array> | undefined => {
  const raw = Context.get(endpoint.annotations, RawBody)
  if (raw === undefined) return undefined
  const type = request.headers["content-type"]?.split(";", 1)[0]!.trim().toLowerCase() ?? ""
  if (!raw.types.includes(type)) return Effect.die(refused(415, `Content-Type must be ${listed(raw.types)}`))
  const tooLarge = Effect.die(refused(413, `Request body is larger than ${raw.bytesMax / 1_000_000} MB`))
  return Effect.flatMap(bytesOf(request, raw.bytesMax), (bytes) =>
    bytes === undefined ? tooLarge : Effect.succeed(bytes)
  )
}

/** Reads the body; undefined if it has more bytes. */
export const bytesOf = (
  request: HttpServerRequest.HttpServerRequest,
  bytesMax: number
): Effect.Effect<Uint8Array<ArrayBuffer> | undefined> => {
  if (Number(request.headers["content-length"] ?? 0) > bytesMax) return Effect.undefined
  return request.arrayBuffer.pipe(
    Effect.map((buffer) => new Uint8Array(buffer)),
    Effect.provideService(HttpIncomingMessage.MaxBodySize, ByteSize.bytes(bytesMax)),
    Effect.catchTag("HttpServerError", (error) => {
      const isTooLarge = error.reason._tag === "RequestParseError" && error.reason.reason === "BodyTooLarge"
      return isTooLarge ? Effect.undefined : Effect.die(error)
    })
  )
}

/** Files of requests that one process reads or works on at once. */
const filesAtOnceMax = 16

/** Makes the function that runs a request with a file, or refuses it if there are too many, because each is in memory. */
export const makeHolding = () =>
  limited(filesAtOnceMax, Effect.die(refused(503, "Service unavailable", { "retry-after": "1" })))

/** Makes the function that runs at most so many effects at once. One more becomes `busy`. */
export const limited = <E1>(most: number, busy: Effect.Effect<never, E1>) => {
  let running = 0
  return <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E | E1, R> =>
    Effect.suspend((): Effect.Effect<A, E | E1, R> => {
      if (running >= most) return busy
      running++
      return Effect.ensuring(
        effect,
        Effect.sync(() => void running--)
      )
    })
}

/** The rest of the body is not read, so the connection cannot be used again. */
const refused = (status: number, error: string, headers: { readonly [name: string]: string } = {}) =>
  HttpServerResponse.jsonUnsafe({ error }, { status, headers: { connection: "close", ...headers } })

const listed = (types: ReadonlyArray<string>): string => `${types.slice(0, -1).join(", ")} or ${types.at(-1)}`
