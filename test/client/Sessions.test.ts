/** The session of a client: kept, refreshed once for all tabs, and not lost with an answer. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Usher as Client } from "../../src/client/client.ts"
import { Usher } from "../http/support/usherFixture.ts"
import { asBrandServer, room } from "../pages/support/roomFixture.ts"
import * as Fixture from "../pages/support/roomFixture.ts"
import { client, memoryStorage, seen, subscribed } from "./support/clientFixture.ts"
import { proxied } from "./support/proxy.ts"

const queue = { name: "Front door", admitRate: 0 }

type Storage = ReturnType<typeof memoryStorage>

const kept = (storage: Storage) => JSON.parse([...storage.kept.values()][0]!)

/** Makes the kept access token look as if it expired now. */
const expire = (storage: Storage) => {
  const [key] = [...storage.kept.keys()]
  storage.kept.set(key!, JSON.stringify({ ...kept(storage), expiresAt: 0 }))
}

layer(Fixture.layer, { excludeTestServices: true })("the session of a client", (it) => {
  it.effect("is refreshed once for two tabs at the same time, and both go on", () =>
    Effect.gen(function* () {
      const { consumerUrl } = yield* Usher
      const proxy = yield* proxied(consumerUrl)
      const { experienceId } = yield* room({ queues: [queue] })
      const storage = memoryStorage()
      const tabs = [yield* client(storage, proxy.url), yield* client(storage, proxy.url)]
      yield* Effect.promise(() => tabs[0]!.experience(experienceId).act("enter"))
      const before = kept(storage)
      expire(storage)
      yield* Effect.promise(() => Promise.all(tabs.map((tab) => tab.experience(experienceId).load())))
      assert.strictEqual(proxy.seen.filter((line) => line === "POST /api/auth/refresh").length, 1)
      assert.notStrictEqual(kept(storage).refreshToken, before.refreshToken)
      for (const tab of tabs) assert.strictEqual(tab.experience(experienceId).getSnapshot().state, "waiting")
    })
  )

  it.effect("survives a refresh whose answer was lost, also when the page is closed meanwhile", () =>
    Effect.gen(function* () {
      const { consumerUrl, brand } = yield* Usher
      const proxy = yield* proxied(consumerUrl)
      const { experienceId } = yield* room({ queues: [queue] })
      const storage = memoryStorage()
      const first = yield* client(storage, proxy.url)
      yield* Effect.promise(() => first.experience(experienceId).act("enter"))
      expire(storage)
      proxy.loseAnswerTo("POST /api/auth/refresh")
      const stop = new AbortController()
      const { promise: lost, resolve } = Promise.withResolvers<void>()
      proxy.onLost(resolve)
      first
        .experience(experienceId)
        .load({ signal: stop.signal })
        .catch(() => {})
      yield* Effect.promise(() => lost)
      stop.abort()
      const { attempt, refreshToken } = kept(storage)
      assert.isString(attempt)
      // The server has replaced the token already. A later page repeats the refresh by its name.
      const later = new Client({ url: consumerUrl, publishableKey: brand.publishableKey, storage })
      yield* Effect.promise(() => later.experience(experienceId).load())
      assert.strictEqual(later.experience(experienceId).getSnapshot().state, "waiting")
      assert.notStrictEqual(kept(storage).refreshToken, refreshToken)
      assert.isUndefined(kept(storage).attempt)
    })
  )

  it.effect("that the server has ended is forgotten, and the next entry is that of another guest", () =>
    Effect.gen(function* () {
      const { consumerUrl } = yield* Usher
      const { experienceId } = yield* room({ queues: [queue] })
      const storage = memoryStorage()
      const store = (yield* client(storage)).experience(experienceId)
      yield* Effect.promise(() => store.act("enter"))
      const { accessToken, session } = kept(storage)
      yield* Effect.promise(() =>
        fetch(`${consumerUrl}/api/auth/logout`, { method: "POST", headers: { authorization: `Bearer ${accessToken}` } })
      )
      yield* Effect.promise(() => store.load())
      assert.strictEqual(store.getSnapshot().state, "enterable")
      assert.strictEqual(storage.kept.size, 0)
      yield* Effect.promise(() => store.act("enter"))
      assert.notStrictEqual(kept(storage).session.consumerId, session.consumerId)
    })
  )

  it.effect("sees its place again when the connection was cut, and polls while streams fail", () =>
    Effect.gen(function* () {
      const { consumerUrl } = yield* Usher
      const proxy = yield* proxied(consumerUrl)
      const { experienceId, sequence } = yield* room({ queues: [queue] })
      const store = (yield* client(memoryStorage(), proxy.url)).experience(experienceId)
      yield* subscribed(store)
      yield* seen(store, ({ state }) => state === "enterable")
      const { session } = yield* Effect.promise(() => store.act("enter"))
      const path = `/queues/${sequence.queues[0].id}`
      proxy.refuse(/\/events$/)
      proxy.cut()
      yield* asBrandServer("POST", `${path}/admit`, { consumerId: session!.consumerId })
      const granted = yield* seen(store, ({ state }) => state === "granted")
      assert.strictEqual(granted.places[0]!.state, "granted")
      assert.isTrue(proxy.seen.includes(`GET /api${path}/status`))
      proxy.refuse(undefined)
      yield* asBrandServer("POST", `${path}/complete`, { consumerId: session!.consumerId })
      yield* seen(store, ({ state }) => state === "ended")
    })
  )

  it.effect("keeps the last known state while Usher is away, and is unreachable if there is none", () =>
    Effect.gen(function* () {
      const { consumerUrl } = yield* Usher
      const proxy = yield* proxied(consumerUrl)
      const { experienceId } = yield* room({ queues: [queue] })
      const known = (yield* client(memoryStorage(), proxy.url)).experience(experienceId)
      yield* subscribed(known)
      yield* seen(known, ({ state }) => state === "enterable")
      yield* Effect.promise(() => known.act("enter"))
      proxy.refuse(/./)
      proxy.cut()
      const cut = yield* seen(known, ({ isConnected }) => !isConnected)
      assert.strictEqual(cut.state, "waiting")
      const fresh = (yield* client(memoryStorage(), proxy.url)).experience(experienceId)
      yield* subscribed(fresh)
      yield* seen(fresh, ({ state }) => state === "unreachable")
      proxy.refuse(undefined)
      yield* seen(fresh, ({ state, isConnected }) => state === "enterable" && isConnected)
      yield* seen(known, ({ state, isConnected }) => state === "waiting" && isConnected)
    })
  )
})
