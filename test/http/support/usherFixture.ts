/** Both APIs on real ports over a new Postgres database, with an organization and its four keys. */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Redacted } from "effect"
import { SecureRandom } from "effect/crypto"
import type { SqlClient } from "effect/sql"
import { type Agent, request } from "node:http"
import * as Auth from "../../../src/auth/Auth.ts"
import { type NewOrganization, Organizations } from "../../../src/auth/keys/Organizations.ts"
import { Delivery } from "../../../src/delivery/Delivery.ts"
import { actorDeciders } from "../../../src/domain/mechanism/Mechanism.ts"
import { Engine } from "../../../src/engine/Engine.ts"
import * as AdminRoutes from "../../../src/http/admin/Routes.ts"
import * as ConsumerRoutes from "../../../src/http/consumer/Routes.ts"
import { Readiness } from "../../../src/engine/lifecycle/Readiness.ts"
import * as PageRoutes from "../../../src/pages/Routes.ts"
import * as Server from "../../../src/http/server/Server.ts"
import { Settings } from "../../../src/settings/Settings.ts"
import { Availability } from "../../../src/store/coordination/Availability.ts"
import { Heartbeat } from "../../../src/store/coordination/Heartbeat.ts"
import * as JournalCodec from "../../../src/store/journal/JournalCodec.ts"
import * as JournalSql from "../../../src/store/journal/JournalSql.ts"
import { Invalidations } from "../../../src/store/coordination/Invalidations.ts"
import * as TestClocks from "../../../src/store/testClock/TestClocks.ts"
import * as TestDatabase from "../../store/support/TestDatabase.ts"

/** A response. */
export interface Answer {
  readonly status: number
  readonly headers: { readonly [name: string]: string | undefined }
  readonly text: string
  /** The parsed text, if it is JSON. */
  readonly body: any
}

export interface Call {
  readonly method?: string
  readonly path: string
  readonly headers?: { readonly [name: string]: string }
  /** Sent as JSON; a string and bytes are sent unchanged. */
  readonly body?: unknown
  /** The connections to use. Default: a new connection. */
  readonly agent?: Agent
  /** The address to connect from. */
  readonly localAddress?: string
}

/** A guest with its session. */
export interface Guest {
  readonly consumerId: string
  readonly accessToken: string
  readonly refreshToken: string
}

export class Usher extends Context.Service<
  Usher,
  {
    readonly consumerUrl: string
    readonly adminUrl: string
    /** The organization of most tests. */
    readonly brand: NewOrganization
    readonly stranger: NewOrganization
    /** Sends a request to the Consumer API's listener; the path is the complete path. */
    readonly consumer: (call: Call) => Effect.Effect<Answer>
    /** Sends a request to the Admin API's listener. */
    readonly admin: (call: Call) => Effect.Effect<Answer>
    /** Creates a guest of the brand, or of another publishable key. */
    readonly guest: (publishableKey?: string) => Effect.Effect<Guest>
    /** Creates a queue of the brand and returns its id. Default: open, admitting by hand. */
    readonly queue: (settings?: object, secretKey?: string) => Effect.Effect<string>
  }
>()("usher/test/http/Usher") {}

/** Sends a request without additions. */
export const send = (
  url: string,
  { method = "GET", path, headers = {}, body, agent, localAddress }: Call
): Effect.Effect<Answer> =>
  Effect.callback((resume) => {
    const isPlain = body === undefined || typeof body === "string" || body instanceof Uint8Array
    const payload = isPlain ? body : JSON.stringify(body)
    const outgoing = request(
      new URL(path, url),
      {
        method,
        agent: agent ?? false,
        ...(localAddress !== undefined && { localAddress }),
        headers: {
          ...(payload !== undefined && {
            "content-type": "application/json",
            "content-length": `${Buffer.byteLength(payload)}`
          }),
          ...headers
        }
      },
      (response) => {
        let text = ""
        const isStream = response.headers["content-type"] === "text/event-stream"
        response.setEncoding("utf8")
        response.on("data", (chunk) => {
          text += chunk
          // Of a stream, read only up to the first event.
          if (isStream && text.includes("\ndata: ")) {
            finish()
            outgoing.destroy()
          }
        })
        response.on("error", () => {})
        response.on("end", () => finish())
        const finish = () => {
          const isJson = response.headers["content-type"]?.includes("json") ?? false
          resume(
            Effect.succeed({
              status: response.statusCode!,
              headers: response.headers as Answer["headers"],
              text,
              body: isJson && text !== "" ? JSON.parse(text) : undefined
            })
          )
        }
      }
    )
    outgoing.on("error", (error) => resume(Effect.die(error)))
    outgoing.end(payload)
  })

