/**
 * The input of each operation: existing identifiers and a valid body. A declared operation without a row fails the
 * suite.
 */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { randomUUID } from "node:crypto"
import { appointmentInputs } from "./inputs/appointmentInputs.ts"
import { auctionInputs } from "./inputs/auctionInputs.ts"
import { catalogueInputs } from "./inputs/catalogueInputs.ts"
import { consumerInputs } from "./inputs/consumerInputs.ts"
import { drawInputs } from "./inputs/drawInputs.ts"
import { gateInputs } from "./inputs/gateInputs.ts"
import { stockInputs } from "./inputs/stockInputs.ts"
import { messageInputs } from "./inputs/messageInputs.ts"
import { orderInputs } from "./inputs/orderInputs.ts"
import { withEmail } from "./inputs/withEmail.ts"
import { fontInputs } from "./inputs/fontInputs.ts"
import { pictureInputs } from "./inputs/pictureInputs.ts"
import { peopleInputs } from "./inputs/peopleInputs.ts"
import { receiverInputs } from "./inputs/receiverInputs.ts"
import { rehearsalInputs } from "./inputs/rehearsalInputs.ts"
import { webhookInputs } from "./inputs/webhookInputs.ts"
import { experiencePageInputs } from "./inputs/experiencePageInputs.ts"
import { timedReleaseInputs, waitlistInputs } from "./inputs/timedReleaseInputs.ts"
import { variantOptionInputs } from "./inputs/variantOptionInputs.ts"
import { byServer, call, type Side, type Tenancy, type World } from "./world.ts"

export interface Input {
  readonly params?: { readonly [name: string]: string }
  readonly query?: string
  readonly body?: unknown
  /** In place of a body: a file, and its type. */
  readonly file?: { readonly type: string; readonly bytes: Buffer }
  /** The status for the own tenant. */
  readonly status: number
  /** The status for another tenant, and for an unknown identifier. Default: 404 */
  readonly strangerStatus?: number
  /** The status for the own tenant's test keys, if they are more restricted than live ones. */
  readonly testStatus?: number
  /** The identifiers of the own tenant in the request. */
  readonly names?: ReadonlyArray<Name>
  /** Texts that the response to another tenant must not contain, besides the names. */
  readonly secrets?: ReadonlyArray<string>
  /** Whether a refusal echoes the identifiers of the request: a 400 that names the unknown one. */
  readonly isEchoed?: boolean
  /** For consumer actions: the status for a guest where guests are not supported. */
  readonly guestStatus?: number
}

export interface Name {
  readonly own: string
  /** The equivalents of other tenants, if they have one. */
  readonly others: ReadonlyArray<string>
  /** An identifier that does not exist. */
  readonly unknown: string
}

/** Creates the records that the operation needs. */
export type MakeInput = (
  own: Side,
  world: World
) => Effect.Effect<Input, never, Effect.Services<ReturnType<typeof byServer>> | SqlClient.SqlClient>

const named = ({ sides }: World, key: "queueId" | "experienceId" | "sequenceId" | "consumerId"): Name => ({
  own: sides.own[key],
  others: (["test", "foreign"] satisfies Array<Tenancy>).map((tenancy) => sides[tenancy][key]),
  unknown: randomUUID()
})

const just =
  (make: (own: Side, world: World) => Input): MakeInput =>
  (own, world) =>
    Effect.succeed(make(own, world))

/** An operation on the queue for its consumer; `before` is an action that the server takes first. */
const onQueue =
  (input: Omit<Input, "params" | "names">, before?: "enter" | "admit"): MakeInput =>
  (own, world) =>
    Effect.gen(function* () {
      if (before !== undefined) yield* brought(own, before)
      return { ...input, params: { queueId: own.queueId }, names: [named(world, "queueId")] }
    })

/** The server's operation on the queue, for a consumer. */
const forConsumer =
  (before: "enter" | "admit", more: object = {}): MakeInput =>
  (own, world) =>
    Effect.gen(function* () {
      const token = yield* brought(own, before)
      const body = { consumerId: own.consumerId, ...more, ...("token" in more && { token }) }
      const names = [named(world, "queueId"), named(world, "consumerId")]
      return { params: { queueId: own.queueId }, body, names, status: 200 }
    })

