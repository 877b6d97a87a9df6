// oxlint-disable unicorn/no-thenable -- the rules of gates have this field
/** What a gate does with an address, in words, and the lines that an operator copies. */
import { assert, describe, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { filledIn, linesFor, ways } from "../../../src/pages/dashboard/gates/Lines.ts"
import { Usher } from "../../http/support/usherFixture.ts"
import { operator } from "../support/operatorFixture.ts"
import { brand, formOf, layer as usher, room, textOf } from "../support/roomFixture.ts"

/** A gate with rules of each kind, and its screen. */
const aGate = Effect.gen(function* () {
  const browser = yield* operator
  yield* browser.signIn((yield* Usher).brand.secretKey)
  const { sequence } = yield* room({ queues: [{ name: "Line", standby: true, admitRate: 60 }] })
  const queueId: string = sequence.queues[0].id
  const rules = [
    { name: "Monitoring", when: { header: { name: "x-monitoring" } }, then: "pass" },
    { name: "Checkout", when: { pathPrefix: "/checkout" }, then: { queueId } }
  ]
  const { id } = yield* brand("POST", "/gates", { name: "Shop", hosts: ["shop.example"], rules })
  return { ...browser, queueId, id, path: `/dashboard/gates/${id}` }
})

layer(usher, { excludeTestServices: true })("The tester of a gate", (it) => {
  it.effect("says in words what happens to an address now, and changes nothing", () =>
    Effect.gen(function* () {
      const { get, submit, path, queueId } = yield* aGate
      const tried = (typed: object) =>
        Effect.map(
          Effect.flatMap(get(path), (page) => submit(page, "Try it", typed)),
          textOf
        )
      const kinds = { "test.method": "GET", "test.kind": "page" }
      const at = (address: string, more: object = {}) =>
        tried({ ...kinds, "test.url": `https://shop.example${address}`, ...more })
      assert.include(yield* at("/about"), "It passes. No rule fits.")
      assert.include(
        yield* at("/checkout"),
        "A new visitor passes at once while rate and limit allow, and else goes to the room. Rule 2 (Checkout) fits first."
      )
      assert.include(
        yield* at("/checkout", { "test.header": "X-Monitoring: yes" }),
        "It passes. Rule 1 (Monitoring) fits first."
      )
      assert.include(yield* at("/.usher/return?to=%2F"), "It is the way back from the room")
      assert.include(yield* tried({ ...kinds, "test.url": "shop.example/%63heckout" }), "Rule 2 (Checkout) fits first.")
      yield* brand("POST", `/queues/${queueId}/pause`)
      assert.include(yield* at("/checkout"), "The browser is sent to the room.")
      assert.include(yield* at("/checkout", { "test.kind": "program" }), "A program is told to wait: 429")
      assert.strictEqual((yield* brand("GET", `/distributions/${queueId}/live`)).inside, 0)
    })
  )

  it.effect("says at the field what is no address, and keeps what was typed", () =>
    Effect.gen(function* () {
      const { get, send, path } = yield* aGate
      const { action, fields } = formOf(yield* get(path), "Try it")
      for (const wrong of ["", "ftp://shop.example/", "https://"]) {
        const refused = yield* send("POST", action.split("#")[0]!, {
          ...fields,
          "test.method": "GET",
          "test.url": wrong
        })
        assert.strictEqual(refused.status, 400, wrong)
        assert.include(refused.text, 'id="f-test-test.url-problem"', wrong)
      }
    })
  )

  it.effect("stands above lines with this gate's id and the address of this server", () =>
    Effect.gen(function* () {
      const { get, id, path } = yield* aGate
      const page = yield* get(path)
      for (const { name } of ways) {
        const [, lines = ""] = new RegExp(`data-way="${name}"[^>]*>([^]*?)</details>`).exec(page.text) ?? []
        assert.include(lines, id, name)
        assert.match(lines, /http:\/\/(localhost|127\.0\.0\.1):\d+/, name)
        assert.notMatch(lines, /gk_live_[\w-]{20}|example\.com/, name)
      }
    })
  )
})

describe("The lines of a gate", () => {
  it("have its values in the place of the examples of a file, each once", () => {
    const known = {
      gateId: "gate",
      url: "https://usher.example",
      host: "www.shop.example",
      returnPath: "/shop.example"
    }
    const file = "server_name shop.example; location /.usher/return"
    const filled = "server_name www.shop.example; location /shop.example"
    assert.strictEqual(filledIn(file, known), filled)
  })

  it.effect("for Workers and Node are programs that begin", () =>
    Effect.gen(function* () {
      const known = {
        gateId: "0199b2a1-0000-7d7a-b0f2-0f1e2d3c4b5a",
        url: "https://usher.shop.example",
        host: "shop.example",
        returnPath: "/.usher/return"
      }
      const all = yield* linesFor(known)
      const textFor = (name: string) => all.find((way) => way.name === name)!.lines[0]!.text
      const begin = (text: string) => {
        const client = new URL("../../../src/client/", import.meta.url)
        const program = text
          .replace("@usher/client/gate/node", new URL("nodeGate.ts", client).href)
          .replace("@usher/client/gate", new URL("fetchGate.ts", client).href)
        return Effect.promise(() => import(`data:text/javascript,${encodeURIComponent(program)}`))
      }
      const worker = yield* begin(textFor("worker"))
      const context = { waitUntil: () => {} }
      const answer = yield* Effect.promise<Response>(() =>
        worker.default.fetch(new Request("https://shop.example/"), { USHER_GATE_KEY: "gk_live_none" }, context)
      )
      // Nothing answers at that address, and a gate without rules is closed.
      assert.strictEqual(answer.status, 503)
      yield* begin(textFor("node"))
    })
  )
})
