/** Several servers that share one database as nodes, each in its own process. */
import type { Apis } from "./Apis.ts"
import type { FreshDatabase } from "./FreshDatabase.ts"
import { freePort } from "./Processes.ts"
import { ServerUnderTest } from "./ServerUnderTest.ts"

/** Returns the settings that make a server a node, with a free port. */
export const nodeSettings = async () => ({ CLUSTER: "true", CLUSTER_PORT: `${await freePort()}` })

export interface Options {
  readonly count: number
  /** The database to use. Default: a new one, disposed with the nodes. */
  readonly database?: FreshDatabase
  readonly settings?: NodeJS.ProcessEnv
}

export class Nodes {
  readonly all: ReadonlyArray<ServerUnderTest>

  /** Creates nodes without starting them. */
  static async make({ count, database, settings }: Options): Promise<Nodes> {
    const all: Array<ServerUnderTest> = []
    for (let index = 0; index < count; index++) {
      const [first] = all
      const own = { ...settings, ...(await nodeSettings()) }
      const where = first === undefined ? (database === undefined ? {} : { database }) : { sharing: first }
      all.push(await ServerUnderTest.make({ ...where, settings: own }))
    }
    return new Nodes(all)
  }

  private constructor(all: ReadonlyArray<ServerUnderTest>) {
    this.all = all
  }

  /** Starts all nodes, each with a program of its own if there is one. Returns when all are ready. */
  async start(program?: () => ReadonlyArray<string>): Promise<void> {
    await Promise.all(this.all.map((node) => node.start(program?.())))
  }

  except(node: ServerUnderTest): ReadonlyArray<ServerUnderTest> {
    return this.all.filter((other) => other !== node)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const node of this.all.toReversed()) await node[Symbol.asyncDispose]()
  }
}

/** Returns the mechanisms that a node owns. */
export async function ownedBy(apis: Apis, node: ServerUnderTest, ids: ReadonlyArray<string>) {
  const homes = await Promise.all(ids.map((id) => apis.live(id)))
  return ids.filter((_, index) => homes[index]!.node === node.name)
}
