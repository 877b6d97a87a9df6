/** A gate inside of a site: in the runtime of Workers, in Node's own server, in Express and in Fastify. */
import { assert, describe, it } from "@effect/vitest"
import express from "express"
import fastify from "fastify"
import { createServer, type IncomingMessage, type RequestListener, request } from "node:http"
import type { AddressInfo } from "node:net"
import { createGate as createFetchGate } from "../../src/client/fetchGate.ts"
import { createGate, forExpress, forFastify } from "../../src/client/nodeGate.ts"
import { exchanged, walkedInTime } from "./gates/exchange.ts"
import { type FakeUsher, openFakeUsher } from "./gates/fakeUsher.ts"
import { openWorker } from "./gates/worker.ts"

interface Site {
  readonly url: string
  readonly close: () => Promise<unknown>
}

type Listener = (...args: Parameters<RequestListener>) => unknown

const listening = async (listener: Listener): Promise<Site> => {
  const server = createServer((...args) => void listener(...args))
  await new Promise<void>((ready) => void server.listen(0, "127.0.0.1", ready))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise((closed) => server.close(closed))
  }
}

const quiet = () => {}

/** A busy machine answers late. */
const patienceMillis = 30_000

const visitTo = (path: string) => new Request(`http://127.0.0.1${path}`, { headers: { accept: "text/html" } })

const sites: { readonly [runtime: string]: (usher: FakeUsher) => Promise<Site> } = {
  "a Worker": openWorker,

  "Node's own server": (usher) => {
    const gate = createGate({ ...usher, report: quiet })
    return listening(async (incoming, outgoing) => {
      if (await gate(incoming, outgoing)) return
      outgoing.writeHead(200, { "set-cookie": "own=1" }).end("the site")
    })
  },

  Express: (usher) => {
    const app = express()
    app.use(forExpress(createGate({ ...usher, report: quiet })))
    app.use(express.urlencoded())
    app.use((_, answer) => void answer.cookie("own", "1").send("the site"))
    return listening(app)
  },

  Fastify: async (usher) => {
    const app = fastify()
    app.addHook("onRequest", forFastify(createGate({ ...usher, report: quiet })))
    app.get("/*", (_, reply) => reply.header("set-cookie", "own=1").send("the site"))
    return { url: await app.listen({ port: 0, host: "127.0.0.1" }), close: () => app.close() }
  }
}

/** Runs with an Usher of its own. */
const withUsher = async <Found>(use: (usher: FakeUsher) => Promise<Found>): Promise<Found> => {
  const usher = await openFakeUsher()
  try {
    return await use(usher)
  } finally {
    await usher.close()
  }
}

