/** The result of the last form, for the next screen. It is in a cookie, because a link must not put words on a page. */
import { Effect } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { Origins } from "../../http/server/Origins.ts"

const cookie = "usher-note"

/** A result is read at once, and a long one, such as the answer of a server, is cut. */
const seconds = 60
const lengthMax = 300

type Response = HttpServerResponse.HttpServerResponse

/** Makes the effect with the note of a request, and the functions that add one to a response or remove it. */
export const make = Effect.map(Origins, (origins) =>
  Effect.map(HttpServerRequest.HttpServerRequest, (request) => {
    const set = (response: Response, text: string, maxAge: number) =>
      HttpServerResponse.setCookieUnsafe(response, cookie, text, {
        path: "/dashboard",
        httpOnly: true,
        sameSite: "strict",
        secure: origins.of(request).isEncrypted,
        maxAge: `${maxAge} seconds`
      })
    return {
      text: request.cookies[cookie] || undefined,
      add: (response: Response, text: string) => set(response, text.slice(0, lengthMax), seconds),
      remove: (response: Response) => set(response, "", 0)
    }
  })
)
