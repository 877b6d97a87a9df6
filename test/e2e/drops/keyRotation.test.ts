/**
 * Rotates keys while two processes on one database use them. After the response to a rotation, neither process accepts
 * a new request with the old key, and both accept the new key.
 */
import { afterAll, assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Scope } from "effect"
import { randomBytes } from "node:crypto"
import { organization, serving } from "../../cli/servingProcess.ts"
import * as UsherInProcess from "../../cli/usherInProcess.ts"
import * as Usher from "../../cli/usherProcess.ts"
import * as TestDatabase from "../../store/support/TestDatabase.ts"
import { nodeSettings } from "../support/Nodes.ts"

const rotations = Number(process.env["KEY_ROTATIONS"] ?? 8)
const workers = 6

/** The lifetime of a key, in milliseconds of this process's clock. */
interface Lifetime {
  readonly key: string
  /** The arrival of the response that returned the key. */
  readonly from: number
  /** The times of the rotation that ends the key: its request and its response. */
  requestedAt: number
  endedAt: number
}

/** One use of a key, and whether the server accepted it. */
interface Use {
  readonly life: Lifetime
  readonly at: number
  readonly isAccepted: boolean
}

/** Returns proxy headers with a random address, so that refusals do not count against later requests. */
const forwarded = () => {
  const [a, b, c] = randomBytes(3)
  return { "x-forwarded-for": `10.${a}.${b}.${c}`, "x-forwarded-proto": "https" }
}

/** Starts two servers on a new database, with an organization. */
const twoServers = Effect.fnUntraced(function* (own: Effect.Effect<Record<string, string>>) {
  const { url } = yield* TestDatabase.migratedDatabase
  const settings = { DATABASE_URL: url, TRUSTED_PROXIES: "127.0.0.0/8", LOG_LEVEL: "warn" }
  const made = yield* organization(settings)
  const start = Effect.flatMap(own, (more) => serving({ ...settings, ...more }))
  return { settings, made, processes: [yield* start, yield* start] as const }
})

const scope = Effect.runSync(Scope.make())
afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))

/** Two processes that two tests use. */
const twoProcesses = Effect.runSync(Effect.cached(Scope.provide(twoServers(Effect.succeed({})), scope)))
const twoNodes = twoServers(Effect.promise(nodeSettings))

