// oxlint-disable unicorn/no-thenable -- the rules of gates have this field
/** Two organizations with all records that a request can name, and credentials in every state. */
import { Effect } from "effect"
import { generateKeyPair, SignJWT } from "jose"
import { randomBytes } from "node:crypto"
import { Agent } from "node:http"
import * as GateKeys from "../../../src/auth/keys/GateKeys.ts"
import * as ApiKeys from "../../../src/auth/keys/ApiKeys.ts"
import { Organizations } from "../../../src/auth/keys/Organizations.ts"
import { SigningKeys } from "../../../src/auth/keys/SigningKeys.ts"
import { sign } from "../../../src/auth/tokens/Signing.ts"
import { type Answer, asServer, type Call, Usher } from "../support/usherFixture.ts"

export type Tenancy = "own" | "test" | "foreign"

/** One tenant: its keys, its guest and its records. */
export interface Side {
  readonly publishableKey: string
  readonly secretKey: string
  readonly consumerId: string
  readonly accessToken: string
  readonly refreshToken: string
  readonly experienceId: string
  readonly sequenceId: string
  readonly queueId: string
  /** A gate whose rules name the queue. */
  readonly gateId: string
  readonly gateKey: string
}

export interface World {
  readonly sides: { readonly [T in Tenancy]: Side }
  /** Another consumer of the own tenant. */
  readonly otherToken: string
}

/** Keeps connections open for the thousands of requests. */
const connections = new Agent({ keepAlive: true })

/** Sends a request from a new random address, so that earlier refusals do not count against it. */
export const call = Effect.fnUntraced(function* (api: "consumer" | "admin", request: Call) {
  const usher = yield* Usher
  const [a, b, c] = randomBytes(3)
  // The outbox answers no request that a proxy has passed on.
  const forwarded = request.path.startsWith("/api/outbox")
    ? {}
    : { "x-forwarded-for": `10.${a}.${b}.${c}`, "x-forwarded-proto": "https" }
  return yield* usher[api]({ ...request, agent: connections, headers: { ...request.headers, ...forwarded } })
})

const succeeded = (answer: Answer) => {
  if (answer.status >= 300) throw new Error(`the world cannot be created: ${answer.status} ${answer.text}`)
  return answer.body
}

/** Creates independent records in parallel, because most of the time is spent waiting for the database. */
const atOnce = { concurrency: "unbounded" } as const

/** Sends a request of the tenant's server to one of the APIs. */
export const byServer = (
  api: "consumer" | "admin",
  { secretKey }: Pick<Side, "secretKey">,
  path: string,
  body?: unknown,
  consumerId?: string
) =>
  Effect.map(
    call(api, {
      method: body === undefined && consumerId === undefined ? "GET" : "POST",
      path: `/api${path}`,
      headers: asServer(secretKey, consumerId),
      body
    }),
    succeeded
  )

export const guestOf = (publishableKey: string) =>
  Effect.map(
    call("consumer", { method: "POST", path: "/api/auth/guest", headers: { "x-publishable-key": publishableKey } }),
    (answer) => {
      const { session, accessToken, refreshToken } = succeeded(answer)
      return { consumerId: session.consumerId as string, accessToken, refreshToken }
    }
  )

/** Creates a queue that admits by hand, in a new experience and sequence. */
export const queueOf = Effect.fnUntraced(function* (keys: Pick<Side, "secretKey">, settings: object = {}) {
  const experienceId: string = (yield* byServer("admin", keys, "/experiences", { name: "Drop" })).id
  const sequenceId: string = (yield* byServer("admin", keys, "/sequences", { experienceId, name: "Sale" })).id
  const queue = yield* byServer("admin", keys, "/queues", { sequenceId, name: "Line", admitRate: 0, ...settings })
  return { experienceId, sequenceId, queueId: queue.id as string }
})

const sideOf = Effect.fnUntraced(function* (publishableKey: string, secretKey: string) {
  const keys = { publishableKey, secretKey }
  const [guest, queue] = yield* Effect.all([guestOf(publishableKey), queueOf(keys)], atOnce)
  return { ...keys, ...guest, ...queue, ...(yield* gateOf({ ...keys, ...queue })) }
})

/** Creates a gate whose rules name the side's queue. */
const gateOf = (side: Pick<Side, "secretKey" | "queueId">) =>
  Effect.map(byServer("admin", side, "/gates", gateBody(side)), ({ id, key }) => ({
    gateId: id as string,
    gateKey: key as string
  }))

/** The body of a gate whose rules name the side's queue. */
export const gateBody = ({ queueId }: Pick<Side, "queueId">) => ({
  name: "Shop",
  hosts: ["shop.example"],
  rules: [{ when: { pathPrefix: "/checkout" }, then: { queueId } }]
})

