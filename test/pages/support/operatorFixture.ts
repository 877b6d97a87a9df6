/** A browser at the dashboard: cookies and forms, without a script, over real HTTP. */
import { Effect, Schedule } from "effect"
import { type Answer, Usher } from "../../http/support/usherFixture.ts"
import { formOf, mailedCode } from "./roomFixture.ts"

/** A browser at the dashboard. */
export const operator = Effect.gen(function* () {
  const { admin } = yield* Usher
  const cookies = new Map<string, string>()
  const send = (method: string, path: string, fields?: object, headers: object = { "sec-fetch-site": "same-origin" }) =>
    exchange(method, path, fields && new URLSearchParams(fields as Record<string, string>), headers)
  const exchange = (
    method: string,
    path: string,
    body: URLSearchParams | FormData | undefined,
    headers: object = { "sec-fetch-site": "same-origin" }
  ) =>
    // The cookie is that of the moment when the request is sent.
    Effect.flatMap(encoded(body), ({ type, bytes }) =>
      Effect.map(
        admin({
          method,
          path,
          headers: {
            ...(cookies.size > 0 && { cookie: [...cookies].map((pair) => pair.join("=")).join("; ") }),
            ...(type !== undefined && { "content-type": type }),
            ...headers
          },
          body: bytes
        }),
        (answer) => {
          const lines = [(answer.headers["set-cookie"] ?? []) as unknown as ReadonlyArray<string>].flat()
          for (const line of lines) {
            const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? []
            if (/max-age=0/i.test(line)) cookies.delete(name)
            else cookies.set(name, value)
          }
          return { ...answer, cookie: lines[0] }
        }
      )
    )
  const get = (path: string) => send("GET", path)
  /** Sends the form with this text on its button, with what the person types. */
  const submit = Effect.fnUntraced(function* (page: Answer, label: string, typed: object = {}) {
    const form = formOf(page, label)
    // A select has its first value, unless the person chooses another.
    const answer = yield* send("POST", form.action, { reason: "TECHNICAL_PROBLEM", ...form.fields, ...typed })
    return answer.status === 303 ? yield* get(answer.headers["location"]!) : answer
  })
  /** The same with files, by the names of their fields. */
  const submitFiles = Effect.fnUntraced(function* (
    page: Answer,
    label: string,
    files: { readonly [name: string]: Uint8Array },
    typed: object = {},
    headers?: object
  ) {
    const form = formOf(page, label)
    const body = new FormData()
    for (const [name, value] of Object.entries({ ...form.fields, ...typed })) body.append(name, value)
    for (const [name, bytes] of Object.entries(files)) body.append(name, new Blob([bytes]), "picture.png")
    const answer = yield* exchange("POST", form.action, body, headers)
    return answer.status === 303 ? yield* get(answer.headers["location"]!) : answer
  })
  const signIn = (key: string) => send("POST", "/dashboard/sign-in", { key })
  return { send, get, submit, submitFiles, signIn }
})

/** The bytes of a form, and their type. */
const encoded = (body: URLSearchParams | FormData | undefined) =>
  Effect.promise(async () => {
    if (body === undefined) return { type: undefined, bytes: undefined }
    const response = new Response(body)
    return { type: response.headers.get("content-type")!, bytes: new Uint8Array(await response.arrayBuffer()) }
  })

/** A person of the brand with this role, who is signed in by a mailed code. */
export const person = Effect.fnUntraced(function* (email: string, role: string) {
  const { admin, brand } = yield* Usher
  const headers = { authorization: `Bearer ${brand.secretKey}` }
  const { body } = yield* admin({ method: "POST", path: "/api/people", headers, body: { email, role } })
  const browser = yield* operator
  yield* signInAs(browser, email)
  return { ...browser, personId: body.id as string }
})

/** Signs in with a mailed code. Returns the page after it. */
export const signInAs = Effect.fnUntraced(function* ({ get, submit }: Browser, email: string) {
  const asked = yield* submit(yield* get("/dashboard/sign-in"), "Send me a code", { email })
  return yield* submit(asked, "Sign in", { code: yield* mailedCode(email) })
})

type Browser = Effect.Success<typeof operator>
type Submit = Effect.Success<typeof operator>["submit"]

/** Sends a form that acts, with the word that an end needs. */
export const acted = (submit: Submit, page: Answer, label: string, typed: object = {}) =>
  submit(page, label, { word: "END", ...typed })

/** Reads a page until it is so. */
export const eventually = <E, R>(page: Effect.Effect<Answer, E, R>, isSo: (page: Answer) => boolean) =>
  Effect.repeat(page, { until: isSo, schedule: Schedule.spaced("20 millis") })
