/** Reads the traces of a real server, which runs as a process, through a collector of OTLP over HTTP. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import * as Queue from "../support/queueOnServer.ts"
import * as TestDatabase from "../store/support/TestDatabase.ts"
import { organization, serving } from "./servingProcess.ts"
import * as Usher from "./usherProcess.ts"

/** A span as OTLP has it, with its attributes as an object. */
interface Span {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly name: string
  readonly links: ReadonlyArray<{ readonly traceId: string; readonly spanId: string }>
  readonly status: { readonly code: number; readonly message?: string }
  readonly values: Readonly<Record<string, unknown>>
}

interface Sent {
  readonly resourceSpans: ReadonlyArray<{
    readonly resource: { readonly attributes: ReadonlyArray<Attribute> }
    readonly scopeSpans: ReadonlyArray<{
      readonly spans: ReadonlyArray<Omit<Span, "values"> & { readonly attributes: ReadonlyArray<Attribute> }>
    }>
  }>
}
interface Attribute {
  readonly key: string
  readonly value: Readonly<Record<string, unknown>>
}

const valuesOf = (attributes: ReadonlyArray<Attribute>) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

/** A collector on a free port. With `hangs` it accepts requests and never answers. */
const collector = (options: { readonly hangs: boolean } = { hangs: false }) =>
  Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<{ url: string; bodies: Array<string>; close: () => void }>((resolve) => {
          const bodies: Array<string> = []
          const server = createServer((request, response) => {
            let body = ""
            request.setEncoding("utf8").on("data", (chunk) => (body += chunk))
            request.on("end", () => {
              bodies.push(`${request.url}\n${body}`)
              if (!options.hangs) response.writeHead(200, { "content-type": "application/json" }).end("{}")
            })
          })
          const close = () => {
            server.close()
            server.closeAllConnections()
          }
          server.listen(0, "127.0.0.1", () =>
            resolve({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, bodies, close })
          )
        })
    ),
    ({ close }) => Effect.sync(close)
  )

const sentOf = (bodies: ReadonlyArray<string>) =>
  bodies.map((body): Sent => {
    assert.match(body, /^\/v1\/traces\n/)
    return JSON.parse(body.slice(body.indexOf("\n")))
  })

const spansOf = (bodies: ReadonlyArray<string>): ReadonlyArray<Span> =>
  sentOf(bodies).flatMap(({ resourceSpans }) =>
    resourceSpans.flatMap(({ scopeSpans }) =>
      scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...span, values: valuesOf(span.attributes) })))
    )
  )

const started = Effect.fnUntraced(function* (endpoint: string, more: Record<string, string>) {
  const { url } = yield* TestDatabase.migratedDatabase
  const settings = {
    DATABASE_URL: url,
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_EXPORTER_OTLP_PROTOCOL: "http/json",
    OTEL_BSP_SCHEDULE_DELAY: "20",
    ...more
  }
  const server = yield* serving(settings)
  const setup: Queue.Setup = { ...server, keys: yield* organization(settings) }
  return { server, setup, queueId: yield* Effect.promise(() => Queue.createQueue(setup)) }
})

const traceId = "4bf92f3577b34da6a3ce929d0e0e4736"
const parentSpanId = "00f067aa0ba902b7"
const traceparent = (flags: string) => ({ traceparent: `00-${traceId}-${parentSpanId}-${flags}` })

const enter = (setup: Queue.Setup, queueId: string, more: Readonly<Record<string, string>> = {}, command = "enter") =>
  Effect.promise(async () => {
    const headers = { ...(await Queue.guest(setup)), ...more }
    const url = `${setup.consumerUrl}/api/queues/${queueId}/${command}?note=a-private-note`
    return { ...(await Queue.send("POST", url.replace(/\?.*/, command === "enter" ? "" : "$&"), headers)), headers }
  })

const named = (spans: ReadonlyArray<Span>, name: string) => {
  const found = spans.filter((span) => span.name === name)
  assert.strictEqual(found.length, 1, `${name} in ${spans.map((span) => span.name).join(", ")}`)
  return found[0]!
}

const pointer = ({ traceId, spanId }: Span) => ({ traceId, spanId })
const pointed = ({ links }: Span) => links.map(({ traceId, spanId }) => ({ traceId, spanId }))

