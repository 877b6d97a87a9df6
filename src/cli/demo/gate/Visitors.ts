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
    const browser = browserOf(http, name)
    return {
      name,
      /** True if the shop has set a cookie: the visitor has a grant. */
      hasCookie: () => browser.hasCookie(shopUrl),
      visit: (path: string) => browser.get(shopUrl + path),
      /** Waits in the room at the address to which the gate has led. Returns the page after it. */
      waitIn: (address: string) =>
        Effect.gen(function* () {
          const way = yield* waitedFor(browser, address)
          if (way === undefined) return noPage
          const returned = yield* browser.submit(way.onward, way.place)
          return yield* browser.get(new URL(returned.location, shopUrl).href)
        })
    }
  })

type Browser = ReturnType<typeof browserOf>

const browserOf = (http: HttpClient.HttpClient, name: string) => {
  /** By the origin that has set them. */
  const cookies = new Map<string, Cookies.Cookies>()
  const cookiesOf = (url: string) => cookies.get(new URL(url).origin) ?? Cookies.empty

  const send = (request: HttpClientRequest.HttpClientRequest) => {
    const own = cookiesOf(request.url)
    const headers = {
      accept: "text/html",
      [visitorHeader]: name,
      ...(Cookies.isEmpty(own) ? {} : { cookie: Cookies.toCookieHeader(own) })
    }
    const keep = (response: HttpClientResponse.HttpClientResponse) =>
      Effect.sync(() => cookies.set(new URL(request.url).origin, Cookies.merge(own, response.cookies)))
    return http.execute(HttpClientRequest.setHeaders(request, headers)).pipe(
      Effect.tap(keep),
      Effect.flatMap(pageOf),
      Effect.timeout("30 seconds"),
      Effect.orElseSucceed(() => noPage)
    )
  }

  const post = (form: Form, url: string) =>
    HttpClientRequest.post(new URL(form.action, url).href).pipe(
      HttpClientRequest.setHeader("origin", new URL(url).origin),
      HttpClientRequest.bodyUrlParams(form.fields),
      send
    )

  return {
    hasCookie: (url: string) => !Cookies.isEmpty(cookiesOf(url)),
    get: (url: string) => send(HttpClientRequest.get(url)),
    /**
     * Sends a form of the page at `url`: with the page's origin, because rooms refuse forms of others. A 307 has it sent
     * once more with the cookies that came.
     */
    submit: Effect.fnUntraced(function* (form: Form, url: string) {
      const page = yield* post(form, url)
      return page.status === 307 ? yield* post({ ...form, action: page.location }, url) : page
    })
  }
}

/** Waits in a room, and returns the form that leads on; undefined after five minutes. */
const waitedFor = Effect.fnUntraced(function* (browser: Browser, address: string) {
  const room = reachable(address)
  const first = yield* browser.get(room)
  const entered = first.location === "" ? room : new URL(first.location, room).href
  const entry = entryIn((yield* browser.get(entered)).text)
  const led = entry === undefined ? noPage : yield* browser.submit(entry, entered)
  const place = led.location === "" ? entered : new URL(led.location, entered).href
  const onward = yield* lookAt(browser, place).pipe(
    Effect.repeat({ until: (form) => form !== undefined, schedule: Schedule.spaced(lookMillis) }),
    Effect.timeoutOption("5 minutes"),
    Effect.map(Option.getOrUndefined)
  )
  return onward === undefined ? undefined : { onward, place }
})

/** Looks at a place once, and returns the form that leads on. A visitor without a place enters, also one whose place has ended. */
const lookAt = Effect.fnUntraced(function* (browser: Browser, url: string) {
  const { text } = yield* browser.get(url)
  const onward = formsIn(text).find(({ fields }) => "usher_grant" in fields)
  const entry = entryIn(text)
  if (onward === undefined && entry !== undefined) yield* browser.submit(entry, url)
  return onward
})

const entryIn = (text: string): Form | undefined => formsIn(text).find(({ action }) => /\/enter(?:\?|$)/.test(action))

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
