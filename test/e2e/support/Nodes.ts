/**
 * Several servers that share one database as nodes, each a process of its own.
 */
import type { Apis } from "./Apis.ts"
import type { FreshDatabase } from "./FreshDatabase.ts"
import { freePort } from "./Processes.ts"
import { ServerUnderTest } from "./ServerUnderTest.ts"

/** What makes a server a node, at an address of its own. */
export const nodeSettings = async () => ({ CLUSTER: "true", CLUSTER_PORT: `${await freePort()}` })

export interface Options {
  readonly count: number
  /** A database to use; otherwise a fresh one, which goes with the nodes. */
  readonly database?: FreshDatabase
  readonly settings?: NodeJS.ProcessEnv
}

export class Nodes {
  readonly all: ReadonlyArray<ServerUnderTest>

  /** Nodes that do not run yet. */
  static async make({ count, database, settings }: Options): Promise<Nodes> {
    const all: Array<ServerUnderTest> = []
    for (let index = 0; index < count; index++) {
      const [beside] = all
      const own = { ...settings, ...(await nodeSettings()) }
      const where = beside === undefined ? (database === undefined ? {} : { database }) : { beside }
      all.push(await ServerUnderTest.make({ ...where, settings: own }))
    }
    return new Nodes(all)
  }

  private constructor(all: ReadonlyArray<ServerUnderTest>) {
    this.all = all
  }

  /** Starts all at once; returns when each is ready. */
  async start(): Promise<void> {
    await Promise.all(this.all.map((node) => node.start()))
  }

  except(node: ServerUnderTest): ReadonlyArray<ServerUnderTest> {
    return this.all.filter((other) => other !== node)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const node of this.all.toReversed()) await node[Symbol.asyncDispose]()
  }
}

/** Those of the mechanisms that live on a node. */
export async function livingOn(apis: Apis, node: ServerUnderTest, ids: ReadonlyArray<string>) {
  const homes = await Promise.all(ids.map((id) => apis.live(id)))
  return ids.filter((_, index) => homes[index]!.node === node.name)
}
