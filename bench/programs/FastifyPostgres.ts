/** Runs the peers `fastify-postgres` and `fastify-postgres-tuned`, which differ in how they write an entry. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { type Ground, type Program, startServer } from "./Program.ts"
import { peerEnvironment } from "./Peers.ts"

const database = "bench_fastify_postgres"

/**
 * Chosen from 10, 20, 40 and 80, run in turns four times each on a busy 2-core machine. 20 had the best median rate and
 * the least processor time. The ranges of 20, 40 and 80 overlap, so the choice matters little.
 */
const poolSize = 20

export const fastifyPostgres = (ground: Ground): Program => programOf(ground, "fastify-postgres")
export const fastifyPostgresTuned = (ground: Ground): Program => programOf(ground, "fastify-postgres-tuned")

const scripts = {
  "fastify-postgres": new URL("../peers/fastify-postgres.ts", import.meta.url),
  "fastify-postgres-tuned": new URL("../peers/fastify-postgres-tuned.ts", import.meta.url)
}

function programOf(ground: Ground, name: keyof typeof scripts): Program {
  const { queueId, organizationId, admitRate } = ground.fixture
  const sequence = `queue_${queueId.replaceAll("-", "")}`
  const schema = readFileSync(new URL("../peers/fastify-postgres.sql", import.meta.url), "utf8")
  return {
    name,
    start: async (waiting) => {
      await ground.database.create(database)
      await ground.database.query(database, `${schema}; create sequence ${sequence}`)
      const queue = "insert into queues (id, organization_id, admit_rate) values ($1, $2, $3)"
      await ground.database.query(database, queue, [queueId, organizationId, admitRate])
      if (waiting > 0) {
        const fill = `insert into places (queue_id, consumer_id, number, status, entered_at)
          select $1, gen_random_uuid(), nextval('${sequence}'), 'QUEUED', now() from generate_series(1, $2)`
        await ground.database.query(database, fill, [queueId, waiting])
        await ground.database.query(database, "vacuum analyze")
      }
      await ground.database.checkpoint()
      const url = ground.database.url(database)
      const { port, server } = await startServer(ground, {
        name,
        script: fileURLToPath(scripts[name]),
        environment: { ...peerEnvironment(ground.fixture), DATABASE_URL: url, POOL_SIZE: String(poolSize) },
        portVariable: "PORT",
        ready: { path: "/health" }
      })
      return {
        port,
        processId: server.processId,
        watched: [{ name: "server", processId: server.processId, withChildren: false }, ...ground.database.watched],
        countEntries: () => {
          const counted = "select count(*)::int4 as number from places where queue_id = $1"
          return ground.database.number(database, counted, [queueId])
        },
        stop: async () => {
          await server.stop()
          await ground.database.drop(database)
        }
      }
    }
  }
}
