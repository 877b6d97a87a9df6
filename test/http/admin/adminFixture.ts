/**
 * The Admin API on a real port with a fresh Postgres database, and organizations whose keys a test can use.
 */
import { Context, type Duration, Effect, Layer, Schedule } from "effect"
import { SecureRandom } from "effect/crypto"
import { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import * as ApiKeys from "../../../src/auth/keys/ApiKeys.ts"
import * as Auth from "../../../src/auth/Auth.ts"
import type { Tenant } from "../../../src/domain/values/Ids.ts"
import { Delivery } from "../../../src/delivery/Delivery.ts"
import { actorDeciders } from "../../../src/domain/mechanism/Mechanism.ts"
import { Engine } from "../../../src/engine/Engine.ts"
import * as Routes from "../../../src/http/admin/Routes.ts"
import { Readiness } from "../../../src/engine/lifecycle/Readiness.ts"
import * as Server from "../../../src/http/server/Server.ts"
import { Settings } from "../../../src/settings/Settings.ts"
import * as JournalCodec from "../../../src/store/journal/JournalCodec.ts"
import * as JournalSql from "../../../src/store/journal/JournalSql.ts"
import { Invalidations } from "../../../src/store/coordination/Invalidations.ts"
import * as TestClocks from "../../../src/store/testClock/TestClocks.ts"
import * as TestDatabase from "../../store/support/TestDatabase.ts"
import { storeBrokenQueue } from "../support/brokenQueue.ts"

/** A response: status, headers, the body's text, and the parsed body where the text is JSON. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly body: any
}

/** An organization in one mode, and its secret key. */
export interface Organization {
  readonly tenant: Tenant
  readonly key: string
}

export class Admin extends Context.Service<
  Admin,
  {
    readonly url: string
    /** The organization that most tests use. */
    readonly brand: Organization
    /** Another organization. */
    readonly stranger: Organization
    /** The same organization as `brand`, in test mode. */
    readonly rehearsal: Organization
    /** Creates another organization. */
    readonly organization: (settings?: object) => Effect.Effect<Organization>
    /** Returns an organization in test mode. */
    readonly inTestMode: (organization: Organization) => Effect.Effect<Organization>
    /** Sends a request with the key of `as` (default: the brand). A string `body` is sent unchanged, others as JSON. */
    readonly call: (method: string, path: string, body?: unknown, as?: Organization) => Effect.Effect<Answer>
  }
>()("usher/test/http/Admin") {}

const services = Engine.layer({ node: "test" }).pipe(
  Layer.provideMerge(JournalSql.layer({ codecs: JournalCodec.codecs(actorDeciders) })),
  Layer.provideMerge(Layer.mergeAll(Auth.layer, Delivery.layer, Readiness.layer)),
  Layer.provideMerge(Layer.provideMerge(TestClocks.layer, Invalidations.layer)),
  Layer.provideMerge(SecureRandom.layerWebCrypto),
  Layer.provideMerge(Settings.layerTest({ adminPort: 0, consumerPort: 0, shutdownTimeoutSeconds: 2 })),
  Layer.provideMerge(TestDatabase.layer)
)

const admin = Layer.effect(
  Admin,
  Effect.gen(function* () {
    const { adminUrl } = yield* Server.Listeners
    const sql = yield* SqlClient.SqlClient

    const keyFor = Effect.fnUntraced(function* (tenant: Tenant) {
      const key = ApiKeys.make("secret", tenant.mode)
      yield* sql`
        insert into api_keys (id, organization_id, mode, kind, hash, display, created_at)
        values (${randomUUID()}, ${tenant.organizationId}, ${tenant.mode}, 'secret', ${key.hash}, ${key.display}, now())`
      return { tenant, key: key.text }
    }, Effect.orDie)

    const organization = Effect.fnUntraced(function* (settings: object = {}) {
      const id = randomUUID()
      yield* sql`
        insert into organizations (id, name, plan, settings, created_at)
        values (${id}, 'Brand', 'growth', ${JSON.stringify(settings)}::text::jsonb, now())`
      return yield* keyFor({ organizationId: id, mode: "live" })
    }, Effect.orDie)

    const brand = yield* organization()
    const stranger = yield* organization()
    const inTestMode = ({ tenant }: Organization) => keyFor({ ...tenant, mode: "test" })
    const rehearsal = yield* inTestMode(brand)

    const call = (method: string, path: string, body?: unknown, as: Organization = brand) =>
      Effect.promise(async (): Promise<Answer> => {
        const response = await fetch(`${adminUrl}/api${path}`, {
          method,
          headers: {
            authorization: `Bearer ${as.key}`,
            ...(body === undefined ? {} : { "content-type": "application/json" })
          },
          ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
        })
        const text = await response.text()
        const isJson = response.headers.get("content-type")?.includes("json") ?? false
        return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : undefined }
      })

    return { url: adminUrl, brand, stranger, rehearsal, organization, inTestMode, call }
  })
)

