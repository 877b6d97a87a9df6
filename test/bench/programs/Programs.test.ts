import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { mkdtempSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { type DatabaseServer, openDatabaseServer } from "../../../bench/setup/Database.ts"
import { fastifyRedis } from "../../../bench/programs/FastifyRedis.ts"
import { noop, noopOpen } from "../../../bench/programs/Noop.ts"
import { dbos, fastifyPostgres, fastifyPostgresTuned, pgBoss } from "../../../bench/programs/PostgresPeers.ts"
import type { Setup, Running } from "../../../bench/programs/Program.ts"
import { usher } from "../../../bench/programs/Usher.ts"
import { openRedisServer } from "../../../bench/setup/Redis.ts"
import { makeFixture } from "../../../bench/setup/Setup.ts"
import { Tokens } from "../../../bench/setup/Tokens.ts"
import { canStart, title } from "../../http/limits/redisFixture.ts"

const directory = mkdtempSync(join(tmpdir(), "bench-test-"))
const consumers = 6
/** The consumers that wait when a program starts. */
const waiting = 30
let database: DatabaseServer
let redis: Awaited<ReturnType<typeof openRedisServer>>
let setup: Setup
let tokens: ReadonlyArray<string>

beforeAll(async () => {
  database = await openDatabaseServer(directory)
  redis = await openRedisServer(directory)
  const fixture = await makeFixture(directory, database)
  setup = { workDirectory: directory, database, redis, fixture }
  const range = new Tokens(fixture.issuer, join(directory, "tokens")).range(consumers)
  tokens = readFileSync(range.file, "utf8").trimEnd().split("\n")
})

afterAll(async () => {
  await database.stop()
  if (!("missing" in redis)) await redis.stop()
  rmSync(directory, { recursive: true, force: true })
})

interface Answer {
  readonly status: number
  readonly body: { readonly status?: string; readonly position?: number | null }
}

/** `POST enter`, `POST leave` or `GET status` of one consumer, with the credentials all programs take. */
const call = async (
  running: Running,
  operation: string,
  token: string,
  queueId = setup.fixture.queueId
): Promise<Answer> => {
  const response = await fetch(`http://127.0.0.1:${running.port}/api/queues/${queueId}/${operation}`, {
    method: operation === "status" ? "GET" : "POST",
    headers: { authorization: `Bearer ${token}`, "x-publishable-key": setup.fixture.publishableKey }
  })
  return { status: response.status, body: (await response.json()) as Answer["body"] }
}

const fields = ({ body }: Answer) =>
  Object.entries(body)
    .filter(([, value]) => value !== null)
    .map(([name]) => name)
    .toSorted()

/** The checks that every program must pass. Returns the fields of an entry's answer. */
const history = async (running: Running, waiting: number) => {
  const [ada, bob, eve, kim] = tokens as [string, string, string, string]
  assert.strictEqual((await call(running, "status", ada)).body.status, "NOT_QUEUED")
  const entry = await call(running, "enter", ada)
  assert.strictEqual(entry.status, 200)
  assert.strictEqual(entry.body.position, waiting + 1)
  assert.strictEqual((await call(running, "enter", bob)).body.position, waiting + 2)
  assert.strictEqual((await call(running, "enter", eve)).body.position, waiting + 3)
  assert.strictEqual((await call(running, "enter", ada)).body.position, waiting + 1, "entering again changes nothing")
  assert.strictEqual((await call(running, "leave", bob)).body.status, "LEFT")
  assert.strictEqual((await call(running, "status", eve)).body.position, waiting + 2, "exact after a leave")
  assert.strictEqual((await call(running, "enter", kim)).body.position, waiting + 3)
  assert.strictEqual((await call(running, "enter", bob)).body.position, waiting + 4, "who left enters again at the end")
  const together = await Promise.all([1, 2, 3, 4].map(() => call(running, "enter", tokens[4]!)))
  assert.deepStrictEqual(
    together.map(({ body }) => body.position),
    Array.from({ length: 4 }, () => waiting + 5)
  )
  assert.strictEqual((await call(running, "enter", `${ada.slice(0, -6)}AAAAAA`)).status, 401)
  assert.strictEqual((await call(running, "enter", ada, "0199b2a1-7c3e-7d7a-b0f2-0f1e2d3c4b5a")).status, 404)
  assert.strictEqual((await call(running, "enter", ada, "nonsense")).status, 400)
  assert.strictEqual(await running.countEntries(), waiting + 5)
  return fields(entry)
}

describe("the programs of the bench", () => {
  const entryFields = ["enteredAt", "position", "positionDisplayMode", "status"]

  const programs = {
    usher,
    "fastify-postgres": fastifyPostgres,
    "fastify-postgres-tuned": fastifyPostgresTuned,
    "fastify-redis": fastifyRedis,
    dbos,
    "pg-boss": pgBoss
  }
  for (const [name, make] of Object.entries(programs)) {
    const sentence = `${name} keeps a queue: exact positions, idempotent entries, credentials checked`
    const needsRedis = name === "fastify-redis"
    it.skipIf(needsRedis && !canStart)(needsRedis ? title(sentence) : sentence, async () => {
      const program = make(setup)
      assert.isUndefined(program.missing)
      const running = await program.start(waiting)
      try {
        assert.deepStrictEqual(
          await history(running, waiting),
          name === "usher" ? [...entryFields, "ticket"] : entryFields
        )
      } finally {
        await running.stop()
      }
    })
  }

  it("noop answers an entry in the same shape, checks the same credentials, and keeps nothing", async () => {
    const running = await noop(setup).start(0)
    try {
      const [ada] = tokens as [string]
      assert.deepStrictEqual(fields(await call(running, "enter", ada)), entryFields)
      assert.deepStrictEqual(fields(await call(running, "status", ada)), entryFields)
      assert.strictEqual((await call(running, "enter", `${ada.slice(0, -6)}AAAAAA`)).status, 401)
      assert.isUndefined(await running.countEntries())
    } finally {
      await running.stop()
    }
  })

  it("noop-open answers in the same shape and looks at no credentials", async () => {
    const running = await noopOpen(setup).start(0)
    try {
      const [ada] = tokens as [string]
      for (const token of [ada, `${ada.slice(0, -6)}AAAAAA`, "none"]) {
        assert.deepStrictEqual(fields(await call(running, "enter", token)), entryFields)
        assert.deepStrictEqual(fields(await call(running, "status", token)), entryFields)
      }
      assert.strictEqual((await call(running, "enter", ada, "nonsense")).status, 400)
    } finally {
      await running.stop()
    }
  })
})
