/** `usher serve --processes`: real processes on shared ports. They need a system that shares ports: Linux. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync } from "node:fs"
import { createServer, type AddressInfo } from "node:net"
import { processesOf } from "../../src/cli/Serve.ts"
import { createQueue, guest, send, type Setup } from "../support/queueOnServer.ts"
import * as TestDatabase from "../store/support/TestDatabase.ts"
import { organization } from "./servingProcess.ts"
import { freePorts } from "../e2e/support/Processes.ts"
import * as Supervised from "../e2e/support/Supervised.ts"
import * as UsherInProcess from "./usherInProcess.ts"
import * as Usher from "./usherProcess.ts"

const sharesPorts = process.platform === "linux"

/** Starts processes, and waits until all are ready. */
const serving = Effect.fnUntraced(function* (count: number, settings: Record<string, string>) {
  return yield* served(yield* starting(count, settings), settings)
})

const starting = (count: number, settings: Record<string, string>) =>
  Usher.start(["serve", "--processes", `${count}`], { CONSUMER_PORT: "0", ADMIN_PORT: "0", ...settings })

/** Waits until started processes print their addresses. */
const served = Effect.fnUntraced(function* (run: Usher.Run, settings: Record<string, string>) {
  yield* Usher.until(() => run.stdout().includes("Admin API  ") || run.child.exitCode !== null)
  const [consumerUrl, adminUrl] = run.stdout().match(/http:\/\/[\d.]+:\d+(?=\/api )/g) ?? []
  assert.isDefined(adminUrl, `it serves: ${run.stderr()}`)
  yield* Effect.addFinalizer(() => Effect.sync(() => [...processesIn(run).values()].forEach(Supervised.kill)))
  const setup: Setup = { consumerUrl: consumerUrl!, adminUrl, keys: yield* organization(settings) }
  return { ...run, setup }
})

/** The ids of the running processes, by name. */
const processesIn = ({ child }: Usher.Run) => Supervised.processesOf(child.pid!)

type Consumer = Awaited<ReturnType<typeof guest>>

const enter = ({ consumerUrl }: Setup, queueId: string, consumer: Consumer) =>
  send("POST", `${consumerUrl}/api/queues/${queueId}/enter`, consumer)

