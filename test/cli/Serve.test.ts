import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { connect, createServer } from "node:net"
import { organization } from "./servingProcess.ts"
import { freePort } from "../e2e/support/Processes.ts"
import { exclusiveRelease } from "../e2e/support/release/nextRelease.ts"
import { databaseProxy } from "../store/support/databaseProxy.ts"
import * as TestDatabase from "../store/support/TestDatabase.ts"
import * as UsherInProcess from "./usherInProcess.ts"
import * as Usher from "./usherProcess.ts"

/** The signal that a terminal sends for Ctrl-C. */
const controlC = "\u0003"

const anyPorts = { CONSUMER_PORT: "0", ADMIN_PORT: "0" }

/** Starts a server and waits until it prints its addresses. */
const serving = (settings: Record<string, string>, start = Usher.start) =>
  Effect.gen(function* () {
    const run = yield* start(["serve"], { ...anyPorts, ...settings })
    yield* Usher.until(() => run.stdout().includes("Admin API  ") || run.child.exitCode !== null)
    const [consumerUrl, adminUrl] = run.stdout().match(/http:\/\/[\d.]+:\d+(?=\/api )/g) ?? []
    assert.isDefined(adminUrl, `it serves: ${run.stderr()}`)
    return { ...run, consumerUrl: consumerUrl!, adminUrl }
  })

const get = (url: string, headers: Record<string, string> = {}) => Effect.promise(() => fetch(url, { headers }))

/** A connection that has sent the start of a request, and finishes it on demand. */
const halfRequest = (url: string) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly finish: Effect.Effect<string> }>((resume) => {
      const { hostname, port } = new URL(url)
      const socket = connect(Number(port), hostname)
      let response = ""
      socket.on("error", () => {})
      socket.on("data", (chunk) => (response += chunk))
      const finish = Effect.callback<string>((finished) => {
        socket.once("close", () => finished(Effect.succeed(response)))
        socket.write("Host: localhost\r\n\r\n")
      })
      socket.once("connect", () => {
        socket.write("GET /health HTTP/1.1\r\n", () => resume(Effect.succeed({ finish })))
      })
      return Effect.sync(() => socket.destroy())
    }),
    () => Effect.void
  )

