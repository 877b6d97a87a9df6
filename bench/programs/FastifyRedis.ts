/** Runs the peer `fastify-redis`. */
import { fileURLToPath } from "node:url"
import { peerEnvironment } from "./Peers.ts"
import { type Setup, type Program, startServer } from "./Program.ts"

const fillScript = `
  local number = redis.call('HINCRBY', KEYS[1], 'lastNumber', #ARGV)
  for index = 1, #ARGV do
    redis.call('ZADD', KEYS[1] .. ':waiting', number - #ARGV + index, ARGV[index])
    redis.call('HSET', KEYS[1] .. ':places', ARGV[index], '1700000000000')
  end`
const fillBlock = 5_000

export function fastifyRedis(setup: Setup): Program {
  const { redis } = setup
  if ("missing" in redis) {
    return { name: "fastify-redis", missing: redis.missing, start: () => Promise.reject(new Error(redis.missing)) }
  }
  const { queueId, organizationId, admitRate } = setup.fixture
  const queue = `{${queueId}}`
  const keys = [queue, `${queue}:waiting`, `${queue}:places`, `${queue}:outcomes`]
  return {
    name: "fastify-redis",
    start: async (waiting) => {
      await redis.client.del(...keys)
      await redis.client.hset(queue, { organizationId, admitRate })
      for (let filled = 0; filled < waiting; filled += fillBlock) {
        const block = Array.from({ length: Math.min(fillBlock, waiting - filled) }, () => crypto.randomUUID())
        await redis.client.eval(fillScript, 1, queue, ...block)
      }
      const { port, server } = await startServer(setup, {
        name: "fastify-redis",
        script: fileURLToPath(new URL("../peers/fastify-redis.ts", import.meta.url)),
        environment: { ...peerEnvironment(setup.fixture), REDIS_URL: redis.url },
        portVariable: "PORT",
        ready: { path: "/health" }
      })
      return {
        port,
        processId: server.processId,
        watched: [{ name: "server", processId: server.processId, withChildren: false }, ...redis.watched],
        countEntries: () => redis.client.zcard(`${queue}:waiting`),
        stop: async () => {
          await server.stop()
          await redis.client.unlink(...keys)
        }
      }
    }
  }
}
