/** Runs the peers on Postgres, which differ in how they write an entry. */
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { PgBoss } from "pg-boss"
import { type Setup, type Program, startServer } from "./Program.ts"
import { peerEnvironment } from "./Peers.ts"

const database = "bench_postgres_peer"

/**
 * Chosen from 10, 20, 40 and 80 for both Fastify peers, run in turns four times each on a busy 2-core machine. 20 had the
 * best median rate and the least processor time. The ranges of 20, 40 and 80 overlap, so the choice matters little. DBOS
 * and pg-boss get as many.
 */
const poolSize = 20

interface Peer {
  readonly script: URL
  /** Creates what the peer needs besides the common tables. */
  readonly prepare?: (url: string, queueId: string) => Promise<void>
  /** The statement that lets $2 consumers wait in the queue $1. */
  readonly fill: (sequence: string) => string
  /** The statement that counts the entries of the queue $1. */
  readonly count: string
}

const places = {
  fill: (sequence: string) => `
    insert into places (queue_id, consumer_id, number, status, entered_at)
    select $1, gen_random_uuid(), nextval('${sequence}'), 'QUEUED', now() from generate_series(1, $2)`,
  count: "select count(*)::int4 as number from places where queue_id = $1"
}

const peers = {
  "fastify-postgres": { script: new URL("../peers/fastify-postgres.ts", import.meta.url), ...places },
  "fastify-postgres-tuned": { script: new URL("../peers/fastify-postgres-tuned.ts", import.meta.url), ...places },
  dbos: { script: new URL("../peers/dbos.ts", import.meta.url), ...places },
  "pg-boss": {
    script: new URL("../peers/pg-boss.ts", import.meta.url),
    prepare: createJobQueue,
    fill: (sequence: string) => `
      insert into pgboss.job (name, id, data, keep_until)
      select $1::text, gen_random_uuid(), jsonb_build_object('number', nextval('${sequence}')), now() + interval '14 days'
      from generate_series(1, $2)`,
    count: "select count(*)::int4 as number from pgboss.job where name = $1::text and state = 'created'"
  }
} satisfies { readonly [name: string]: Peer }

export const fastifyPostgres = (setup: Setup): Program => programOf(setup, "fastify-postgres")
export const fastifyPostgresTuned = (setup: Setup): Program => programOf(setup, "fastify-postgres-tuned")
export const dbos = (setup: Setup): Program => programOf(setup, "dbos")
export const pgBoss = (setup: Setup): Program => programOf(setup, "pg-boss")

function programOf(setup: Setup, name: keyof typeof peers): Program {
  const { queueId, organizationId, admitRate } = setup.fixture
  const sequence = `queue_${queueId.replaceAll("-", "")}`
  const schema = readFileSync(new URL("../peers/fastify-postgres.sql", import.meta.url), "utf8")
  const peer: Peer = peers[name]
  return {
    name,
    start: async (waiting) => {
      await setup.database.create(database)
      const url = setup.database.url(database)
      await setup.database.query(database, `${schema}; create sequence ${sequence}`)
      const queue = "insert into queues (id, organization_id, admit_rate) values ($1, $2, $3)"
      await setup.database.query(database, queue, [queueId, organizationId, admitRate])
      await peer.prepare?.(url, queueId)
      if (waiting > 0) {
        await setup.database.query(database, peer.fill(sequence), [queueId, waiting])
        await setup.database.query(database, "vacuum analyze")
      }
      await setup.database.checkpoint()
      const { port, server } = await startServer(setup, {
        name,
        script: fileURLToPath(peer.script),
        environment: { ...peerEnvironment(setup.fixture), DATABASE_URL: url, POOL_SIZE: String(poolSize) },
        portVariable: "PORT",
        ready: { path: "/health" }
      })
      return {
        port,
        processId: server.processId,
        watched: [{ name: "server", processId: server.processId, withChildren: false }, ...setup.database.watched],
        countEntries: () => setup.database.number(database, peer.count, [queueId]),
        stop: async () => {
          await server.stop()
          await setup.database.drop(database)
        }
      }
    }
  }
}

/** Creates the schema of pg-boss, and a queue with a partition of its own, as it recommends for large queues. */
async function createJobQueue(url: string, queueId: string): Promise<void> {
  const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false })
  boss.on("error", () => {})
  await boss.start()
  await boss.createQueue(queueId, { partition: true })
  await boss.stop({ graceful: false })
}