/** The Admin API, and the services behind it that a test uses directly. */
export const layer = admin.pipe(
  Layer.provideMerge(Server.layer({ admin: Routes.layer, consumer: Layer.empty })),
  Layer.provideMerge(services)
)

/** Creates an experience. */
export const anExperience = Effect.fnUntraced(function* (body: object = {}, as?: Organization) {
  const { call } = yield* Admin
  return (yield* call("POST", "/experiences", { name: "Sneaker drop", ...body }, as)).body as { readonly id: string }
})

/** Creates a sequence, below a new experience unless one is named. */
export const aSequence = Effect.fnUntraced(function* (
  body: { readonly experienceId?: string } = {},
  as?: Organization
) {
  const { call } = yield* Admin
  const experienceId = body.experienceId ?? (yield* anExperience({}, as)).id
  return (yield* call("POST", "/sequences", { name: "General sale", ...body, experienceId }, as)).body as {
    readonly id: string
    readonly experienceId: string
  }
})

/** Creates a queue that admits by hand, below a new sequence unless one is named. */
export const aQueue = Effect.fnUntraced(function* (body: { readonly [name: string]: unknown } = {}, as?: Organization) {
  const { call } = yield* Admin
  const sequenceId = body["sequenceId"] ?? (yield* aSequence({}, as)).id
  return (yield* call("POST", "/queues", { name: "Line", admitRate: 0, ...body, sequenceId }, as)).body as {
    readonly id: string
    readonly sequenceId: string
    readonly experienceId: string
  }
})

/** Creates a queue with one consumer whose entry cannot be read. The first request for the queue parks it. */
export const aBrokenQueue = Effect.gen(function* () {
  const { brand } = yield* Admin
  const parents = yield* aQueue()
  return { ...(yield* storeBrokenQueue(brand.tenant, parents)), experienceId: parents.experienceId }
})

const later = "2033-01-01T00:00:00Z"

/** The paths of all kinds of mechanism, and the settings that one needs besides its name and sequence. */
export const oneOfEachKind: ReadonlyArray<readonly [path: string, settings: object]> = [
  ["/queues", { admitRate: 0 }],
  ["/draws", { drawAt: later, winnerCount: 1 }],
  ["/auctions", { settleAt: later, startPrice: "10" }],
  ["/appointments", { slotDurationMinutes: 30, slotsFrom: later, slotsUntil: "2033-01-08T00:00:00Z" }],
  ["/timed-releases", {}],
  ["/waitlists", {}]
]

/** Returns the path and the check of each issue in a 400, sorted by path. */
export const issuesOf = ({ status, body }: Pick<Answer, "status" | "body">): ReadonlyArray<string> => {
  if (status !== 400 || body.error !== "validation_error")
    throw new Error(`no validation error: ${status} ${JSON.stringify(body)}`)
  return body.issues
    .map(
      (issue: { readonly type: string; readonly path: ReadonlyArray<{ readonly key: string }> }) =>
        `${issue.path.map(({ key }) => key).join(".")}: ${issue.type}`
    )
    .toSorted()
}

/** Enters consumers into a queue, one after the other, and returns their ids. */
export const enter = Effect.fnUntraced(function* (queueId: string, count: number, as?: Organization) {
  const engine = yield* Engine
  const { brand } = yield* Admin
  const queue = { kind: "queue", id: queueId, tenant: (as ?? brand).tenant } as const
  return yield* Effect.forEach(
    Array.from({ length: count }, () => randomUUID()),
    (consumerId) =>
      engine.send(queue, { _tag: "Enter", consumerId, isGuest: true, loyaltyScore: 0 }).pipe(Effect.as(consumerId))
  )
})

/** Repeats a request until its answer passes the check. Returns the last answer after the time limit. */
export const eventually = <A, E, R>(
  question: Effect.Effect<A, E, R>,
  isRight: (answer: A) => boolean,
  patience: Duration.Input = "1 minute"
) =>
  question.pipe(
    Effect.repeat({
      until: isRight,
      schedule: Schedule.spaced("20 millis").pipe(Schedule.upTo({ duration: patience }))
    })
  )