/** Asks until it is answered. While a mechanism moves to another process, it is a 503. */
const positionOf = async ({ consumerUrl }: Setup, queueId: string, consumer: Consumer): Promise<number> => {
  for (;;) {
    const { status, body } = await send("GET", `${consumerUrl}/api/queues/${queueId}/status`, consumer)
    if (status === 200) return body.position
    assert.strictEqual(status, 503, JSON.stringify(body))
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

/** Lets a guest enter until it is answered. Returns the number of tries. */
const enterPatiently = async (setup: Setup, queueId: string, consumer: Consumer): Promise<number> => {
  for (let tries = 1; ; tries++) {
    const answer = await enter(setup, queueId, consumer).catch(() => undefined)
    if (answer?.status === 200 || answer?.status === 201) return tries
    assert.include([undefined, 503, 409], answer?.status, JSON.stringify(answer?.body))
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
}

const guests = (setup: Setup, count: number) =>
  Effect.promise(() => Promise.all(Array.from({ length: count }, () => guest(setup))))

const positions = (setup: Setup, queueId: string, consumers: ReadonlyArray<Consumer>) =>
  Effect.promise(() => Promise.all(consumers.map((consumer) => positionOf(setup, queueId, consumer))))

const oneTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1)
const sorted = (numbers: ReadonlyArray<number>) => numbers.toSorted((one, other) => one - other)

const untilReady = ({ setup }: { readonly setup: Setup }) =>
  Effect.promise(async () => {
    for (;;) {
      const answer = await send("GET", `${setup.adminUrl}/ready`, {}).catch(() => undefined)
      if (answer?.status === 200) return
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  })

describe.runIf(sharesPorts)("usher serve --processes", () => {
  it.live(
    "serves one queue on shared ports with the embedded database, restarts a killed front, and ends with code 0",
    () =>
      Effect.gen(function* () {
        const { dataDir, pidFile } = yield* Usher.migratedFolder
        const run = yield* serving(3, { DATA_DIR: dataDir })
        const { setup } = run
        const before = processesIn(run)
        assert.deepStrictEqual([...before.keys()].toSorted(), ["engine", "front-1", "front-2"])
        const queueId = yield* Effect.promise(() => createQueue(setup))
        const first = yield* guests(setup, 20)
        const answers = yield* Effect.promise(() => Promise.all(first.map((one) => enter(setup, queueId, one))))
        assert.deepStrictEqual(sorted(answers.map(({ body }) => body.position)), oneTo(20))
        const shown = yield* positions(setup, queueId, first)
        assert.deepStrictEqual(
          shown,
          answers.map(({ body }) => body.position)
        )

        const second = yield* guests(setup, 10)
        Supervised.kill(before.get("front-1")!)
        yield* Effect.promise(() => Promise.all(second.map((one) => enterPatiently(setup, queueId, one))))
        yield* Usher.until(() => processesIn(run).has("front-1"))
        yield* untilReady(run)
        assert.deepStrictEqual(yield* positions(setup, queueId, first), shown)
        assert.deepStrictEqual(sorted(yield* positions(setup, queueId, second)), oneTo(30).slice(20))
        assert.strictEqual(processesIn(run).get("engine"), before.get("engine"))
        assert.match(run.stderr(), /front-1 ended \(SIGKILL\); it is started again in 0\.5 s/)

        const running = [...processesIn(run).values()]
        run.child.kill("SIGTERM")
        const { code, stderr } = yield* Usher.end(run)
        assert.strictEqual(code, 0, stderr)
        assert.isFalse(running.some(Supervised.isAlive))
        assert.isFalse(existsSync(pidFile), "the embedded Postgres has stopped")
        for (const line of stderr.trim().split("\n")) {
          assert.match(line, /^(?:engine|front-\d) \| |supervisor|started again/, "each line names its process")
        }
      })
  )

  it.live("restarts a killed engine, and the queue goes on with everything that was answered", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase.migratedDatabase
      const run = yield* serving(3, { DATABASE_URL: url, LOG_FORMAT: "logfmt" })
      const { setup } = run
      const queueId = yield* Effect.promise(() => createQueue(setup))
      const early = yield* guests(setup, 10)
      yield* Effect.promise(() => Promise.all(early.map((one) => enterPatiently(setup, queueId, one))))
      const shown = yield* positions(setup, queueId, early)
      const late = yield* guests(setup, 20)
      const former = processesIn(run).get("engine")!
      const entering = late.map((one, index) =>
        new Promise((resolve) => setTimeout(resolve, index * 10)).then(() => enterPatiently(setup, queueId, one))
      )
      Supervised.kill(former)
      const tries = yield* Effect.promise(() => Promise.all(entering))
      assert.isTrue(
        tries.some((count) => count > 1),
        "some were refused meanwhile"
      )
      yield* untilReady(run)
      assert.notStrictEqual(processesIn(run).get("engine"), former)
      assert.deepStrictEqual(yield* positions(setup, queueId, early), shown)
      assert.deepStrictEqual(sorted(yield* positions(setup, queueId, late)), oneTo(30).slice(10))
      assert.match(run.stderr(), /^process=engine timestamp=/m)
      assert.match(run.stderr(), /^process=front-2 timestamp=/m)

      Supervised.kill(processesIn(run).get("front-1")!)
      yield* Usher.until(() => run.stderr().includes("front-1 ended"))
      run.child.kill("SIGTERM")
      assert.strictEqual((yield* Usher.end(run)).code, 0, "a front that waits for its start does not count")
    })
  )

  it.live("goes on when the supervisor is killed, until the next one takes over, and ends if none does", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase.migratedDatabase
      const port = yield* Effect.promise(() => freePorts(2))
      const settings = { DATABASE_URL: url, CONSUMER_PORT: `${port}`, ADMIN_PORT: `${port + 1}` }
      const run = yield* serving(3, settings)
      const { setup } = run
      const queueId = yield* Effect.promise(() => createQueue(setup))
      const consumers = yield* guests(setup, 10)
      yield* Effect.promise(() => Promise.all(consumers.map((one) => enterPatiently(setup, queueId, one))))
      const shown = yield* positions(setup, queueId, consumers)
      const orphans = [...processesIn(run).values()]
      run.child.kill("SIGKILL")
      yield* Usher.until(() => run.child.signalCode !== null)
      assert.deepStrictEqual(yield* positions(setup, queueId, consumers), shown)
      assert.isTrue(orphans.every(Supervised.isAlive))

      const next = yield* served(yield* starting(3, settings), settings)
      assert.isFalse(orphans.some(Supervised.isAlive))
      assert.match(next.stderr(), /Taking over from processes whose supervisor was killed/)
      assert.deepStrictEqual(yield* positions(setup, queueId, consumers), shown)

      const running = [...processesIn(next).values()]
      assert.strictEqual(running.length, 3)
      next.child.kill("SIGKILL")
      yield* Usher.until(() => !running.some(Supervised.isAlive))
    })
  )

  it.live("ends with code 1 if a process refuses its first start, or if ports or connections do not suffice", () =>
    Effect.gen(function* () {
      const refused = yield* Usher.run(["serve", "--processes", "2"], {
        DATABASE_URL: "postgres://usher@127.0.0.1:1/usher",
        CONSUMER_PORT: "0",
        ADMIN_PORT: "0"
      })
      assert.strictEqual(refused.code, 1)
      assert.match(refused.stderr, /engine \| usher: Cannot use the server in DATABASE_URL/)
      assert.match(refused.stderr, /usher: engine ended during its start \(code 1\), so all processes end\./)

      const many = yield* UsherInProcess.run(["serve", "--processes", "17"], { ADMIN_PORT: "0", CONSUMER_PORT: "0" })
      assert.include(many.stderr, "17 processes need up to 204 connections, and the embedded Postgres takes 200.")
      const high = { ADMIN_PORT: "0", CONSUMER_PORT: "0", OPERATIONS_PORT: "65535" }
      assert.include(
        (yield* UsherInProcess.run(["serve", "--processes", "2"], high)).stderr,
        "OPERATIONS_PORT is 65535, and 2 processes need as many ports from there on. Set it to 65534 at most."
      )

      const taken = yield* listening
      const settings = { ADMIN_PORT: `${taken}`, CONSUMER_PORT: "0" }
      const { code, stderr } = yield* UsherInProcess.run(["serve", "--processes", "2"], settings)
      assert.strictEqual(code, 1)
      assert.include(stderr, `ADMIN_PORT: port ${taken} of 127.0.0.1 is taken by another process.`)
    })
  )
})

