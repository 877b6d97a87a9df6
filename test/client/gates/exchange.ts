/** What a visitor and a gate do over HTTP, the same for every runtime: each step returns what was wrong. */
import { type IncomingMessage, request } from "node:http"
import { text } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import { reportIn } from "../../../src/domain/gate/Report.ts"
import type { FakeUsher } from "./fakeUsher.ts"

const page = { accept: "text/html" }
const pass = "POST /api/queues/queue-1/pass"
const ended = "GET /api/gates/gate-1/ended"

/**
 * Walks through a site behind a gate, whose answer to every path is "the site" with the cookie `own=1`. Returns what was wrong. `slowest`: the
 * milliseconds that an answer may take while Usher is away.
 */
export const exchanged = async (siteUrl: string, usher: FakeUsher, slowest = 600): Promise<ReadonlyArray<string>> => {
  const wrong: Array<string> = []
  const is = (what: string, found: unknown, expected: unknown) => {
    if (JSON.stringify(found) !== JSON.stringify(expected)) {
      wrong.push(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`)
    }
  }
  const asked = async (path: string, headers: object = page, form?: string) => {
    const began = performance.now()
    const { status, headers: answered, body } = await sent(new URL(siteUrl + path), headers, form)
    const cookies = (answered["set-cookie"] ?? []).map((one) => one.split(";")[0]!)
    const cookie = cookies.find((one) => one.startsWith("usher-grant-drop="))
    const state = cookies.find((one) => one.startsWith("usher-state="))
    return { status, text: body, headers: answered, cookies, cookie, state, millis: performance.now() - began }
  }
  const inside = (cookie = "") => asked("/checkout/pay", { ...page, cookie })

  is("a page without a rule", (await asked("/")).text, "the site")
  is("calls of pass for it", usher.state.calls[pass] ?? 0, 0)

  const first = await asked("/checkout")
  is("a new visitor", [first.status, first.text, first.headers["cache-control"]], [200, "the site", "no-store"])
  is("its cookies", [first.cookies.includes("own=1"), first.cookie !== undefined], [true, true])
  const second = await inside(first.cookie)
  is("the visitor again", [second.status, second.cookie], [200, undefined])
  is("calls of pass", usher.state.calls[pass], 1)

  usher.state.isFull = true
  const room = await asked("/checkout?a=1")
  const back = new URL(room.headers.location ?? siteUrl).searchParams.get("return")
  const state = room.state?.split("=")[1]
  is("when it is full", [room.status, back], [303, `${siteUrl}/.usher/return?to=%2Fcheckout%3Fa%3D1&state=${state}`])
  const program = await asked("/checkout", { accept: "application/json" })
  is("a program", [program.status, "retry-after" in program.headers], [429, true])
  is("its answer", JSON.parse(program.text || "{}").roomUrl, `${usher.url}/e/drop`)

  const backPath = back!.slice(siteUrl.length)
  const grant = usher.newGrant()
  const posted = (cookie = "") => asked(backPath, { ...page, cookie }, `usher_grant=${grant}`)
  const strange = await posted("usher-state=state-of-another-browser")
  is("the return of another browser", [strange.status, strange.cookie], [303, undefined])
  const returned = await posted(room.state)
  is("the return path", [returned.status, returned.headers.location], [303, "/checkout?a=1"])
  is("the state afterwards", returned.state, "usher-state=")
  is("a replayed return", (await posted(returned.state)).cookie, undefined)
  is("with its cookie", (await inside(returned.cookie)).status, 200)

  await sleep(700)
  is("a visitor half a second later", (await inside(first.cookie)).status, 200)
  await sleep(1_100)
  // Where nothing runs between requests, the next one renews.
  await asked("/")
  await sleep(400)
  is("renewed visitors", usher.state.renewed.includes("queue-1.1"), true)

  usher.state.ended = ["queue-1.2"]
  await sleep(1_200)
  await inside(returned.cookie)
  await sleep(1_200)
  is("after its grant has ended", (await inside(returned.cookie)).status, 303)

  usher.state.isAway = true
  await sleep(1_100)
  await inside(first.cookie)
  await sleep(1_100)
  const still = await inside(first.cookie)
  is("a visitor with a cookie while Usher is away", [still.status, still.millis < slowest], [200, true])
  const closed = await asked("/checkout")
  is("a new one", [closed.status, "retry-after" in closed.headers, closed.millis < slowest], [503, true, true])
  is("where the rule is open", (await asked("/open")).status, 200)

  usher.state.isAway = false
  usher.state.isFull = false
  await sleep(1_100)
  await asked("/checkout")
  await sleep(900)
  is("two seconds after Usher is back", (await asked("/checkout")).status, 200)

  for (const silence of ["break", "error"] as const) {
    usher.state.silences = { [pass]: [silence] }
    is(`a new visitor whose call meets one ${silence}`, (await asked("/checkout")).status, 200)
    usher.state.silences = { [ended]: [silence] }
    const until = performance.now() + 2_500
    while (performance.now() < until && usher.state.silences[ended]!.length > 0) {
      is(`new visitors while the list meets one ${silence}`, (await asked("/checkout")).status, 200)
      await sleep(100)
    }
    is(`that the list met one ${silence}`, usher.state.silences[ended], [])
    is(`a new visitor after the list met one ${silence}`, (await asked("/checkout")).status, 200)
  }

  usher.state.attempts = []
  usher.state.silences = { [pass]: ["late"] }
  const waiting = asked("/checkout")
  await sleep(300)
  is("a new visitor while one call is late", (await asked("/checkout")).status, 200)
  is("the visitor whose call was late", (await waiting).status, 200)
  is("a new visitor after one call was late", (await asked("/checkout")).status, 200)
  const [late, , again] = usher.state.attempts
  is("who it was asked for again", again, late)

  const { runtime, version, decisions } = reportIn(usher.state.report) ?? {}
  is("what the gate says of itself", [runtime !== undefined, version], [true, "first"])
  is("what it has counted", [(decisions?.pass ?? 0) > 5, (decisions?.room ?? 0) > 0], [true, true])
  return wrong
}

/** A request like a browser's: `fetch` of Node would say that it is a script's. */
const sent = async (url: URL, headers: object, form?: string) => {
  const formType = form === undefined ? {} : { "content-type": "application/x-www-form-urlencoded" }
  const options = { method: form === undefined ? "GET" : "POST", agent: false, headers: { ...headers, ...formType } }
  const reply = await new Promise<IncomingMessage>((answered, failed) => {
    request(url, options, answered).on("error", failed).end(form)
  })
  return { status: reply.statusCode!, headers: reply.headers, body: await text(reply) }
}
