/** Runs the peers `fastify-postgres` and `fastify-postgres-tuned`, which differ in how they write an entry. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { type Setup, type Program, startServer } from "./Program.ts"
import { peerEnvironment } from "./Peers.ts"

const database = "bench_fastify_postgres"

/**
 * Chosen from 10, 20, 40 and 80, run in turns four times each on a busy 2-core machine. 20 had the best median rate and
 * the least processor time. The ranges of 20, 40 and 80 overlap, so the choice matters little.
 */
const poolSize = 20

export const fastifyPostgres = (setup: Setup): Program => programOf(setup, "fastify-postgres")
export const fastifyPostgresTuned = (setup: Setup): Program => programOf(setup, "fastify-postgres-tuned")

const scripts = {
  "fastify-postgres": new URL("../peers/fastify-postgres.ts", import.meta.url),
  "fastify-postgres-tuned": new URL("../peers/fastify-postgres-tuned.ts", import.meta.url)
}

function programOf(setup: Setup, name: keyof typeof scripts): Program {
  const { queueId, organizationId, admitRate } = setup.fixture
  const sequence = `queue_${queueId.replaceAll("-", "")}`
  const schema = readFileSync(new URL("../peers/fastify-postgres.sql", import.meta.url), "utf8")
  return {
    name,
    start: async (waiting) => {
      await setup.database.create(database)
      await setup.database.query(database, `${schema}; create sequence ${sequence}`)
      const queue = "insert into queues (id, organization_id, admit_rate) values ($1, $2, $3)"
      await setup.database.query(database, queue, [queueId, organizationId, admitRate])
      if (waiting > 0) {
        const fill = `insert into places (queue_id, consumer_id, number, status, entered_at)
          select $1, gen_random_uuid(), nextval('${sequence}'), 'QUEUED', now() from generate_series(1, $2)`
        await setup.database.query(database, fill, [queueId, waiting])
        await setup.database.query(database, "vacuum analyze")
      }
      await setup.database.checkpoint()
      const url = setup.database.url(database)
      const { port, server } = await startServer(setup, {
        name,
        script: fileURLToPath(scripts[name]),
        environment: { ...peerEnvironment(setup.fixture), DATABASE_URL: url, POOL_SIZE: String(poolSize) },
        portVariable: "PORT",
        ready: { path: "/health" }
      })
      return {
        port,
        processId: server.processId,
        watched: [{ name: "server", processId: server.processId, withChildren: false }, ...setup.database.watched],
        countEntries: () => {
          const counted = "select count(*)::int4 as number from places where queue_id = $1"
          return setup.database.number(database, counted, [queueId])
        },
        stop: async () => {
          await server.stop()
          await setup.database.drop(database)
        }
      }
    }
  }
}