/** The settings of two machines in one cluster on one database. Here both are this machine, so their ports differ. */
const machines = Effect.gen(function* () {
  const { url } = yield* TestDatabase.migratedDatabase
  const ports = yield* Effect.promise(() => freePorts(4))
  const machine = (name: string, port: number) => ({
    DATABASE_URL: url,
    CLUSTER: "true",
    CLUSTER_PORT: `${port}`,
    NODE_NAME: name
  })
  return [machine("one", ports), machine("two", ports + 2)] as const
})

const nodeOf = ({ setup }: { readonly setup: Setup }, queueId: string) =>
  Effect.promise(async () => {
    const secret = { authorization: `Bearer ${setup.keys["secretKey"]}` }
    const { body } = await send("GET", `${setup.adminUrl}/api/distributions/${queueId}`, secret)
    return body.live.node as string
  })

describe.runIf(sharesPorts)("usher serve --processes on several machines with one database", () => {
  it.live("starts fronts alone with CLUSTER_ROLE=front, which wait for an engine and move nothing when they end", () =>
    Effect.gen(function* () {
      const [first, second] = yield* machines
      const fronts = { ...second, CLUSTER_ROLE: "front" }
      const starts = yield* starting(2, fronts)
      yield* Usher.until(() => starts.stderr().includes("No node owns mechanisms"))
      assert.notInclude(starts.stdout(), "Admin API")
      const one = yield* serving(2, first)
      const two = { ...(yield* served(starts, fronts)), keys: one.setup.keys }
      assert.deepStrictEqual([...processesIn(two).keys()].toSorted(), ["front-1", "front-2"])
      const setup: Setup = { ...two.setup, keys: one.setup.keys }
      const queueId = yield* Effect.promise(() => createQueue(one.setup))
      const consumers = yield* guests(setup, 10)
      yield* Effect.promise(() => Promise.all(consumers.map((one) => enterPatiently(setup, queueId, one))))
      const shown = yield* positions(one.setup, queueId, consumers)
      assert.deepStrictEqual(sorted(shown), oneTo(10))
      assert.strictEqual(yield* nodeOf(one, queueId), "one-engine")

      two.child.kill("SIGTERM")
      assert.strictEqual((yield* Usher.end(two)).code, 0)
      yield* untilReady(one)
      assert.deepStrictEqual(yield* positions(one.setup, queueId, consumers), shown)
    })
  )

  it.live("shares the mechanisms among the engines, and one takes over from another that ends", () =>
    Effect.gen(function* () {
      const [first, second] = yield* machines
      const one = yield* serving(2, first)
      const two = yield* serving(2, second)
      const setup: Setup = { ...two.setup, keys: one.setup.keys }
      const queueIds = yield* Effect.promise(() => Promise.all(oneTo(8).map(() => createQueue(one.setup))))
      yield* Effect.promise(async () => {
        for (const owners = new Set<string>(); owners.size < 2;) {
          for (const id of queueIds) owners.add(await Effect.runPromise(nodeOf(one, id)))
        }
      })
      const [consumer] = yield* guests(setup, 1)
      yield* Effect.promise(() => Promise.all(queueIds.map((id) => enterPatiently(setup, id, consumer!))))

      one.child.kill("SIGTERM")
      assert.strictEqual((yield* Usher.end(one)).code, 0)
      yield* untilReady(two)
      for (const id of queueIds) {
        assert.deepStrictEqual(yield* positions(setup, id, [consumer!]), [1])
        assert.strictEqual(yield* nodeOf({ setup }, id), "two-engine")
      }
    })
  )

  it.live(
    "refuses to start with CLUSTER_ROLE=engine, with a role but no cluster, and with another machine's ports",
    () =>
      Effect.gen(function* () {
        const [first, second] = yield* machines
        const refusal = (settings: Record<string, string>, run: typeof Usher.run = UsherInProcess.run) =>
          Effect.map(
            run(["serve", "--processes", "2"], { CONSUMER_PORT: "0", ADMIN_PORT: "0", ...settings }),
            (ended) => {
              assert.strictEqual(ended.code, 1)
              return ended.stderr
            }
          )
        assert.include(
          yield* refusal({ ...first, CLUSTER_ROLE: "engine" }),
          "--processes: CLUSTER_ROLE is engine, and fronts would start beside it."
        )
        assert.include(
          yield* refusal({ CLUSTER_ROLE: "front" }),
          "CLUSTER_ROLE is front, and needs CLUSTER=true. Set it, or unset CLUSTER_ROLE."
        )
        yield* serving(2, first)
        assert.match(
          yield* refusal({ ...second, CLUSTER_PORT: first.CLUSTER_PORT }, Usher.run),
          /CLUSTER_HOST and CLUSTER_PORT: 127\.0\.0\.1:\d+ is the address of the node one-engine already/
        )
      })
  )
})

