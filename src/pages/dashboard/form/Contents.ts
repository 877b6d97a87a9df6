/** The fields and the files of a form with files (`multipart/form-data`). */
import { Effect } from "effect"
import { HttpServerRequest } from "effect/http"
import { bytesOf } from "../../../http/server/RawBodies.ts"
import { Refusal } from "../../Refusal.ts"
import type { RouteRequest } from "../Route.ts"

/** Bytes of a form with its files. A picture may have fewer, and its field says so; a larger form is not read. */
export const formBytesMax = 20_000_000

/** Fields and files of a form. */
const partsMax = 2_000

type Contents = Pick<RouteRequest, "fields" | "files">

const malformed = new Refusal({ status: 400, code: "INVALID" })

export const isMultipart = ({ headers }: HttpServerRequest.HttpServerRequest): boolean =>
  /^multipart\/form-data\s*;/i.test(headers["content-type"] ?? "")

/** Reads the form. A file without bytes is none: browsers send one for a field that was left empty. */
export const contentsOf = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest) {
  const bytes = yield* bytesOf(request, formBytesMax)
  if (bytes === undefined) return yield* new Refusal({ status: 413, code: "TOO_LARGE" })
  const type = request.headers["content-type"] ?? ""
  const form = yield* Effect.tryPromise({
    try: () => new Response(bytes, { headers: { "content-type": type } }).formData(),
    catch: () => malformed
  })
  const parts = [...form]
  if (parts.length > partsMax) return yield* malformed
  const fields = new URLSearchParams()
  const files = new Map<string, Uint8Array>()
  for (const [name, value] of parts) {
    if (typeof value === "string") fields.append(name, value)
    else if (value.size > 0) files.set(name, new Uint8Array(yield* Effect.promise(() => value.arrayBuffer())))
  }
  return { fields, files } satisfies Contents
})