/** Enters the consumer into the queue, and optionally admits it. Returns its grant. */
const brought = Effect.fnUntraced(function* (own: Side, where: "enter" | "admit") {
  const { queueId, consumerId } = own
  yield* byServer("consumer", own, `/queues/${queueId}/enter`, undefined, consumerId)
  if (where === "enter") return ""
  const granted = yield* byServer("consumer", own, `/queues/${queueId}/admit`, { consumerId })
  return granted.admissionGrant as string
})

const record = (
  param: string,
  key: "queueId" | "experienceId" | "sequenceId" | "consumerId",
  body?: object
): MakeInput =>
  just((own, world) => ({
    params: { [param]: own[key] },
    names: [named(world, key)],
    status: 200,
    ...(body && { body })
  }))

/** An operation on an audience of the tenant. Its body may name the consumer, as a member or not. */
const onAudience =
  (input: Pick<Input, "status" | "body">, consumerIds?: "other" | "member"): MakeInput =>
  (own, world) =>
    Effect.gen(function* () {
      const make = (side: Side) =>
        Effect.map(byServer("admin", side, "/audiences", { name: "Friends" }), ({ id }) => id as string)
      const id = yield* make(own)
      const body = { consumerIds: [own.consumerId] }
      if (consumerIds === "member") yield* byServer("admin", own, `/audiences/${id}/members`, body)
      const others = [yield* make(world.sides.test), yield* make(world.sides.foreign)]
      const names = [{ own: id, others, unknown: randomUUID() }]
      return { ...input, params: { id }, names, ...(consumerIds !== undefined && { body }) }
    })

/** The consumer's operation on its experience. */
const onExperience = (body?: object): MakeInput =>
  just((own, world) => ({
    params: { experienceId: own.experienceId },
    names: [named(world, "experienceId")],
    status: 200,
    guestStatus: 200,
    ...(body && { body })
  }))

const email = () => `${randomUUID()}@example.com`

const codeSent: MakeInput = (own) =>
  Effect.gen(function* () {
    const to = email()
    yield* requested(own, to)
    // The mail is sent after the answer.
    const { data } = yield* Effect.repeat(byServer("admin", own, `/outbox?to=${to}`), {
      until: (outbox: { readonly data: ReadonlyArray<unknown> }) => outbox.data.length > 0
    })
    const [message] = data
    const code = /\b\d{6}\b/.exec(message.text)![0]
    return {
      body: { email: to, code },
      status: 200,
      strangerStatus: 401,
      names: [{ own: to, others: [], unknown: email() }]
    }
  })

const requested = ({ publishableKey }: Side, to: string) =>
  call("consumer", {
    method: "POST",
    path: "/api/auth/otp/request",
    headers: { "x-publishable-key": publishableKey },
    body: { email: to }
  })

