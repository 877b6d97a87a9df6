/**
 * A queue on Redis: Fastify and `ioredis`, with one Lua script for each entry. Redis writes every command to disk
 * before it answers (`appendonly yes`, `appendfsync always`). The waiting line is a sorted set, so a position is a
 * rank, which stays exact after consumers leave.
 */
import { Redis, type Result } from "ioredis"
import { queued, serve, setting, type Place, type Store } from "./Peer.ts"

declare module "ioredis" {
  interface RedisCommander<Context> {
    enter(queue: string, consumerId: string, organizationId: string, now: number): Result<Answer, Context>
    leave(queue: string, consumerId: string, organizationId: string): Result<Answer, Context>
    place(queue: string, consumerId: string, organizationId: string): Result<Answer, Context>
  }
}

/** Status, time of entry (milliseconds), position (0 if not waiting), admit rate; null if there is no such queue. */
type Answer = readonly [string, string, number, string] | null

// All keys of a queue contain its id in braces, so that a Redis cluster stores them together.
const readQueue = `
  local queue = KEYS[1]
  local settings = redis.call('HMGET', queue, 'organizationId', 'admitRate', 'ended')
  if settings[1] ~= ARGV[2] then return nil end
`
const answer = `
  if not place then return {'NOT_QUEUED', '0', 0, settings[2]} end
  local rank = redis.call('ZRANK', queue .. ':waiting', ARGV[1])
  if rank then return {'QUEUED', place, rank + 1, settings[2]} end
  return {redis.call('HGET', queue .. ':outcomes', ARGV[1]), place, 0, settings[2]}
`
const enterScript = `${readQueue}
  local place = redis.call('HGET', queue .. ':places', ARGV[1])
  if not place or redis.call('HDEL', queue .. ':outcomes', ARGV[1]) == 1 then
    if settings[3] then return nil end
    place = ARGV[3]
    redis.call('ZADD', queue .. ':waiting', redis.call('HINCRBY', queue, 'lastNumber', 1), ARGV[1])
    redis.call('HSET', queue .. ':places', ARGV[1], place)
  end
${answer}`
const leaveScript = `${readQueue}
  local place = redis.call('HGET', queue .. ':places', ARGV[1])
  if redis.call('ZREM', queue .. ':waiting', ARGV[1]) == 1 then
    redis.call('HSET', queue .. ':outcomes', ARGV[1], 'LEFT')
  end
${answer}`
const placeScript = `${readQueue}
  local place = redis.call('HGET', queue .. ':places', ARGV[1])
${answer}`

class RedisStore implements Store {
  private readonly redis: Redis

  constructor() {
    // Sends the commands of one turn of the event loop together.
    this.redis = new Redis(setting("REDIS_URL"), { enableAutoPipelining: true })
    this.redis.defineCommand("enter", { numberOfKeys: 1, lua: enterScript })
    this.redis.defineCommand("leave", { numberOfKeys: 1, lua: leaveScript })
    this.redis.defineCommand("place", { numberOfKeys: 1, lua: placeScript, readOnly: true })
  }

  async enter(queueId: string, organizationId: string, consumerId: string): Promise<Place | undefined> {
    return view(await this.redis.enter(`{${queueId}}`, consumerId, organizationId, Date.now()))
  }

  async leave(queueId: string, organizationId: string, consumerId: string): Promise<Place | undefined> {
    return view(await this.redis.leave(`{${queueId}}`, consumerId, organizationId))
  }

  async status(queueId: string, organizationId: string, consumerId: string): Promise<Place | undefined> {
    return view(await this.redis.place(`{${queueId}}`, consumerId, organizationId))
  }

  async close(): Promise<void> {
    await this.redis.quit()
  }
}

function view(found: Answer): Place | undefined {
  if (found === null) return undefined
  const [status, enteredAt, position, admitRate] = found
  if (status === "NOT_QUEUED") return { status }
  if (status === "QUEUED") return queued(position, Number(admitRate), new Date(Number(enteredAt)))
  return { status, enteredAt: new Date(Number(enteredAt)).toISOString() }
}

await serve(new RedisStore())
