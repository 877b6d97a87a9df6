/** Starts nodes with roles, as processes of their own. */
import { Effect } from "effect"
import * as Usher from "../../cli/usherProcess.ts"
import { send } from "../../support/queueOnServer.ts"
import { nodeSettings } from "./Nodes.ts"
import { freePort } from "./Processes.ts"

/** Starts a node with a role. Its ports stay the same if `settings` come from a former one. */
export const node = Effect.fnUntraced(function* (role: "all" | "front" | "engine", settings: Record<string, string>) {
  const run = yield* Usher.start(["serve"], { ...settings, CLUSTER_ROLE: role, LOG_FORMAT: "json" })
  const adminUrl = `http://127.0.0.1:${settings["ADMIN_PORT"]}`
  const consumerUrl = `http://127.0.0.1:${settings["CONSUMER_PORT"]}`
  return { ...run, adminUrl, consumerUrl }
})

export const settingsOn = (url: string, name: string) =>
  Effect.promise(async () => ({
    DATABASE_URL: url,
    NODE_NAME: name,
    CONSUMER_PORT: `${await freePort()}`,
    ADMIN_PORT: `${await freePort()}`,
    ...(await nodeSettings())
  }))

interface Ready {
  readonly status: number
  readonly body: {
    readonly reasons?: object
    readonly node?: { readonly nodes: ReadonlyArray<{ name: string; shards: number }> }
  }
}

export const ready = ({ adminUrl }: { readonly adminUrl: string }): Promise<Ready | undefined> =>
  send("GET", `${adminUrl}/ready`, {}).catch(() => undefined)

export const until = (holds: () => Promise<boolean>) =>
  Effect.promise(async () => {
    while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 50))
  })

export const untilReady = (one: { readonly adminUrl: string }) => until(async () => (await ready(one))?.status === 200)
