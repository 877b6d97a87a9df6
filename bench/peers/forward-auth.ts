/**
 * A check of signed cookies beside a proxy as most teams would write it: Fastify and `jose`. It knows one rule and no
 * ended grants, renews nothing and remembers nothing.
 */
import Fastify from "fastify"
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from "jose"
import { setting } from "./Peer.ts"

const keys = createLocalJWKSet(JSON.parse(setting("KEY_SET")) as JSONWebKeySet)
const { organizationId, experienceId } = JSON.parse(setting("CLAIMS")) as { readonly [claim: string]: string }
const cookieName = setting("COOKIE")

const server = Fastify()

server.get("/health", () => ({ status: "ok" }))

server.get("/auth-request", async ({ headers }, reply) => {
  const target = headers["x-original-uri"]
  if (typeof target !== "string") return reply.code(400).send()
  if (!target.toLowerCase().startsWith("/checkout")) return reply.code(204).send()
  const pair = headers.cookie?.split("; ").find((one) => one.startsWith(`${cookieName}=`))
  if (pair === undefined) return reply.code(401).send()
  const options = { issuer: "usher", audience: "usher:admission", algorithms: ["EdDSA"] }
  const { payload } = await jwtVerify(pair.slice(cookieName.length + 1), keys, options)
  const isOurs = payload["organizationId"] === organizationId && payload["experienceId"] === experienceId
  return reply.code(isOurs ? 204 : 401).send()
})

await server.listen({ host: "127.0.0.1", port: Number(setting("PORT")) })
