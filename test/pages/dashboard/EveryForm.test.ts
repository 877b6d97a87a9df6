/** Every form of the dashboard, in every hand and however it is sent: the answer is a page in words, or leads to one. */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { randomUUID } from "node:crypto"
import { routesOf } from "../../../src/pages/dashboard/Routes.ts"
import { type Answer, Usher } from "../../http/support/usherFixture.ts"
import { movableClock } from "../../support/movableClock.ts"
import { operator, person } from "../support/operatorFixture.ts"
import { layer as usher, room, textOf } from "../support/roomFixture.ts"

const forms = routesOf({} as Parameters<typeof routesOf>[0]).filter(({ method }) => method === "POST")

const clock = movableClock()

/** The dashboard limits the requests of an address in a minute. */
const withinLimit = clock.putForward(1_000)

/** Words that no page for a person has. */
const technical = /Error:|undefined|\[object|\{"|_tag|Internal|SyntaxError/

/** Asserts that a person can read the answer. Returns its text; of one that leads elsewhere, the address. */
const readable = (answer: Answer, of: string): string => {
  assert.isBelow(answer.status, 500, `${of}: ${answer.text}`)
  if (answer.status === 303) return answer.headers["location"]!
  assert.include(answer.headers["content-type"], "text/html", `${of}: ${answer.status} ${answer.text}`)
  const text = textOf(answer)
  assert.isAbove(text.length, 20, of)
  assert.notMatch(text, technical, of)
  return text
}

layer(usher.pipe(Layer.provide(clock.layer)), { excludeTestServices: true })("Every form of the dashboard", (it) => {
  it.effect("is answered in words when it is sent empty, twice, or for what is not there", () =>
    Effect.gen(function* () {
      const { send, signIn } = yield* operator
      yield* signIn((yield* Usher).brand.secretKey)
      const { experienceId } = yield* room({ queues: [{ name: "Line", admitRate: 0 }] })
      for (const { path } of forms) {
        // It ends the session of this test.
        if (path.endsWith("/sign-out")) continue
        for (const id of [experienceId, randomUUID(), "no-id"]) {
          const address = `/dashboard${path.replace(":id", id).replace(/:\w+/g, "none")}`
          for (const _ of ["first", "second"]) readable(yield* send("POST", address, {}), `${address} without fields`)
        }
        yield* withinLimit
      }
    })
  )

  it.effect("leads on, or is a page, where its address is opened again", () =>
    Effect.gen(function* () {
      const { get, signIn } = yield* operator
      yield* signIn((yield* Usher).brand.secretKey)
      const { experienceId } = yield* room({ queues: [{ name: "Line", admitRate: 0 }] })
      for (const { path } of forms) {
        const address = `/dashboard${path.replace(":id", experienceId).replace(/:\w+/g, "none")}`
        const answer = yield* get(address)
        readable(answer, `GET ${address}`)
        yield* withinLimit
        if (answer.status === 303) readable(yield* get(answer.headers["location"]!), `GET after ${address}`)
      }
    })
  )

  it.effect("changes nothing after its session has ended, and says so", () =>
    Effect.gen(function* () {
      const { send } = yield* operator
      const { experienceId } = yield* room({ queues: [{ name: "Line", admitRate: 0 }] })
      const headers = { "sec-fetch-site": "same-origin", cookie: "usher-operator=ended" }
      for (const { path } of forms) {
        if (/^\/(sign-in|code|sign-out)/.test(path)) continue
        const address = `/dashboard${path.replace(":id", experienceId).replace(/:\w+/g, "none")}`
        const answer = yield* send("POST", address, { name: "Forged" }, headers)
        assert.include([303, 401], answer.status, `${address}: ${answer.text}`)
        assert.match(readable(answer, address), /sign-in|session has ended/, address)
        yield* withinLimit
      }
    })
  )

  it.effect("says which role it needs, to one that may only look", () =>
    Effect.gen(function* () {
      const { send } = yield* person(`${randomUUID()}@example.com`, "viewer")
      const { experienceId } = yield* room({ queues: [{ name: "Line", admitRate: 0 }] })
      const refused: Array<string> = []
      for (const { path } of forms) {
        if (/^\/(sign-in|code|sign-out)/.test(path)) continue
        const address = `/dashboard${path.replace(":id", experienceId).replace(/:\w+/g, "none")}`
        const answer = yield* send("POST", address, {})
        const text = readable(answer, `${address} by a viewer`)
        yield* withinLimit
        if (answer.status !== 403) continue
        refused.push(path)
        assert.match(text, /This needs the role \w+/, address)
      }
      assert.isAbove(refused.length, forms.length / 2)
    })
  )
})
