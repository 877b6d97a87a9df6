/**
 * Creates the fixture of all programs. If Usher itself runs, its command line and Admin API create the fixture in a
 * database that each run copies, and its signing key signs the tokens.
 */
import { generateKeyPairSync, type JsonWebKey, randomBytes, randomUUID } from "node:crypto"
import { join } from "node:path"
import type { DatabaseServer } from "./Database.ts"
import type { Fixture } from "./Fixture.ts"
import { freePort, run, start, untilReady } from "./Processes.ts"
import { mainScript } from "../programs/Usher.ts"

const templateDatabase = "bench_template"
const admitRate = 0
const tokenIssuer = { issuer: "usher", audience: "usher:consumer-api" }
const claims = { type: "access", mode: "live", sessionType: "guest" }

/** Returns a fixture for the peers alone. */
export function inventFixture(): Fixture {
  const keys = generateKeyPairSync("ed25519")
  const organizationId = randomUUID()
  const privateKey = keys.privateKey.export({ format: "jwk" })
  return {
    organizationId,
    publishableKey: `pk_live_${randomBytes(24).toString("base64url")}`,
    secretKey: `sk_live_${randomBytes(24).toString("base64url")}`,
    queueId: randomUUID(),
    admitRate,
    publicKey: keys.publicKey.export({ format: "jwk" }),
    issuer: { privateKey, keyId: "bench", organizationId, sessionId: randomUUID(), claims, ...tokenIssuer },
    templateDatabase
  }
}

/** Larger than any run, so the server counts limits and never reaches them. */
const requestsMax = 1_000_000_000
const rateLimits = {
  consumerApiPerMinute: requestsMax,
  queueEntriesPerMinute: requestsMax,
  queueEntriesPerSecond: requestsMax
}

/** Visitors of rooms bring no proof of work. */
const settings = JSON.stringify({ rateLimits, challenge: { mode: "off" } })

/** Creates an organization with limits out of reach and one open queue, through Usher. */
export async function makeFixture(workDirectory: string, database: DatabaseServer): Promise<Fixture> {
  await database.create(templateDatabase)
  const url = database.url(templateDatabase)
  const [consumerPort, adminPort] = [await freePort(), await freePort()]
  const environment = {
    DATABASE_URL: url,
    REDIS_URL: "",
    HOST: "127.0.0.1",
    CONSUMER_PORT: String(consumerPort),
    ADMIN_PORT: String(adminPort)
  }
  await run(process.execPath, [mainScript, "migrate"], environment)
  const create = ["organizations", "create", "--name", "Bench", "--plan", "enterprise", "--json"]
  const keys = JSON.parse(await run(process.execPath, [mainScript, ...create], environment)) as {
    readonly organizationId: string
    readonly publishableKey: string
    readonly secretKey: string
    readonly testSecretKey: string
  }
  await database.query(templateDatabase, "update organizations set settings = $1::jsonb", [settings])
  const server = start({
    name: "setup",
    command: process.execPath,
    arguments: [mainScript, "serve"],
    environment,
    logDirectory: join(workDirectory, "log")
  })
  try {
    // The Admin API is the last to listen.
    await untilReady(server, async () => (await fetch(`http://127.0.0.1:${adminPort}/ready`)).status === 200)
    const post = (path: string, body: object) =>
      postJson(`http://127.0.0.1:${adminPort}/api${path}`, keys.secretKey, body)
    const experience = await post("/experiences", { name: "Bench" })
    const sequence = await post("/sequences", { experienceId: experience.id, name: "Bench" })
    const queue = await post("/queues", { sequenceId: sequence.id, name: "Bench", admitRate, supportsGuest: true })
    const [key] = await database.query<{ kid: string; private_key: JsonWebKey; public_key: JsonWebKey }>(
      templateDatabase,
      "select kid, private_key, public_key from signing_keys where retired_at is null order by created_at desc limit 1"
    )
    return {
      ...keys,
      queueId: queue.id,
      experienceId: experience.id,
      admitRate,
      publicKey: key!.public_key,
      issuer: {
        privateKey: key!.private_key,
        keyId: key!.kid,
        organizationId: keys.organizationId,
        sessionId: await startSession(consumerPort, keys.publishableKey),
        claims,
        ...tokenIssuer
      },
      templateDatabase
    }
  } finally {
    await server.stop()
  }
}

/** Starts a session, which all tokens name: Usher refuses a token of a session that never was. Returns its id. */
async function startSession(consumerPort: number, publishableKey: string): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${consumerPort}/api/auth/guest`, {
    method: "POST",
    headers: { "x-publishable-key": publishableKey }
  })
  const { accessToken } = (await answer.json()) as { readonly accessToken: string }
  const claims = Buffer.from(accessToken.split(".")[1]!, "base64url").toString("utf8")
  return (JSON.parse(claims) as { readonly sessionId: string }).sessionId
}

async function postJson(url: string, secretKey: string, body: object): Promise<{ readonly id: string }> {
  const answer = await fetch(url, {
    method: "POST",
    headers: { authorization: `Bearer ${secretKey}`, "content-type": "application/json" },
    body: JSON.stringify(body)
  })
  const text = await answer.text()
  if (answer.status !== 201) throw new Error(`POST ${url} answered ${answer.status}: ${text}`)
  return JSON.parse(text) as { readonly id: string }
}