describe("traces", () => {
  for (const directPath of ["true", "false"]) {
    it.live(`show one sampled entry from the request to the statement, with DIRECT_PATH=${directPath}`, () =>
      Effect.gen(function* () {
        const { url, bodies } = yield* collector()
        const { setup, queueId } = yield* started(url, {
          TRACE_SAMPLE: "0",
          TRUSTED_PROXIES: "127.0.0.1/32",
          DIRECT_PATH: directPath
        })
        // Neither of these yields a span. Spans are sent in the order in which they end.
        const untraced = yield* enter(setup, queueId)
        assert.strictEqual(untraced.status, 200, JSON.stringify(untraced.body))
        assert.strictEqual((yield* enter(setup, queueId, traceparent("00"))).status, 200)
        const entered = yield* enter(setup, queueId, traceparent("01"))
        assert.strictEqual(entered.status, 200)
        yield* Usher.until(() => spansOf(bodies).length >= 4)
        const spans = spansOf(bodies)
        assert.strictEqual(spans.length, 4)
        const request = named(spans, "POST /api/queues/:queueId/enter")
        const command = named(spans, "engine.send")
        const append = named(spans, "journal.append")
        const statement = named(spans, "journal.statement")
        assert.deepStrictEqual(
          [request, command, append].map((span) => [span.traceId, span.parentSpanId]),
          [
            [traceId, parentSpanId],
            [traceId, request.spanId],
            [traceId, command.spanId]
          ]
        )
        assert.notStrictEqual(statement.traceId, traceId)
        assert.deepStrictEqual(pointed(append), [pointer(statement)])
        assert.deepStrictEqual(pointed(statement), [pointer(append)])
        assert.deepStrictEqual(request.values, {
          "http.request.method": "POST",
          "http.route": "/api/queues/:queueId/enter",
          "http.response.status_code": 200,
          "usher.api": "consumer"
        })
        assert.deepStrictEqual(command.values, {
          "usher.mechanism.id": queueId,
          "usher.mechanism.kind": "queue",
          "usher.command": "Enter"
        })
        const process = valuesOf(sentOf(bodies)[0]!.resourceSpans[0]!.resource.attributes)
        assert.strictEqual(process["service.name"], "usher")
      })
    )
  }

  it.live("name a refusal by its tag, and contain no header, token or query", () =>
    Effect.gen(function* () {
      const { url, bodies } = yield* collector()
      const { setup, queueId } = yield* started(url, { TRACE_SAMPLE: "1" })
      // A caller that is not a trusted proxy cannot choose its trace.
      const refused = yield* enter(setup, queueId, { ...traceparent("01"), "x-request-id": "a-request-id" }, "leave")
      assert.strictEqual(refused.status, 409)
      yield* Usher.until(() => spansOf(bodies).some(({ name }) => name.endsWith("/leave")))
      const spans = spansOf(bodies)
      const request = spans.find(({ name }) => name === "POST /api/queues/:queueId/leave")!
      assert.notStrictEqual(request.traceId, traceId)
      assert.isTrue(request.parentSpanId === undefined || request.parentSpanId === "")
      const command = spans.find(({ parentSpanId }) => parentSpanId === request.spanId)!
      assert.deepInclude(command.values, { "usher.command": "Leave", "usher.refusal": "WrongStatus" })
      const all = bodies.join("\n")
      const secrets = [
        setup.keys["publishableKey"]!,
        setup.keys["secretKey"]!,
        refused.headers["authorization"]!.slice(7)
      ]
      for (const secret of [...secrets, "a-private-note", "a-request-id"]) assert.notInclude(all, secret)
    })
  )

  for (const [state, hangs] of [
    ["does not answer", true],
    ["is away", false]
  ] as const) {
    it.live(`hold nothing up while the collector ${state}, also at a shutdown`, () =>
      Effect.gen(function* () {
        const { url, bodies, close } = yield* collector({ hangs })
        if (!hangs) close()
        const { setup, queueId, server } = yield* started(url, { TRACE_SAMPLE: "1" })
        const statuses = yield* Effect.all(
          Array.from({ length: 30 }, () => Effect.map(enter(setup, queueId), ({ status }) => status)),
          { concurrency: 10 }
        )
        assert.deepStrictEqual(new Set(statuses), new Set([200]))
        if (hangs) yield* Usher.until(() => bodies.length > 0)
        server.child.kill("SIGTERM")
        yield* Usher.until(() => server.child.exitCode !== null || server.child.signalCode !== null)
        assert.strictEqual(server.child.exitCode, 0, server.stderr())
      })
    )
  }
})

describe("the exporter of traces", () => {
  it.live("refuses a protocol that it does not speak, by the variable's name", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase.migratedDatabase
      const run = yield* Usher.start(["serve"], {
        DATABASE_URL: url,
        OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318",
        OTEL_EXPORTER_OTLP_PROTOCOL: "grpc"
      })
      yield* Usher.until(() => run.child.exitCode !== null)
      assert.strictEqual(run.child.exitCode, 1)
      assert.match(run.stdout() + run.stderr(), /OTEL_\*: .*OTEL_EXPORTER_OTLP_PROTOCOL/s)
    })
  )
})
