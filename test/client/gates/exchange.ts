/** What a visitor and a gate do over HTTP, the same for every runtime: each step returns what was wrong. */
import { type IncomingMessage, request } from "node:http"
import { text } from "node:stream/consumers"
import { setTimeout as sleep } from "node:timers/promises"
import { reportIn } from "../../../src/domain/gate/Report.ts"
import type { FakeUsher } from "./fakeUsher.ts"

const page = { accept: "text/html" }
const pass = "POST /api/queues/queue-1/pass"
const ended = "GET /api/gates/gate-1/ended"

/** After so many seconds an answer that has not come yet counts as wrong. */
const patienceSeconds = 20

/** How often a walk is repeated at most. */
const walksMax = 3

interface Walk {
  readonly wrong: ReadonlyArray<string>
  /** What was right, but not in time: the gate is slow, or the machine had no processor for it. */
  readonly late: ReadonlyArray<string>
}

/** Repeats a walk in which something was late: a gate that is slow is so each time, a busy machine is not. */
export const walkedInTime = async (walk: () => Promise<Walk>): Promise<Walk & { readonly walks: number }> => {
  for (let walks = 1; ; walks++) {
    const found = await walk()
    if (found.wrong.length > 0 || found.late.length === 0 || walks === walksMax) return { ...found, walks }
  }
}

/**
 * Walks through a site behind a gate, whose answer to every path is "the site" with the cookie `own=1`. `slowest`: the
 * milliseconds that an answer may take while Usher is away.
 */
export const exchanged = async (siteUrl: string, usher: FakeUsher, slowest = 600): Promise<Walk> => {
  const wrong: Array<string> = []
  const late: Array<string> = []
  const isSame = (found: unknown, expected: unknown) => JSON.stringify(found) === JSON.stringify(expected)
  const is = (what: string, found: unknown, expected: unknown) => {
    if (!isSame(found, expected)) wrong.push(`${what}: ${JSON.stringify(found)} instead of ${JSON.stringify(expected)}`)
  }
  const isBelow = (what: string, found: number, most: number) => {
    if (found > most) late.push(`${what}: after ${found.toFixed(0)} ms instead of ${most}`)
  }
  /** Looks until it finds what is expected, which is late after `most` milliseconds. `before`: what may be so until then. */
  const becomes = async (
    what: string,
    most: number,
    look: () => unknown,
    expected: unknown,
    before: Array<unknown>
  ) => {
    const began = performance.now()
    for (let looks = 1; ; looks++) {
      const found = await look()
      const millis = performance.now() - began
      if (isSame(found, expected)) return looks > 1 ? isBelow(what, millis, most) : undefined
      const mayBe = before.some((one) => isSame(found, one)) && millis < patienceSeconds * 1_000
      if (!mayBe) return is(what, found, expected)
      await sleep(100)
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

  const statusAt = (path: string) => async () => (await asked(path)).status

  await becomes("a page without a rule", 0, statusAt("/"), 200, [503])
  is("its text", (await asked("/")).text, "the site")
  is("calls of pass for it", usher.state.calls[pass] ?? 0, 0)

  const first = await asked("/checkout")
  is("a new visitor", [first.status, first.text, first.headers["cache-control"]], [200, "the site", "no-store"])
  is("its cookies", [first.cookies.includes("own=1"), first.cookie !== undefined], [true, true])
  const second = await inside(first.cookie)
  is("the visitor again", [second.status, second.cookie], [200, undefined])
  is("visitors of pass", new Set(usher.state.attempts).size, 1)

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
  // Where nothing runs between requests, the next one renews.
  const isRenewed = async () => (await asked("/")) && usher.state.renewed.includes("queue-1.1")
  await becomes("renewed visitors", 1_500, isRenewed, true, [false])

  usher.state.ended = ["queue-1.2"]
  const returnedStatus = async () => (await inside(returned.cookie)).status
  await becomes("after its grant has ended", 2_400, returnedStatus, 303, [200])

  usher.state.isAway = true
  // Where nothing runs between requests, one of them notices.
  await becomes("a new visitor while Usher is away", 2_200 + slowest, statusAt("/checkout"), 503, [303])
  const still = await inside(first.cookie)
  is("a visitor with a cookie while Usher is away", still.status, 200)
  isBelow("its answer", still.millis, slowest)
  const closed = await asked("/checkout")
  is("another new one", [closed.status, "retry-after" in closed.headers], [503, true])
  isBelow("its answer", closed.millis, slowest)
  is("where the rule is open", (await asked("/open")).status, 200)

  usher.state.isAway = false
  usher.state.isFull = false
  await becomes("after Usher is back", 2_000, statusAt("/checkout"), 200, [303, 503])

  // A gate that did not run in time cannot tell a lost call from an Usher that is away.
  const enters = (what: string) => becomes(what, 0, statusAt("/checkout"), 200, [303, 503])
  for (const silence of ["break", "error"] as const) {
    usher.state.silences = { [pass]: [silence] }
    await enters(`a new visitor whose call meets one ${silence}`)
    usher.state.silences = { [ended]: [silence] }
    const isMet = async () => {
      await enters(`new visitors while the list meets one ${silence}`)
      return usher.state.silences[ended]!.length === 0
    }
    await becomes(`the list meets one ${silence}`, 2_500, isMet, true, [false])
    await enters(`a new visitor after the list met one ${silence}`)
  }

  usher.state.attempts = []
  usher.state.silences = { [pass]: ["late"] }
  const waiting = asked("/checkout")
  await becomes("a call", 1_000, () => usher.state.attempts.length, 1, [0])
  await enters("a new visitor while one call is late")
  is("the visitor whose call was late", (await waiting).status, 200)
  await enters("a new visitor after one call was late")
  const [attempt, ...others] = usher.state.attempts
  is("that it was asked for again", others.includes(attempt!), true)

  const { runtime, version, decisions } = reportIn(usher.state.report) ?? {}
  is("what the gate says of itself", [runtime !== undefined, version], [true, "first"])
  is("what it has counted", [(decisions?.pass ?? 0) > 5, (decisions?.room ?? 0) > 0], [true, true])
  return { wrong, late }
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