describe("The number of processes", () => {
  it("is a whole number, or one less than the cores and at least one", () => {
    assert.deepStrictEqual(
      ["auto", "1", "16"].map((text) => processesOf(text, 4)),
      [3, 1, 16]
    )
    assert.strictEqual(processesOf("auto", 1), 1)
    for (const text of ["", "0", "-1", "1.5", "257", "many"]) assert.isUndefined(processesOf(text, 4), text)
  })

  it.live("is refused with a sentence if it is anything else, and is in the help with an example", () =>
    Effect.gen(function* () {
      const { code, stdout, stderr } = yield* UsherInProcess.run(["serve", "--processes", "none"])
      assert.strictEqual(code, 1)
      assert.include(stdout + stderr, 'auto, or a whole number from 1 to 256, but it is "none"')
      const help = yield* UsherInProcess.run(["serve", "--help"])
      assert.include(help.stdout, "usher serve --processes 4")
    })
  )
})

/** A port in use. */
const listening = Effect.acquireRelease(
  Effect.callback<{ readonly port: number; readonly close: () => void }>((resume) => {
    const server = createServer().listen(0, "127.0.0.1", () =>
      resume(Effect.succeed({ port: (server.address() as AddressInfo).port, close: () => void server.close() }))
    )
  }),
  ({ close }) => Effect.sync(close)
).pipe(Effect.map(({ port }) => port))
