/** A room of a new experience, and visitors with cookies but without a script, over real HTTP. */
import { Effect, Schedule } from "effect"
import { type Answer, asServer, Usher } from "../../http/support/usherFixture.ts"

export { layer } from "../../http/support/usherFixture.ts"

/** A form of a page. */
export interface Form {
  readonly action: string
  readonly fields: { readonly [name: string]: string }
  readonly label: string
}

/** Sends a request of the brand's server to the Admin API. */
export const brand = Effect.fnUntraced(function* (method: string, path: string, body?: object) {
  const usher = yield* Usher
  const answer = yield* usher.admin({ method, path: `/api${path}`, headers: asServer(usher.brand.secretKey), body })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
  return answer.body
})

/** Sends a request of the brand's server to the Consumer API. */
export const asBrandServer = Effect.fnUntraced(function* (method: string, path: string, body?: object) {
  const usher = yield* Usher
  const answer = yield* usher.consumer({ method, path: `/api${path}`, headers: asServer(usher.brand.secretKey), body })
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`)
  return answer.body
})

/** Asks the API whether the grant admits the consumer that it names. */
export const isValid = Effect.fnUntraced(function* (path: string, token: string) {
  const { consumerId } = JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString())
  return yield* asBrandServer("POST", `${path}/validate`, { consumerId, token })
})

/** A product that is sold at a shop, in these sizes. */
export const product = (sizes: ReadonlyArray<string> = ["42"]) =>
  brand("POST", "/products", {
    name: "Sneaker",
    url: "https://shop.example/sneaker",
    variants: sizes.map((sku) => ({ sku, price: "129.00" }))
  })

/** Waits for a code to the address, and returns the latest one that was not taken before. */
export const mailedCode = Effect.fnUntraced(function* (to: string) {
  const { admin, brand } = yield* Usher
  const read = admin({ path: `/api/outbox?to=${encodeURIComponent(to)}`, headers: asServer(brand.secretKey) })
  const found = yield* Effect.map(read, ({ body }) => {
    const codes: ReadonlyArray<string> = body.data.flatMap(({ text }: { text: string }) => /\b\d{6}\b/.exec(text) ?? [])
    return codes.find((code) => !taken.has(code))
  }).pipe(Effect.repeat({ until: (code) => code !== undefined, schedule: Schedule.spaced("5 millis") }))
  taken.add(found!)
  return found!
})

const taken = new Set<string>()

/** Creates an experience with one sequence of these mechanisms, and returns its room. */
export const room = Effect.fnUntraced(function* (sequence: object, experience: object = {}) {
  const created = yield* brand("POST", "/experiences", {
    name: "Spring drop",
    sequences: [{ name: "Everyone", ...sequence }],
    ...experience
  })
  return { ...(yield* visitor(created.id)), experience: created, sequence: created.sequences[0] }
})

/** Publishes a page of an experience. Returns its id. */
export const publish = Effect.fnUntraced(function* (experienceId: string, slug: string, document: object) {
  const page = yield* brand("POST", "/experience-pages", {
    experienceId,
    slug,
    title: `The ${slug}`,
    creativeDocument: { schemaVersion: 1, kind: "experience-page", editor: "rich-content-v0", ...document }
  })
  yield* brand("POST", `/experience-pages/${page.id}/publish`)
  return page.id as string
})

/** A room whose names, words, theme and page try to run scripts. */
export const hostileRoom = Effect.gen(function* () {
  const attack = `"><script>alert(1)</script><img src=x onerror=alert(1)>`
  const theme = {
    primary: "red;}</style><script>alert(1)</script>",
    fontFamily: "x;} body{background:url(//evil)"
  }
  const i18n = { en: { enterQueue: attack } }
  const made = yield* room({ queues: [{ name: attack, admitRate: 0 }] }, { name: attack, theme, i18n })
  yield* publish(made.experienceId, "hostile", {
    themeOverrides: { background: "url(https://evil.example)" },
    body: {
      blocks: [
        { type: "p", content: attack, className: attack },
        { type: "link", href: "javascript:alert(1)", content: attack },
        { type: "image", src: "data:text/html,x", alt: attack },
        { type: "script", content: "alert(1)" }
      ]
    }
  })
  return { ...made, attack }
})

