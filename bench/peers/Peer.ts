/**
 * The common part of the peers: configuration from the environment, the credentials check, the shape of the
 * response. They implement only Usher's enter, leave and status operations: no rate limits, no live streams, no
 * admissions.
 */
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify"
import { importJWK, jwtVerify, type JWK, type JWTPayload } from "jose"
import { hash } from "node:crypto"
import { readFileSync } from "node:fs"

const knownTokensMax = 125_000

/** A consumer's view of its own place; `position` counts from 1. */
export interface Place {
  readonly status: string
  readonly position?: number
  readonly estimatedWaitTimeInSeconds?: number
  readonly positionDisplayMode?: string
  readonly enteredAt?: string
}

/** The store behind a peer. All three operations return undefined if the organization has no such open queue. */
export interface Store {
  enter(queueId: string, organizationId: string, consumerId: string): Promise<Place | undefined>
  leave(queueId: string, organizationId: string, consumerId: string): Promise<Place | undefined>
  status(queueId: string, organizationId: string, consumerId: string): Promise<Place | undefined>
  close(): Promise<void>
}

declare module "fastify" {
  interface FastifyRequest {
    consumerId: string
    organizationId: string
  }
}

/** Reads a setting that the bench passes. */
export function setting(name: string): string {
  const value = process.env[name]
  if (value === undefined) throw new Error(`${name} is not set`)
  return value
}

/** Returns the place of a waiting consumer as the API sends it. */
export function queued(position: number, admitRate: number, enteredAt: Date): Place {
  return {
    status: "QUEUED",
    position,
    ...(admitRate > 0 ? { estimatedWaitTimeInSeconds: Math.ceil((position / admitRate) * 60) } : {}),
    positionDisplayMode: "precise",
    enteredAt: enteredAt.toISOString()
  }
}

const parameters = {
  type: "object",
  properties: { queueId: { type: "string", format: "uuid" } },
  required: ["queueId"]
}

const place = {
  type: "object",
  properties: {
    status: { type: "string" },
    position: { type: "integer" },
    estimatedWaitTimeInSeconds: { type: "integer" },
    positionDisplayMode: { type: "string" },
    enteredAt: { type: "string" }
  },
  required: ["status"]
}

/** The certificate and its key, if the bench passes them. */
const certificate =
  process.env["TLS_CERT_FILE"] === undefined
    ? undefined
    : { cert: readFileSync(setting("TLS_CERT_FILE")), key: readFileSync(setting("TLS_KEY_FILE")) }

/** Serves the store on `PORT` until SIGTERM. */
export async function serve(store: Store): Promise<void> {
  const app = (certificate === undefined ? Fastify() : Fastify({ https: certificate })) as FastifyInstance
  await authenticate(app)
  app.get("/health", () => ({ status: "ok" }))
  const schema = { params: parameters, response: { 200: place } }
  type Route = { Params: { queueId: string } }
  const answer =
    (operation: "enter" | "leave" | "status") => async (request: FastifyRequest<Route>, reply: FastifyReply) => {
      const found = await store[operation](request.params.queueId, request.organizationId, request.consumerId)
      return found ?? reply.code(404).send({ error: "Queue not found" })
    }
  app.post<Route>("/api/queues/:queueId/enter", { schema }, answer("enter"))
  app.post<Route>("/api/queues/:queueId/leave", { schema }, answer("leave"))
  app.get<Route>("/api/queues/:queueId/status", { schema }, answer("status"))
  process.on("SIGTERM", () => {
    app.server.closeAllConnections()
    void app
      .close()
      .then(() => store.close())
      .then(() => process.exit(0))
  })
  await app.listen({ host: "127.0.0.1", port: Number(setting("PORT")) })
}

/** Checks the publishable key and the bearer token (EdDSA, issuer, audience, expiry) of every request. */
async function authenticate(app: FastifyInstance): Promise<void> {
  const publishableKey = setting("PUBLISHABLE_KEY")
  const options = { algorithms: ["EdDSA"], issuer: setting("TOKEN_ISSUER"), audience: setting("TOKEN_AUDIENCE") }
  const known = new KnownTokens()
  const key = await importJWK(JSON.parse(setting("TOKEN_PUBLIC_KEY")) as JWK, "EdDSA")
  app.decorateRequest("consumerId", "")
  app.decorateRequest("organizationId", "")
  app.addHook("onRequest", async (request: FastifyRequest, reply) => {
    if (request.url === "/health") return
    const bearer = request.headers.authorization
    if (request.headers["x-publishable-key"] !== publishableKey || bearer?.startsWith("Bearer ") !== true) {
      return reply.code(401).send({ error: "Authentication required" })
    }
    try {
      const token = bearer.slice(7)
      const claims = known.get(token) ?? known.remember(token, (await jwtVerify(token, key, options)).payload)
      request.consumerId = claims.consumerId
      request.organizationId = claims.organizationId
    } catch {
      return reply.code(401).send({ error: "Authentication required" })
    }
  })
}

interface Claims {
  readonly consumerId: string
  readonly organizationId: string
  readonly expiresAt: number
}

/** A cache of checked tokens by digest, until they expire. It has the same size as Usher's. */
class KnownTokens {
  private readonly byDigest = new Map<string, Claims>()

  get(token: string): Claims | undefined {
    const claims = this.byDigest.get(hash("sha256", token, "base64url"))
    return claims === undefined || claims.expiresAt <= Date.now() ? undefined : claims
  }

  remember(token: string, payload: JWTPayload): Claims {
    if (payload["type"] !== "access") throw new Error("Not an access token")
    const claims = {
      consumerId: payload["consumerId"] as string,
      organizationId: payload["organizationId"] as string,
      expiresAt: payload.exp! * 1000
    }
    if (this.byDigest.size >= knownTokensMax) this.byDigest.delete(this.byDigest.keys().next().value!)
    this.byDigest.set(hash("sha256", token, "base64url"), claims)
    return claims
  }
}