describe("usher serve", () => {
  for (const [what, statement, settings] of [
    ["enters itself among the nodes", "insert into nodes", {}],
    ["creates the tables of a cluster", "cluster_runners", { CLUSTER: "true", CLUSTER_HOST: "127.0.0.1" }]
  ] as const) {
    it.live(`starts again when the database does not answer while the process ${what}`, () =>
      Effect.gen(function* () {
        const database = yield* TestDatabase.migratedDatabase
        const proxy = yield* databaseProxy(database.url)
        proxy.unanswered = statement
        const CLUSTER_PORT = `${yield* Effect.promise(freePort)}`
        const run = yield* Usher.start(["serve"], { ...anyPorts, CLUSTER_PORT, DATABASE_URL: proxy.url, ...settings })
        yield* Usher.until(() => run.stdout().includes("Admin API") || run.child.exitCode !== null)
        assert.include(run.stderr(), "trying again")
        assert.include(run.stdout(), "Admin API", run.stderr())
      })
    )
  }

  it.live(
    "creates an organization on an empty database, and prints its keys once, in a terminal, with working requests",
    () =>
      Effect.gen(function* () {
        const { dataDir } = yield* Usher.dataFolder
        const first = yield* serving({ DATA_DIR: dataDir }, Usher.startInTerminal)
        yield* Usher.until(() => first.stdout().includes("auth/guest"))
        const shown = first.stdout().replaceAll("\r\n", "\n")
        const secretKey = /sk_live_[\w-]+/.exec(shown)![0]
        const list = yield* get(`${first.adminUrl}/api/experiences`, { authorization: `Bearer ${secretKey}` })
        assert.strictEqual(list.status, 200)

        const commands = shown.replaceAll("\\\n", " ").match(/^ +curl .*$/gm)!
        assert.strictEqual(commands.length, 2)
        for (const command of commands) {
          const { status, body } = yield* asCurl(command)
          assert.include([200, 201], status, `${command}\n${body}`)
        }

        first.child.stdin?.write(controlC)
        assert.strictEqual((yield* Usher.end(first)).code, 0)
        const second = yield* serving({ DATA_DIR: dataDir }, Usher.startInTerminal)
        const again = yield* get(`${second.adminUrl}/api/experiences`, { authorization: `Bearer ${secretKey}` })
        assert.strictEqual(((yield* Effect.promise(() => again.json())) as { data: Array<unknown> }).data.length, 1)
        second.child.stdin?.write(controlC)
        assert.notInclude((yield* Usher.end(second)).stdout, "sk_live_")
      })
  )

  it.live("creates no organization without a terminal, and logs how to create one", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase.migratedDatabase
      const settings = { DATABASE_URL: url, LOG_FORMAT: "json" }
      const process = yield* serving(settings)
      const made = yield* UsherInProcess.run(["organizations", "list", "--json"], settings)
      assert.deepStrictEqual(JSON.parse(made.stdout), [])
      process.child.kill("SIGTERM")
      const { stdout, stderr } = yield* Usher.end(process)
      assert.match(stderr, /There is no organization yet\. .*npm run usher -- organizations create --name/)
      assert.notMatch(stdout + stderr, /[ps]k_(live|test)_/)
    })
  )

  it.live(
    "finishes requests in flight on SIGTERM, does not wait for one that is never completed, stops its database and ends with code 0",
    () =>
      Effect.gen(function* () {
        const { dataDir, pidFile } = yield* Usher.migratedFolder
        const process = yield* serving({ DATA_DIR: dataDir, SHUTDOWN_TIMEOUT_SECONDS: "20" })
        assert.strictEqual((yield* get(`${process.consumerUrl}/ready`)).status, 200)
        const inFlight = yield* halfRequest(process.consumerUrl)
        yield* halfRequest(process.consumerUrl)
        process.child.kill("SIGTERM")
        yield* Effect.sleep("300 millis")
        assert.isNull(process.child.exitCode)
        assert.match(yield* inFlight.finish, /^HTTP\/1\.1 200 /)
        const { code, stderr } = yield* Usher.end(process)
        assert.strictEqual(code, 0, `a graceful end, before the timeout forces one: ${stderr}`)
        assert.isFalse(existsSync(pidFile))
      })
  )

  it.live("ends at once, with code 1, when a graceful shutdown takes longer than SHUTDOWN_TIMEOUT_SECONDS", () =>
    Effect.gen(function* () {
      const { dataDir, pidFile } = yield* Usher.migratedFolder
      const { child, ...run } = yield* serving({ DATA_DIR: dataDir, SHUTDOWN_TIMEOUT_SECONDS: "2" })
      // A suspended database server cannot be stopped gracefully.
      process.kill(Number(readFileSync(pidFile, "utf8").split("\n")[0]), "SIGSTOP")
      child.kill("SIGTERM")
      const { code, stderr } = yield* Usher.end({ child, ...run })
      assert.strictEqual(code, 1)
      assert.include(stderr, "Not ended after 2 seconds (SHUTDOWN_TIMEOUT_SECONDS)")
    })
  )

  it.live("counts two simultaneous signals as one, and ends at once on a later second signal", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase.migratedDatabase
      const process = yield* serving({ DATABASE_URL: url })
      yield* halfRequest(process.consumerUrl)
      process.child.kill("SIGINT")
      yield* Effect.sleep("50 millis")
      process.child.kill("SIGINT")
      yield* Effect.sleep("1500 millis")
      assert.isNull(process.child.exitCode)
      // A busy process may notice the first signal so late that this one still counts as its repetition.
      const signals = Effect.sync(() => process.child.kill("SIGINT")).pipe(Effect.andThen(Effect.sleep("250 millis")))
      const { code, stderr } = yield* Effect.raceFirst(Usher.end(process), Effect.forever(signals))
      assert.strictEqual(code, 1)
      assert.include(stderr, "ending at once")
    })
  )

  it.live("restarts after it was killed, on the database server that was left running", () =>
    Effect.gen(function* () {
      const { dataDir, pidFile } = yield* Usher.migratedFolder
      const first = yield* serving({ DATA_DIR: dataDir })
      const { secretKey } = yield* organization({ DATA_DIR: dataDir })
      const pid = readFileSync(pidFile, "utf8").split("\n")[0]
      first.child.kill("SIGKILL")
      yield* Usher.end(first)
      const second = yield* serving({ DATA_DIR: dataDir })
      assert.strictEqual(readFileSync(pidFile, "utf8").split("\n")[0], pid)
      const list = yield* get(`${second.adminUrl}/api/experiences`, { authorization: `Bearer ${secretKey}` })
      assert.strictEqual(list.status, 200)
      assert.notInclude(second.stderr(), "no organization")
    })
  )

  it.live(
    "shares its database with a second process, and accepts keys of organizations created meanwhile at once",
    () =>
      Effect.gen(function* () {
        const { dataDir, pidFile } = yield* Usher.migratedFolder
        const first = yield* serving({ DATA_DIR: dataDir })
        const second = yield* serving({ DATA_DIR: dataDir })
        const { secretKey } = yield* organization({ DATA_DIR: dataDir })
        for (const { adminUrl } of [first, second]) {
          const response = yield* get(`${adminUrl}/api/experiences`, { authorization: `Bearer ${secretKey}` })
          assert.strictEqual(response.status, 200)
        }
        const shown = yield* UsherInProcess.run(["nodes", "--json"], { DATA_DIR: dataDir })
        const nodes = JSON.parse(shown.stdout) as ReadonlyArray<Record<string, unknown>>
        assert.deepStrictEqual(
          nodes.map(({ address, shards }) => [address, shards]),
          [
            [null, null],
            [null, null]
          ]
        )
        first.child.kill("SIGTERM")
        assert.strictEqual((yield* Usher.end(first)).code, 0)
        assert.isTrue(existsSync(pidFile))
        assert.strictEqual((yield* get(`${second.consumerUrl}/ready`)).status, 200)
        second.child.kill("SIGTERM")
        assert.strictEqual((yield* Usher.end(second)).code, 0)
        assert.isFalse(existsSync(pidFile))
      })
  )

  it.live("prevents other programs from changing the schema while it runs", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase.migratedDatabase
      const settings = { DATABASE_URL: url, LOG_LEVEL: "warn", NODE_NAME: "alone" }
      const process = yield* serving(settings)
      const shown = yield* UsherInProcess.run(["nodes"], settings)
      assert.match(
        shown.stdout,
        /^NODE +ADDRESS +VERSION +PROTOCOL +LEVEL +SCHEMA +SHARDS .*\nalone +- +\d+\.\d+\.\d+ .* - /
      )
      for (const command of ["migrate", "serve"]) {
        const another = { ...anyPorts, ...settings, NODE_NAME: "another" }
        const { code, stderr } = yield* UsherInProcess.run([command], another, exclusiveRelease)
        assert.strictEqual(code, 1)
        assert.match(stderr, /under processes that work with an earlier one\. End them first: alone \(/)
      }
      assert.isNull(process.child.exitCode)
    })
  )

  it.live("names the setting whose port is taken, and leaves no database server running", () =>
    Effect.gen(function* () {
      const { dataDir, pidFile } = yield* Usher.migratedFolder
      const taken = yield* takenPort
      for (const variable of ["CONSUMER_PORT", "ADMIN_PORT"]) {
        const settings = { ...anyPorts, [variable]: `${taken}`, DATA_DIR: dataDir }
        const { code, stderr } = yield* UsherInProcess.run(["serve"], settings)
        assert.strictEqual(code, 1)
        assert.include(stderr, `usher: ${variable}: port ${taken} of 127.0.0.1 is taken`)
        assert.isFalse(existsSync(pidFile))
      }
    })
  )

  it.live("names OPERATIONS_PORT when that port is taken", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase.migratedDatabase
      const taken = yield* takenPort
      const settings = { ...anyPorts, OPERATIONS_PORT: `${taken}`, DATABASE_URL: url }
      const { code, stderr } = yield* Usher.run(["serve"], settings)
      assert.strictEqual(code, 1)
      assert.match(stderr, new RegExp(`usher: OPERATIONS_PORT: cannot listen .*127\\.0\\.0\\.1:${taken}`))
    })
  )

  it.live("names HOST when it is not an address of this machine", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase.migratedDatabase
      const { code, stderr } = yield* UsherInProcess.run(["serve"], {
        ...anyPorts,
        HOST: "192.0.2.1",
        DATABASE_URL: url
      })
      assert.strictEqual(code, 1)
      assert.include(stderr, "usher: HOST: 192.0.2.1 is not an address of this machine")
    })
  )

  it.live("names ADMIN_HOST and ADMIN_PORT when the Admin API cannot listen there", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase.migratedDatabase
      const away = yield* UsherInProcess.run(["serve"], {
        ...anyPorts,
        ADMIN_HOST: "192.0.2.1",
        DATABASE_URL: url
      })
      assert.strictEqual(away.code, 1)
      assert.include(away.stderr, "usher: ADMIN_HOST: 192.0.2.1 is not an address of this machine")
      const taken = yield* takenPort
      const addresses = { HOST: "0.0.0.0", ADMIN_HOST: "127.0.0.1", CONSUMER_PORT: "0", ADMIN_PORT: `${taken}` }
      const { code, stderr } = yield* UsherInProcess.run(["serve"], { ...addresses, DATABASE_URL: url })
      assert.strictEqual(code, 1)
      assert.include(stderr, `usher: ADMIN_PORT: port ${taken} of 127.0.0.1 is taken`)
    })
  )
})

const takenPort = Effect.acquireRelease(
  Effect.callback<{ readonly port: number; readonly close: () => void }>((resume) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { readonly port: number }
      resume(Effect.succeed({ port, close: () => server.close() }))
    })
  }),
  ({ close }) => Effect.sync(close)
).pipe(Effect.map(({ port }) => port))

/** Sends the request of a curl command from the welcome text. */
const asCurl = (command: string) =>
  Effect.promise(async () => {
    const words = [...command.trim().matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
      (match) => match[1] ?? match[2] ?? match[3]!
    )
    const headers = words.flatMap((word, index) =>
      words[index - 1] === "-H" ? [word.split(": ") as [string, string]] : []
    )
    const data = words[words.indexOf("-d") + 1]
    const response = await fetch(
      words.find((word) => word.startsWith("http"))!,
      {
        method: "POST",
        headers,
        ...(words.includes("-d") ? { body: data! } : {})
      }
    )
    return { status: response.status, body: await response.text() }
  })