/** The inputs, by operation. */
export const inputs: { readonly [operation: string]: MakeInput } = {
  "POST /api/auth/guest": just(() => ({ status: 200 })),
  "POST /api/auth/otp/request": just(() => ({ body: { email: email() }, status: 200 })),
  "POST /api/auth/otp/verify": codeSent,
  "POST /api/auth/external/authorize": just(() => ({
    body: { provider: "shop", issuer: "https://shop.example", subject: randomUUID() },
    status: 200
  })),
  "POST /api/auth/external/exchange": (own) =>
    Effect.map(
      byServer("consumer", own, "/auth/external/authorize", {
        provider: "shop",
        issuer: "https://shop.example",
        subject: randomUUID()
      }),
      ({ exchangeCode }) => ({
        body: { exchangeCode },
        status: 200,
        strangerStatus: 401,
        names: [{ own: exchangeCode, others: [], unknown: exchangeCode.slice(0, -8) + "AAAAAAAA" }]
      })
    ),
  "POST /api/auth/refresh": just(({ refreshToken }, { sides }) => ({
    body: { refreshToken },
    status: 200,
    strangerStatus: 401,
    names: [{ own: refreshToken, others: [sides.test.refreshToken, sides.foreign.refreshToken], unknown: "a.b.c" }]
  })),
  "POST /api/auth/logout": just(() => ({ status: 204 })),

  "GET /api/experiences/:experienceId": onExperience(),
  "POST /api/experiences/:experienceId/enter": onExperience({}),
  "DELETE /api/experiences/:experienceId/leave": onExperience(),
  "GET /api/experiences/:experienceId/next": (own, world) =>
    Effect.map(onExperience()(own, world), ({ guestStatus: _, ...input }) => input),
  "GET /api/experiences/:experienceId/reminder": onExperience(),
  "PUT /api/experiences/:experienceId/reminder": withEmail(onExperience({ language: "de" })),
  "DELETE /api/experiences/:experienceId/reminder": onExperience(),
  // Any caller may read them, so no identifier is another tenant's.
  "GET /api/experiences/:experienceId/live": just(({ experienceId }) => ({ params: { experienceId }, status: 200 })),
  "GET /api/queues/:queueId/line": just(({ queueId }) => ({ params: { queueId }, status: 200 })),
  "GET /api/experiences/:experienceId/live/events": just(({ experienceId }) => ({
    params: { experienceId },
    status: 200
  })),
  "GET /api/consumers/me": just(({ consumerId, queueId }) => ({
    status: 200,
    guestStatus: 200,
    secrets: [consumerId, queueId]
  })),
  "GET /api/consumers/:consumerId": record("consumerId", "consumerId"),

  "GET /api/queues/:queueId": onQueue({ status: 200 }),
  "POST /api/queues/:queueId/enter": onQueue({ status: 200, guestStatus: 403 }),
  "POST /api/queues/:queueId/leave": onQueue({ status: 200, guestStatus: 409 }, "enter"),
  "GET /api/queues/:queueId/status": onQueue({ status: 200, guestStatus: 200 }, "enter"),
  "GET /api/queues/:queueId/events": onQueue({ status: 200, guestStatus: 200 }, "enter"),
  "POST /api/queues/:queueId/admit": forConsumer("enter"),
  "POST /api/queues/:queueId/deny": forConsumer("admit", { reason: "ADMIN_ACTION" }),
  "POST /api/queues/:queueId/complete": forConsumer("admit"),
  "POST /api/queues/:queueId/validate": forConsumer("admit", { token: "" }),
  "POST /api/queues/:queueId/pass": onQueue({ body: {}, status: 200 }),

  "GET /api/grants/revoked": (own) =>
    Effect.gen(function* () {
      const token = yield* brought(own, "admit")
      yield* byServer("consumer", own, `/queues/${own.queueId}/complete`, { consumerId: own.consumerId })
      const { jti } = JSON.parse(Buffer.from(token.split(".")[1]!, "base64url").toString())
      return { query: "since=2026-01-01T00:00:00Z", status: 200, strangerStatus: 200, secrets: [jti] }
    }),

  "GET /api/api-keys": just(({ publishableKey, secretKey }) => ({
    status: 200,
    secrets: [publishableKey, secretKey].map((key) => `…${key.slice(-4)}`)
  })),
  "POST /api/api-keys/:kind/rotate": just(() => ({ params: { kind: "publishable" }, status: 200 })),
  "POST /api/experiences": just(() => ({ body: { name: "Drop" }, status: 201 })),
  "GET /api/experiences": just(({ experienceId }) => ({ status: 200, secrets: [experienceId] })),
  "GET /api/experiences/:id": record("id", "experienceId"),
  "GET /api/experiences/:id/check": record("id", "experienceId"),
  "GET /api/experiences/:id/events": record("id", "experienceId"),
  "PUT /api/experiences/:id": record("id", "experienceId", { name: "Another" }),
  "DELETE /api/experiences/:id": record("id", "experienceId"),
  "POST /api/experiences/:id/restore": record("id", "experienceId"),
  "POST /api/experiences/:id/duplicate": just((own, world) => ({
    params: { id: own.experienceId },
    names: [named(world, "experienceId")],
    status: 201
  })),
  "POST /api/sequences": just(({ experienceId }, world) => ({
    body: { experienceId, name: "Sale" },
    status: 201,
    names: [named(world, "experienceId")]
  })),
  "GET /api/sequences": just(({ experienceId }, world) => ({
    query: `experienceId=${experienceId}`,
    status: 200,
    strangerStatus: 200,
    names: [named(world, "experienceId")]
  })),
  "GET /api/sequences/:id": record("id", "sequenceId"),
  "PUT /api/sequences/:id": record("id", "sequenceId", { name: "Another" }),
  "DELETE /api/sequences/:id": record("id", "sequenceId"),
  "POST /api/sequences/:id/restore": record("id", "sequenceId"),
  "POST /api/audiences": just(() => ({ body: { name: "Friends" }, status: 201 })),
  "GET /api/audiences": (own) =>
    Effect.map(byServer("admin", own, "/audiences", { name: "Friends" }), ({ id }) => ({ status: 200, secrets: [id] })),
  "GET /api/audiences/:id": onAudience({ status: 200 }),
  "PUT /api/audiences/:id": onAudience({ status: 200, body: { name: "Family" } }),
  "DELETE /api/audiences/:id": onAudience({ status: 200 }),
  "POST /api/audiences/:id/restore": onAudience({ status: 200 }),
  "GET /api/audiences/:id/members": onAudience({ status: 200 }),
  "POST /api/audiences/:id/members": onAudience({ status: 201 }, "other"),
  "DELETE /api/audiences/:id/members": onAudience({ status: 200 }, "member"),
  "POST /api/queues": just(({ sequenceId }, world) => ({
    body: { sequenceId, name: "Line", admitRate: 0 },
    status: 201,
    names: [named(world, "sequenceId")]
  })),
  "GET /api/queues": just(({ experienceId, sequenceId }, world) => ({
    query: `experienceId=${experienceId}&sequenceId=${sequenceId}`,
    status: 200,
    strangerStatus: 200,
    names: [named(world, "experienceId"), named(world, "sequenceId")]
  })),
  "GET /api/queues/:id": record("id", "queueId"),
  "PUT /api/queues/:id": record("id", "queueId", { name: "Another" }),
  "DELETE /api/queues/:id": record("id", "queueId"),
  "POST /api/queues/:id/end": record("id", "queueId"),
  "POST /api/queues/:id/unpark": record("id", "queueId"),
  "POST /api/queues/:id/admit": record("id", "queueId", { count: 1 }),
  "POST /api/queues/:id/pause": record("id", "queueId", { reason: "OTHER" }),
  "POST /api/queues/:id/resume": record("id", "queueId"),
  ...experiencePageInputs,
  ...webhookInputs,
  ...receiverInputs,
  ...rehearsalInputs,
  ...gateInputs,
  ...stockInputs,
  ...messageInputs,
  ...peopleInputs,
  ...pictureInputs,
  ...fontInputs,
  ...appointmentInputs,
  ...auctionInputs,
  ...catalogueInputs,
  ...consumerInputs,
  ...drawInputs,
  ...orderInputs,
  ...timedReleaseInputs,
  ...variantOptionInputs,
  ...waitlistInputs,
  "GET /api/distributions": just(({ experienceId, queueId }, world) => ({
    query: `experienceId=${experienceId}`,
    status: 200,
    strangerStatus: 200,
    names: [named(world, "experienceId")],
    secrets: [queueId]
  })),
  "GET /api/distributions/:id": record("id", "queueId"),
  "GET /api/distributions/:id/live": record("id", "queueId"),
  "GET /api/distributions/:id/consumers": record("id", "queueId"),
  "GET /api/distributions/:id/waiting-time": record("id", "queueId"),
  "GET /api/distributions/:id/contacts": record("id", "queueId"),
  "POST /api/distributions/:id/replay": record("id", "queueId", {}),
  "GET /api/distributions/:id/consumers.csv": record("id", "queueId"),
  "POST /api/distributions/:id/deny": record("id", "queueId", { minRiskScore: 1, reason: "BOT_DETECTED" }),
  "POST /api/distributions/:id/extend": record("id", "queueId", { seconds: 60 }),
  "GET /api/distributions/:id/history": record("id", "queueId"),
  "GET /api/distributions/:id/events": record("id", "queueId"),
  "GET /api/organizations/me": just(() => ({ status: 200 })),
  "PUT /api/organizations/me": just(() => ({ body: { name: "Another" }, status: 200, testStatus: 403 })),
  "GET /api/audit-log": just(() => ({ status: 200 })),
  "GET /api/security-events": just(() => ({ status: 200 })),
  "GET /api/nodes": just(() => ({ status: 200 })),
  "GET /api/test-clock": just(() => ({ status: 403, testStatus: 404 })),
  // A clock would change the time of all other operations in test mode.
  "PUT /api/test-clock": just(() => ({
    body: { frozenAt: "2033-01-01T00:00:00Z", webhookIds: [randomUUID()] },
    status: 403,
    testStatus: 400
  })),
  "POST /api/test-clock/advance": just(() => ({ body: { by: 60 }, status: 403, testStatus: 404 })),
  "DELETE /api/test-clock": just(() => ({ status: 403, testStatus: 404 })),
  "GET /api/outbox": (own) => {
    const to = email()
    return Effect.as(requested(own, to), { query: `to=${to}`, status: 200, strangerStatus: 200, secrets: [to] })
  }
}