/** A browser without a script that visits the room of an experience. */
export const visitor = Effect.fnUntraced(function* (experienceId: string) {
  const usher = yield* Usher
  const cookies = new Map<string, string>()
  const path = (name: string) => (name.startsWith("/") ? name : `/e/${experienceId}${name === "" ? "" : `/${name}`}`)

  const send = (method: string, name: string, headers: object, body?: string) =>
    Effect.map(
      usher.consumer({
        method,
        path: path(name),
        headers: {
          ...(cookies.size > 0 && { cookie: [...cookies].map(([key, value]) => `${key}=${value}`).join("; ") }),
          ...headers
        },
        body
      }),
      (answer) => {
        for (const line of [(answer.headers["set-cookie"] ?? []) as unknown as ReadonlyArray<string>].flat()) {
          const [, key = "", value = ""] = /^([^=]+)=([^;]*)/.exec(line) ?? []
          if (/max-age=0/i.test(line)) cookies.delete(key)
          else cookies.set(key, value)
        }
        return answer
      }
    )

  const get = (name: string, headers: object = {}) => send("GET", name, headers)
  /** Sends a form, and does not follow where the answer leads. */
  const postOnce = (name: string, fields: object, headers: object = { "sec-fetch-site": "same-origin" }) =>
    send(
      "POST",
      name,
      { "content-type": "application/x-www-form-urlencoded", ...headers },
      new URLSearchParams(fields as Record<string, string>).toString()
    )
  /** Sends a form, and sends it again to where the server wants it, as a browser does. */
  const post = (...form: Parameters<typeof postOnce>) =>
    Effect.flatMap(postOnce(...form), (answer) =>
      answer.status === 307 ? postOnce(answer.headers["location"]!, form[1], form[2]) : Effect.succeed(answer)
    )

  return {
    experienceId,
    cookies,
    get,
    post,
    postOnce,
    /** Waits until the visitor reads this on its page, after time has passed. */
    sees: (text: string) =>
      get("place").pipe(
        Effect.repeat({ until: (page) => textOf(page).includes(text), schedule: Schedule.spaced("5 millis") }),
        Effect.timeout("20 minutes")
      ),
    /** Sends a form of the page, with what the visitor types, and follows the redirect. */
    submit: Effect.fnUntraced(function* (page: Answer, label: string, typed: object = {}) {
      const form = formOf(page, label)
      const answer = yield* post(form.action, { ...form.fields, ...typed })
      return answer.status === 303 ? yield* get(answer.headers["location"]!) : answer
    })
  }
})

/** Returns the form with this text on its button. */
export const formOf = (page: Answer, label: string): Form => {
  const forms = formsOf(page)
  const found = forms.find((form) => form.label === label)
  if (found === undefined)
    throw new Error(`No form "${label}" among ${forms.map(({ label }) => label).join(", ")}: ${textOf(page)}`)
  return found
}

/** Returns all forms of a page. */
export const formsOf = ({ text }: Answer): ReadonlyArray<Form> =>
  [...text.matchAll(/<form[^>]* action="([^"]*)"[^>]*>([^]*?)<\/form>/g)].map(([, action, content]) => ({
    action: unescaped(action!),
    fields: Object.fromEntries(
      [...content!.matchAll(/<input([^>]*)>/g)].flatMap(([, attributes]) => {
        const name = / name="([^"]*)"/.exec(attributes!)?.[1]
        const value = / value="([^"]*)"/.exec(attributes!)?.[1]
        return name === undefined || value === undefined ? [] : [[name, unescaped(value)]]
      })
    ),
    label: unescaped((/<button[^>]*>([^]*?)<\/button>/.exec(content!)?.[1] ?? "").replaceAll(/<[^>]*>/g, "")).trim()
  }))

/** Returns what a person reads on a page. */
export const textOf = ({ text }: Answer): string =>
  unescaped(
    text
      .replaceAll(/<(style|script|title|noscript)[^]*?<\/\1>/g, "")
      .replaceAll(/<[^>]*>/g, " ")
      .replaceAll(/\s+/g, " ")
  ).trim()

export const unescaped = (text: string): string =>
  text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&#39;", "'")
    .replaceAll("&amp;", "&")