/** The headers of a consumer in a browser. */
export const asConsumer = (publishableKey: string, accessToken: string) => ({
  "x-publishable-key": publishableKey,
  authorization: `Bearer ${accessToken}`
})

/** The headers of an organization's server. */
export const asServer = (secretKey: string, consumerId?: string) => ({
  authorization: `Bearer ${secretKey}`,
  ...(consumerId !== undefined && { "x-consumer-id": consumerId })
})

/** `DIRECT_PATH=false` runs the suite without the direct path. */
const directPath = process.env["DIRECT_PATH"] !== "false"

const servicesWith = <Database, E>(
  settings: Parameters<typeof Settings.layerTest>[0],
  database: Layer.Layer<Database | PgClient.PgClient | SqlClient.SqlClient, E>
) =>
  Readiness.layerConditions.pipe(
    Layer.provideMerge(Engine.layer({ node: "test" })),
    Layer.provideMerge(JournalSql.layer({ codecs: JournalCodec.codecs(actorDeciders) })),
    Layer.provideMerge(Layer.mergeAll(Auth.layer, Delivery.layer, Readiness.layer)),
    Layer.provideMerge(Layer.provideMerge(TestClocks.layer, Invalidations.layer)),
    Layer.provideMerge(SecureRandom.layerWebCrypto),
    Layer.provideMerge(
      Settings.layerTest({ adminPort: 0, consumerPort: 0, shutdownTimeoutSeconds: 2, directPath, ...settings })
    ),
    Layer.provideMerge(Heartbeat.layer({ name: "test" })),
    Layer.provideMerge(Layer.merge(database, Availability.layer))
  )

const server = Server.layer({
  consumer: Layer.merge(ConsumerRoutes.layer, PageRoutes.consumer),
  admin: Layer.merge(AdminRoutes.layer, PageRoutes.admin)
})

/** Starts a second server on the same database, with its own ports, connections and caches. */
export const anotherServer = Effect.gen(function* () {
  const { url } = yield* TestDatabase.TestDatabase
  const database = PgClient.layer({ url: Redacted.make(url), maxConnections: 10 })
  return yield* Layer.buildWithMemoMap(
    server.pipe(Layer.provideMerge(servicesWith({}, database))),
    Layer.makeMemoMapUnsafe(),
    yield* Effect.scope
  )
})

/**
 * Starts two more listeners in front of the same services, with other settings and perhaps other consumer routes. Their
 * end does not make the other listeners drain.
 */
export const otherListeners = (settings: Partial<Settings["Service"]>, listeners = server) =>
  Effect.gen(function* () {
    const own = Layer.merge(
      Layer.succeed(Settings, { ...(yield* Settings), ...settings }),
      Layer.fresh(Readiness.layer)
    )
    return Context.get(yield* Layer.build(Layer.fresh(listeners).pipe(Layer.provide(own))), Server.Listeners)
  })

const usher = Layer.effect(
  Usher,
  Effect.gen(function* () {
    const { consumerUrl, adminUrl } = yield* Server.Listeners
    const organizations = yield* Organizations
    const brand = yield* organizations.create({ name: "Brand", plan: "enterprise" })
    const stranger = yield* organizations.create({ name: "Stranger", plan: "growth" })
    const consumer = (call: Call) => send(consumerUrl, call)
    const admin = (call: Call) => send(adminUrl, call)

    const created = (path: string, secretKey: string, body: object) =>
      Effect.map(admin({ method: "POST", path: `/api${path}`, headers: asServer(secretKey), body }), (answer) => {
        if (answer.status !== 201) throw new Error(`${path}: ${answer.status} ${answer.text}`)
        return answer.body.id as string
      })

    return {
      consumerUrl,
      adminUrl,
      brand,
      stranger,
      consumer,
      admin,
      guest: (publishableKey = brand.publishableKey) =>
        Effect.map(
          consumer({ method: "POST", path: "/api/auth/guest", headers: { "x-publishable-key": publishableKey } }),
          ({ body }) => ({ ...body, consumerId: body.session.consumerId })
        ),
      queue: Effect.fnUntraced(function* (settings: object = {}, secretKey: string = brand.secretKey) {
        const experienceId = yield* created("/experiences", secretKey, { name: "Drop" })
        const sequenceId = yield* created("/sequences", secretKey, { experienceId, name: "General sale" })
        return yield* created("/queues", secretKey, { sequenceId, name: "Line", admitRate: 0, ...settings })
      })
    }
  })
)

/** The same with a test's settings. */
export const layerWith = (settings: Parameters<typeof Settings.layerTest>[0]) =>
  usher.pipe(Layer.provideMerge(server), Layer.provideMerge(servicesWith(settings, TestDatabase.layer)))

/** Both APIs, with the services behind them. */
export const layer = layerWith({})
