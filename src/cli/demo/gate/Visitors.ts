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
const lookMillis = 4_000

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

    /** Opens a page, and the one to which it leads. */
    const follow = Effect.fnUntraced(function* (url: string) {
      const page = yield* get(url)
      return page.location === "" ? { url, page } : yield* opened(new URL(page.location, url).href)
    })
    const opened = (url: string) => Effect.map(get(url), (page) => ({ url, page }))
    const post = (form: Form, url: string) =>
      HttpClientRequest.post(new URL(form.action, url).href).pipe(
        HttpClientRequest.setHeader("origin", new URL(url).origin),
        HttpClientRequest.bodyUrlParams(form.fields),
        send
      )
    /**
     * Sends a form of the page at `url`, as a browser does: it names the page's origin, because rooms refuse forms of
     * others, and a 307 has it sent once more with the cookies that came.
     */
    const submit = Effect.fnUntraced(function* (form: Form, url: string) {
      const page = yield* post(form, url)
      return page.status === 307 ? yield* post({ ...form, action: page.location }, url) : page
    })

    /** Looks at a place once, and returns the form that leads on. Whoever has no place, or none any more, enters. */
    const look = Effect.fnUntraced(function* (url: string) {
      const forms = formsIn((yield* get(url)).text)
      const onward = forms.find(({ fields }) => "usher_grant" in fields)
      const entry = forms.find(({ action }) => /\/enter(?:\?|$)/.test(action))
      if (onward === undefined && entry !== undefined) yield* submit(entry, url)
      return onward
    })

    /**
     * Opens the room at the address to which the gate has led, and waits there: with the place that the gate has taken, or
     * with one of its own. Returns the page after it.
     */
    const waitIn = Effect.fnUntraced(function* (address: string) {
      const room = yield* follow(reachable(address))
      const entry = formsIn(room.page.text).find(({ action }) => /\/enter(?:\?|$)/.test(action))
      const led = entry === undefined ? noPage : yield* submit(entry, room.url)
      const place = led.location === "" ? room.url : new URL(led.location, room.url).href
      const found = yield* look(place).pipe(
        Effect.repeat({ until: (form) => form !== undefined, schedule: Schedule.spaced(lookMillis) }),
        Effect.timeoutOption("5 minutes")
      )
      const onward = Option.getOrUndefined(found)
      if (onward === undefined) return noPage
      const returned = yield* submit(onward, place)
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

interface Form {
  readonly action: string
  readonly fields: { readonly [name: string]: string }
}

/** The forms of a page, with the values that they have. */
const formsIn = (text: string): ReadonlyArray<Form> =>
  text
    .split("<form")
    .slice(1)
    .map((part) => {
      const [form = ""] = part.split("</form>", 1)
      const inputs = [...form.matchAll(/<input([^>]*)>/g)].map(([, attributes = ""]) => [
        attributeOf(attributes, "name"),
        attributeOf(attributes, "value")
      ])
      return { action: attributeOf(form, "action"), fields: Object.fromEntries(inputs) }
    })

const attributeOf = (text: string, name: string): string =>
  (text.split(` ${name}="`)[1]?.split('"', 1)[0] ?? "").replaceAll("&amp;", "&")
