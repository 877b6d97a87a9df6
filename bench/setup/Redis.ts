/**
 * A Redis that writes every command to disk before it answers: a new `redis-server` in a temporary folder, otherwise
 * `REDIS_URL` if it is configured that way.
 */
import { spawnSync } from "node:child_process"
import { mkdirSync } from "node:fs"
import { join } from "node:path"
import { Redis } from "ioredis"
import type { Watched } from "../load/Job.ts"
import { freePort, start, untilReady } from "./Processes.ts"

export interface RedisServer {
  readonly url: string
  readonly version: string
  readonly watched: ReadonlyArray<Watched>
  readonly client: Redis
  stop(): Promise<void>
}

/** Returns a running server, or the reason that there is none. */
export async function openRedisServer(workDirectory: string): Promise<RedisServer | { readonly missing: string }> {
  if (spawnSync("redis-server", ["--version"]).status === 0) return startOwn(workDirectory)
  const url = process.env["REDIS_URL"]
  if (url === undefined) return { missing: "no redis-server on the path and no REDIS_URL" }
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null })
  client.on("error", () => {})
  try {
    await client.connect()
    const settings = await client.config("GET", "append*")
    const configuration = Object.fromEntries(pairs(settings))
    if (configuration["appendonly"] !== "yes" || configuration["appendfsync"] !== "always") {
      client.disconnect()
      return { missing: "the Redis at REDIS_URL does not have appendonly yes and appendfsync always" }
    }
    return { url, version: await versionOf(client), watched: [], client, stop: () => client.quit().then(() => {}) }
  } catch (error) {
    client.disconnect()
    return {
      missing: `the Redis at REDIS_URL cannot be used: ${error instanceof Error ? error.message : String(error)}`
    }
  }
}

async function startOwn(workDirectory: string): Promise<RedisServer> {
  const port = await freePort()
  const directory = join(workDirectory, "redis")
  mkdirSync(directory, { recursive: true })
  const durable = ["--appendonly", "yes", "--appendfsync", "always", "--save", ""]
  const server = start({
    name: "redis-server",
    command: "redis-server",
    arguments: ["--bind", "127.0.0.1", "--port", String(port), "--dir", directory, ...durable],
    logDirectory: join(workDirectory, "log")
  })
  const url = `redis://127.0.0.1:${port}`
  const client = new Redis(url)
  client.on("error", () => {})
  await untilReady(server, async () => (await client.ping()) === "PONG")
  return {
    url,
    version: await versionOf(client),
    watched: [{ name: "redis", processId: server.processId, withChildren: false }],
    client,
    stop: async () => {
      client.disconnect()
      await server.stop()
    }
  }
}

async function versionOf(client: Redis): Promise<string> {
  return /redis_version:(\S+)/.exec(await client.info("server"))?.[1] ?? "unknown"
}

function pairs(list: ReadonlyArray<string>): Array<[string, string]> {
  const result: Array<[string, string]> = []
  for (let index = 0; index + 1 < list.length; index += 2) result.push([list[index]!, list[index + 1]!])
  return result
}