/** Returns keys of gates that open nothing any more, or never did, by the kind of their defect. */
export const brokenGateKeys = Effect.fnUntraced(function* ({ sides: { own } }: World) {
  const [rotated, archived] = yield* Effect.all([gateOf(own), gateOf(own)], atOnce)
  yield* byServer("admin", own, `/gates/${rotated.gateId}/rotate-key`, {})
  yield* call("admin", {
    method: "DELETE",
    path: `/api/gates/${archived.gateId}`,
    headers: asServer(own.secretKey)
  })
  return {
    rotated: rotated.gateKey,
    "of an archived gate": archived.gateKey,
    unknown: GateKeys.make("live").text,
    "too short": own.gateKey.slice(0, 20),
    "too long": own.gateKey + "A".repeat(200),
    tampered: changed(own.gateKey),
    "of the other mode": own.gateKey.replace("live", "test"),
    "a secret key in its form": own.secretKey.replace("sk_", "gk_")
  }
})

/** Creates a world. */
export const makeWorld = Effect.gen(function* () {
  const organizations = yield* Organizations
  const create = (name: string) => organizations.create({ name, plan: "enterprise" })
  const [ours, theirs] = yield* Effect.all([create("Ours"), create("Theirs")], atOnce)
  const [own, test, foreign, other] = yield* Effect.all(
    [
      sideOf(ours.publishableKey, ours.secretKey),
      sideOf(ours.testPublishableKey, ours.testSecretKey),
      sideOf(theirs.publishableKey, theirs.secretKey),
      guestOf(ours.publishableKey)
    ],
    atOnce
  )
  return { sides: { own, test, foreign }, otherToken: other.accessToken } satisfies World
})

/**
 * Creates a world with a new own tenant, and with the test and foreign tenants of another world. It costs a third of
 * `makeWorld`. Use it for requests of the own tenant.
 */
export const withNewOwn = Effect.fnUntraced(function* ({ sides }: World) {
  const organizations = yield* Organizations
  const { publishableKey, secretKey } = yield* organizations.create({ name: "Ours", plan: "enterprise" })
  const [own, other] = yield* Effect.all([sideOf(publishableKey, secretKey), guestOf(publishableKey)], atOnce)
  return { sides: { ...sides, own }, otherToken: other.accessToken } satisfies World
})

/** Returns an effect that creates a world when it first runs, and returns that world afterwards. */
export const sharedWorld = () => {
  let world: World | undefined
  return Effect.suspend(() => {
    if (world !== undefined) return Effect.succeed(world)
    return Effect.tap(makeWorld, (made) => Effect.sync(() => void (world = made)))
  })
}

/** Rotates the live keys of a world. Returns the former keys and the changed world. */
export const rotated = Effect.fnUntraced(function* (world: World) {
  const { publishableKey, secretKey } = world.sides.own
  const publishable = yield* byServer("admin", { secretKey }, "/api-keys/publishable/rotate", {})
  const secret = yield* byServer("admin", { secretKey }, "/api-keys/secret/rotate", {})
  const own = { ...world.sides.own, publishableKey: publishable.key as string, secretKey: secret.key as string }
  return { former: { publishableKey, secretKey }, world: { ...world, sides: { ...world.sides, own } } }
})

/** Returns invalid keys by the kind of their defect. */
export const brokenKeys = (key: string) => ({
  unknown: ApiKeys.make(key.startsWith("pk") ? "publishable" : "secret", "live").text,
  "too short": key.slice(0, 20),
  "too long": key + "A".repeat(200),
  tampered: changed(key),
  "of the other mode": key.replace("live", "test")
})

/** Returns tokens that are not or no longer access tokens. */
export const brokenTokens = Effect.fnUntraced(function* ({ sides: { own } }: World) {
  const keys = yield* SigningKeys
  const { accessToken } = own
  const claims = JSON.parse(Buffer.from(accessToken.split(".")[1]!, "base64url").toString())
  const stolen = yield* Effect.promise(() => generateKeyPair("EdDSA"))
  const ended = yield* guestOf(own.publishableKey)
  yield* call("consumer", {
    method: "POST",
    path: "/api/auth/logout",
    headers: { authorization: `Bearer ${ended.accessToken}` }
  })
  yield* byServer("consumer", own, `/queues/${own.queueId}/enter`, undefined, ended.consumerId)
  const granted = yield* byServer("consumer", own, `/queues/${own.queueId}/admit`, { consumerId: ended.consumerId })
  return {
    expired: sign(keys, { ...claims, iat: claims.iat - 7200, exp: claims.iat - 3600 }),
    "logged out": ended.accessToken,
    tampered: changed(accessToken),
    "signed by another": yield* Effect.promise(() =>
      new SignJWT(claims).setProtectedHeader({ alg: "EdDSA", kid: keys.current.kid }).sign(stolen.privateKey)
    ),
    "a refresh token": own.refreshToken,
    "an admission grant": granted.admissionGrant as string,
    "no token": "hello"
  }
})

const changed = (text: string) => text.slice(0, -5) + (text.at(-5) === "A" ? "B" : "A") + text.slice(-4)