describe("Keys under load in two processes", () => {
  it.live.each([
    ["processes", twoProcesses],
    ["nodes", twoNodes]
  ] as const)("are invalid everywhere once their rotation responds, in two %s", ([, servers]) =>
    Effect.gen(function* () {
      const { processes, made } = yield* servers
      const { organizationId, publishableKey, secretKey } = made

      const born = (key: string): Lifetime => ({
        key,
        from: performance.now(),
        requestedAt: Infinity,
        endedAt: Infinity
      })
      const lives = { publishable: [born(publishableKey)], secret: [born(secretKey)] }
      const uses: Array<Use> = []
      const load = { isOver: false }

      const headersOf = (kind: Kind, key: string) =>
        kind === "secret" ? { authorization: `Bearer ${key}` } : { "x-publishable-key": key }

      /** Uses the newest keys and the last old ones, in both processes, until the load is over. */
      const worker = async () => {
        for (let turn = 0; !load.isOver; turn++) {
          const kind: Kind = turn % 2 === 0 ? "publishable" : "secret"
          const life = lives[kind].at(-1 - (turn % 3 === 0 ? 1 : 0)) ?? lives[kind][0]!
          const { consumerUrl } = processes[Math.floor(Math.random() * 2)]!
          const at = performance.now()
          const response = await fetch(`${consumerUrl}/api/queues/${organizationId}`, {
            headers: { ...headersOf(kind, life.key), ...forwarded() }
          })
          await response.arrayBuffer()
          assert.include([404, 401], response.status)
          uses.push({ life, at, isAccepted: response.status === 404 })
        }
      }

      const rotate = async (kind: Kind, adminUrl: string) => {
        const old = lives[kind].at(-1)!
        const secret = lives.secret.at(-1)!.key
        old.requestedAt = performance.now()
        const response = await fetch(`${adminUrl}/api/api-keys/${kind}/rotate`, {
          method: "POST",
          headers: { authorization: `Bearer ${secret}`, ...forwarded() }
        })
        assert.strictEqual(response.status, 200)
        const { key } = (await response.json()) as { readonly key: string }
        old.endedAt = performance.now()
        lives[kind].push(born(key))
        return old.endedAt - old.requestedAt
      }

      const took: Array<number> = []
      yield* Effect.promise(async () => {
        const busy = Array.from({ length: workers }, worker)
        try {
          for (let count = 0; count < rotations; count++) {
            const { adminUrl } = processes[count % 4 < 2 ? 0 : 1]
            took.push(await rotate(count % 2 === 0 ? "publishable" : "secret", adminUrl))
            await new Promise((resolve) => setTimeout(resolve, 50))
          }
        } finally {
          load.isOver = true
          await Promise.all(busy)
        }
      })

      const late = uses.filter(({ at, life }) => at > life.endedAt)
      const good = uses.filter(({ at, life }) => at > life.from && at < life.requestedAt)
      assert.isAbove(late.length, rotations * 3, "requests used old keys after their end")
      assert.isAbove(good.length, rotations * 3, "requests used new keys")
      assert.deepStrictEqual(late.filter(({ isAccepted }) => isAccepted).length, 0)
      // A request that was in flight during its key's rotation may succeed or fail. All other requests must succeed.
      const untouched = good.filter(({ at, life }) => life.requestedAt - at > 500 || life.requestedAt === Infinity)
      assert.deepStrictEqual(untouched.filter(({ isAccepted }) => !isAccepted).length, 0)
      assert.isBelow(Math.max(...took.slice(1)), 5_000, "no rotation waited for an unreachable process")
      yield* Effect.logInfo(
        `${rotations} rotations under ${uses.length} requests: ${late.length} with an old key after the response, 0 accepted; ` +
          `median ${took.toSorted((a, b) => a - b)[took.length >> 1]!.toFixed(1)} ms per rotation`
      )
    })
  )

  it.live("are rotated by the command line while servers run, and are invalid there immediately", () =>
    Effect.gen(function* () {
      const { settings, processes } = yield* twoProcesses
      const { organizationId, secretKey } = yield* organization(settings)
      const statuses = (key: string) =>
        Effect.forEach(processes, ({ adminUrl }) =>
          Effect.promise(async () => {
            const headers = { authorization: `Bearer ${key}`, ...forwarded() }
            return (await fetch(`${adminUrl}/api/api-keys`, { headers })).status
          })
        )
      assert.deepStrictEqual(yield* statuses(secretKey), [200, 200])
      const args = ["keys", "rotate", "--organization", organizationId, "--kind", "secret", "--mode", "live", "--json"]
      const { stdout, stderr } = yield* Usher.run(args, settings)
      assert.strictEqual(stderr, "")
      const { key, display } = JSON.parse(stdout) as { readonly key: string; readonly display: string }
      assert.deepStrictEqual(yield* statuses(secretKey), [401, 401])
      assert.deepStrictEqual(yield* statuses(key), [200, 200])

      const listed = yield* UsherInProcess.run(["keys", "list", "--organization", organizationId, "--json"], settings)
      const keys = JSON.parse(listed.stdout) as ReadonlyArray<{ readonly display: string }>
      assert.strictEqual(keys.length, 4)
      assert.include(
        keys.map((shown) => shown.display),
        display
      )
      assert.notInclude(listed.stdout, key)

      const jwks = () =>
        Effect.forEach(processes, ({ consumerUrl }) =>
          Effect.promise(() => fetch(`${consumerUrl}/.well-known/jwks.json`).then((response) => response.json())).pipe(
            Effect.map((body) => (body as { keys: Array<{ kid: string }> }).keys.map(({ kid }) => kid))
          )
        )
      const before = yield* jwks()
      const rotated = yield* UsherInProcess.run(["signing-keys", "rotate", "--json"], settings)
      const { kid } = JSON.parse(rotated.stdout) as { readonly kid: string }
      for (const kids of yield* jwks()) assert.deepStrictEqual(kids, [kid, ...before[0]])
      const isCurrent = yield* UsherInProcess.run(["signing-keys", "remove", "--kid", kid], settings)
      assert.strictEqual(isCurrent.code, 1)
      assert.include(isCurrent.stderr, "usher signing-keys rotate")
      assert.strictEqual(
        (yield* UsherInProcess.run(["signing-keys", "remove", "--kid", before[0][0]!], settings)).code,
        0
      )
      for (const kids of yield* jwks()) assert.deepStrictEqual(kids, [kid])
    })
  )
})

type Kind = "publishable" | "secret"
