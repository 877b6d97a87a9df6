/** The visitors of the sample shop: browsers with cookies and without a script. */
import { Effect, Option, Schedule } from "effect"
import { Cookies, HttpClient, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { visitorHeader } from "./Shop.ts"

/** A page that a visitor has got; status 0: no answer. */
export interface Page {
  readonly status: number
  readonly text: string
  readonly location: string
}

const noPage: Page = { status: 0, text: "", location: "" }

/** Rooms limit what one address may ask, and all visitors have one. */
const lookMillis = 2_000

export type Visitor = ReturnType<Effect.Success<ReturnType<typeof makeVisitors>>>

/** Makes the function that makes a visitor of this shop. */
export const makeVisitors = (shopUrl: string) =>
  Effect.map(HttpClient.HttpClient, (http) => (name: string) => {
    /** By the origin that has set them. */
    const cookies = new Map<string, Cookies.Cookies>()

    const send = (request: HttpClientRequest.HttpClientRequest) => {
      const { origin } = new URL(request.url)
      const own = cookies.get(origin) ?? Cookies.empty
      const headers = {
        accept: "text/html",
        [visitorHeader]: name,
        ...(Cookies.isEmpty(own) ? {} : { cookie: Cookies.toCookieHeader(own) })
      }
      return http.execute(HttpClientRequest.setHeaders(request, headers)).pipe(
        Effect.tap((response) => Effect.sync(() => cookies.set(origin, Cookies.merge(own, response.cookies)))),
        Effect.flatMap(pageOf),
        Effect.timeout("30 seconds"),
        Effect.orElseSucceed(() => noPage)
      )
    }
    const get = (url: string) => send(HttpClientRequest.get(url))

    /** Opens the room at the address to which the gate has led, and waits there. Returns the page after it. */
    const waitIn = Effect.fnUntraced(function* (address: string) {
      const room = reachable(address)
      const { location } = yield* get(room)
      const place = new URL(location, room).href
      const form = yield* get(place).pipe(
        Effect.map(({ text }) => onwardIn(text)),
        Effect.repeat({ until: (found) => found !== undefined, schedule: Schedule.spaced(lookMillis) }),
        Effect.timeoutOption("90 seconds")
      )
      const onward = Option.getOrUndefined(form)
      if (onward === undefined) return noPage
      const returned = yield* send(
        HttpClientRequest.bodyUrlParams(HttpClientRequest.post(onward.action), { usher_grant: onward.grant })
      )
      return yield* get(new URL(returned.location, shopUrl).href)
    })

    return {
      name,
      /** True if the shop has set a cookie: the visitor has a grant. */
      hasCookie: () => !Cookies.isEmpty(cookies.get(new URL(shopUrl).origin) ?? Cookies.empty),
      visit: (path: string) => get(shopUrl + path),
      waitIn
    }
  })

const pageOf = (response: HttpClientResponse.HttpClientResponse) =>
  Effect.map(response.text, (text): Page => ({
    status: response.status,
    text,
    location: response.headers["location"] ?? ""
  }))

/** The server of the demo listens at this address alone. */
const reachable = (address: string): string => address.replace("//localhost:", "//127.0.0.1:")

/** The form with which a room leads on. */
const onwardIn = (text: string) => {
  const form = text.split("<form").find((part) => part.includes('name="usher_grant"')) ?? ""
  const grant = /name="usher_grant" value="([^"]+)"/.exec(form)?.[1]
  const action = / action="([^"]+)"/.exec(form)?.[1]
  return grant === undefined || action === undefined ? undefined : { grant, action: action.replaceAll("&amp;", "&") }
}