describe.concurrent("a gate inside of a site", () => {
  it.each(Object.entries(sites))("lets in, leads away, renews and survives Usher in %s", async (_, open) => {
    const walk = () =>
      withUsher(async (usher) => {
        const site = await open(usher)
        try {
          return await exchanged(site.url, usher)
        } finally {
          await site.close()
        }
      })
    const { wrong, late } = await walkedInTime(walk)
    assert.deepStrictEqual([...wrong, ...late], [])
  })

  it("waits once for an Usher that is away from the beginning, and no longer", () =>
    withUsher(async (usher) => {
      usher.state.isAway = true
      const patienceMillis = 2_000
      for (const failMode of ["open", "closed"] as const) {
        const reports: Array<string> = []
        let calls = 0
        const gate = createFetchGate({
          ...usher,
          failMode,
          patienceMillis,
          fetch: (url, init) => {
            calls++
            return fetch(url, init)
          },
          report: (problem) => reports.push(problem)
        })
        const asked = async () => {
          const began = performance.now()
          const { status } = await gate(new Request("https://shop.example/"), () => new Response("the site"))
          return { status, millis: performance.now() - began }
        }
        const together = await Promise.all([asked(), asked(), asked()])
        // The record and the keys, for all three. A process that stood still calls a second time.
        assert.include([2, 3, 4], calls)
        const next = await asked()
        const statuses = [...together, next].map(({ status }) => status)
        assert.deepStrictEqual(statuses, Array(4).fill(failMode === "open" ? 200 : 503))
        const longest = Math.max(...together.map(({ millis }) => millis))
        assert.isAtLeast(longest, patienceMillis - 1)
        assert.isBelow(longest, 3 * patienceMillis)
        assert.isBelow(next.millis, patienceMillis)
        assert.lengthOf(reports, 1)
      }
    }))

  it("reads everything again before it answers the first visitor after a quiet hour", () =>
    withUsher(async (usher) => {
      let now = Date.now()
      const gate = createFetchGate({ ...usher, patienceMillis, now: () => now })
      const asked = () =>
        gate(
          new Request("http://127.0.0.1/checkout", { headers: { accept: "text/html" } }),
          () => new Response("the site")
        )
      assert.strictEqual((await asked()).status, 200)
      usher.state.isFull = true
      now += 3_600_000
      assert.strictEqual((await asked()).status, 303)
      assert.strictEqual(usher.state.calls["POST /api/queues/queue-1/pass"], 1)
    }))

  it("reads the keys again when Usher grants with one that is new", () =>
    withUsher(async (usher) => {
      let reads = 0
      const isFirst = (url: string) => url.endsWith("jwks.json") && reads++ === 0
      const read = (url: string, init: RequestInit) =>
        isFirst(url) ? Promise.resolve(Response.json({ keys: [] })) : fetch(url, init)
      const gate = createFetchGate({ ...usher, fetch: read, patienceMillis })
      const request = new Request("http://127.0.0.1/checkout", { headers: { accept: "text/html" } })
      assert.strictEqual((await gate(request, () => new Response("the site"))).status, 200)
      assert.strictEqual(reads, 2)
    }))

  it("opens to nobody because Usher says no to a visitor, although its rule is open while Usher is away", () =>
    withUsher(async (usher) => {
      const answers = [
        [403, "CHALLENGE_REQUIRED", 303],
        [409, "QUEUE_FULL", 303],
        [423, "NOT_OPEN", 303],
        [429, undefined, 303],
        [400, undefined, 303],
        [409, "CLOSED", 503],
        [404, undefined, 503],
        [401, undefined, 200],
        [500, undefined, 200]
      ] as const
      const at = Date.now()
      for (const [status, code, expected] of answers) {
        const answered = (url: string, init: RequestInit) =>
          url.endsWith("/pass") ? Promise.resolve(Response.json({ error: "No", code }, { status })) : fetch(url, init)
        // All calls fall into one millisecond.
        const gate = createFetchGate({ ...usher, fetch: answered, report: quiet, patienceMillis, now: () => at })
        const reply = await gate(visitTo("/open"), () => new Response("the site"))
        assert.strictEqual(reply.status, expected, `${status} ${code}`)
      }
    }))

  it("asks for a lost answer once more, about the same visitor", () =>
    withUsher(async (usher) => {
      const attempts: Array<string | null> = []
      const read = (url: string, init: RequestInit) => {
        if (!url.endsWith("/pass")) return fetch(url, init)
        attempts.push(new Headers(init.headers).get("idempotency-key"))
        return attempts.length === 1 ? Promise.reject(new TypeError("the connection broke")) : fetch(url, init)
      }
      const gate = createFetchGate({ ...usher, fetch: read, report: quiet, patienceMillis })
      assert.strictEqual((await gate(visitTo("/checkout"), () => new Response("the site"))).status, 200)
      assert.lengthOf(attempts, 2)
      assert.strictEqual(attempts[0], attempts[1])
      assert.isAtLeast(attempts[0]!.length, 16)
    }))

  it("asks about a bounded number of new visitors at once in a flood; the others go to the room", () =>
    withUsher(async (usher) => {
      let open = 0
      let most = 0
      let answer = () => {}
      const answered = new Promise<void>((resolve) => (answer = resolve))
      const read = async (url: string, init: RequestInit) => {
        if (!url.endsWith("/pass")) return fetch(url, init)
        most = Math.max(most, ++open)
        await answered
        open--
        return Response.json({ status: "QUEUED", roomUrl: `${usher.url}/e/drop` })
      }
      const gate = createFetchGate({ ...usher, fetch: read, report: quiet, patienceMillis })
      await gate(visitTo("/"), () => new Response("the site"))
      const flood = Array.from({ length: 2_000 }, () => gate(visitTo("/open"), () => new Response("the site")))
      setTimeout(answer, 200)
      const statuses = new Set((await Promise.all(flood)).map(({ status }) => status))
      assert.deepStrictEqual([...statuses], [303])
      assert.strictEqual(most, 200)
    }))

  it("names the visitor's address as its site reads it", () =>
    withUsher(async (usher) => {
      const named: Array<unknown> = []
      const read = (url: string, init: RequestInit) => {
        if (url.endsWith("/pass")) named.push(JSON.parse(init.body as string).clientAddress)
        return fetch(url, init)
      }
      const address = { text: "203.0.113.7" }
      const gate = createFetchGate({ ...usher, fetch: read, clientAddress: () => address.text, patienceMillis })
      await gate(visitTo("/checkout"), () => new Response("the site"))
      address.text = ""
      await gate(visitTo("/checkout"), () => new Response("the site"))
      assert.deepStrictEqual(named, ["203.0.113.7", undefined])
    }))

  it("reports a key that Usher refuses", () =>
    withUsher(async (usher) => {
      const reports: Array<string> = []
      const gate = createFetchGate({
        ...usher,
        patienceMillis,
        key: "gk_live_other",
        report: (problem) => reports.push(problem)
      })
      assert.strictEqual((await gate(new Request("https://shop.example/"), () => new Response(""))).status, 503)
      assert.match(reports.join(), /401/)
    }))

  it("reads no form that is too long", () =>
    withUsher(async (usher) => {
      const site = await sites["Node's own server"]!(usher)
      const form = `usher_grant=${usher.newGrant()}&more=${"x".repeat(2_000_000)}`
      const headers = { "content-type": "application/x-www-form-urlencoded" }
      const reply = await new Promise<IncomingMessage>((answered, failed) => {
        const options = { method: "POST", headers, agent: false }
        request(`${site.url}/.usher/return?to=%2F`, options, answered).on("error", failed).end(form)
      })
      assert.deepStrictEqual([reply.statusCode, reply.resume().headers["set-cookie"]], [303, undefined])
      await site.close()
    }))
})
