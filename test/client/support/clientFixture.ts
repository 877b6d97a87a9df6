/** Clients of browsers without a browser, against a real server. */
import { Effect } from "effect"
import { type ExperienceStore, type Snapshot, type TokenStorage, Usher as Client } from "../../../src/client/client.ts"
import { Usher } from "../../http/support/usherFixture.ts"

/** A storage as a browser has it, which several clients can share as tabs do. */
export const memoryStorage = (): TokenStorage & { readonly kept: Map<string, string> } => {
  const kept = new Map<string, string>()
  return {
    kept,
    getItem: (key) => kept.get(key) ?? null,
    setItem: (key, value) => void kept.set(key, value),
    removeItem: (key) => void kept.delete(key)
  }
}

/** Makes a client of the brand. */
export const client = (storage: TokenStorage = memoryStorage(), url?: string) =>
  Effect.map(
    Usher,
    ({ brand, consumerUrl }) => new Client({ url: url ?? consumerUrl, publishableKey: brand.publishableKey, storage })
  )

/** Waits until the experience is shown so. It has a subscriber meanwhile. */
export const seen = (store: ExperienceStore, isMeant: (snapshot: Snapshot) => boolean): Effect.Effect<Snapshot> =>
  Effect.callback((resume) => {
    const look = () => {
      const snapshot = store.getSnapshot()
      if (isMeant(snapshot)) resume(Effect.succeed(snapshot))
    }
    const stop = store.subscribe(look)
    look()
    return Effect.sync(stop)
  }).pipe(Effect.timeout("20 minutes"), Effect.orDie) as Effect.Effect<Snapshot>

/** Keeps the experience up to date until the scope ends. */
export const subscribed = (store: ExperienceStore) =>
  Effect.acquireRelease(
    Effect.sync(() => store.subscribe(() => {})),
    (stop) => Effect.sync(stop)
  )
