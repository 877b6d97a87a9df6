/**
 * Takes the database away while consumers wait: it refuses writes, its process is suspended, or it shuts down. Waiting
 * consumers must still read their places unchanged, and all other requests are refused with Retry-After. After its
 * return everything continues, and nothing acknowledged is lost. The consumers talk to one process, or to three nodes
 * behind HAProxy; without HAProxy to the nodes in turns.
 */
import { Apis } from "../support/Apis.ts"
import { Balancer, behindBalancer, isInstalled } from "../support/Balancer.ts"
import { Nodes } from "../support/Nodes.ts"
import { OwnPostgres } from "../support/OwnPostgres.ts"
import { pause } from "../support/Processes.ts"
import { ServerUnderTest } from "../support/ServerUnderTest.ts"
import { type Figures, WaitingScene } from "../load/WaitingScene.ts"

/** The ways in which the database goes away and returns. */
const absences = {
  "read-only": {
    begin: (database: OwnPostgres) => database.setReadOnly(true),
    end: (database: OwnPostgres) => database.setReadOnly(false)
  },
  stopped: {
    begin: (database: OwnPostgres) => database.freeze(),
    end: async (database: OwnPostgres) => database.thaw()
  },
  ended: {
    begin: (database: OwnPostgres) => database.end(),
    end: (database: OwnPostgres) => database.start()
  }
}

export type Absence = keyof typeof absences

export type Way = { readonly absence: Absence; readonly awayMillis: number }

/** Takes the database away from one process in each of the ways, one after another. Returns the figures of each. */
export async function databaseAwayProof(ways: ReadonlyArray<Way>): Promise<ReadonlyArray<Figures>> {
  await using database = await OwnPostgres.make()
  await using server = await ServerUnderTest.make({ database })
  await server.start()
  return await absent(ways, { database, servers: [server], front: server })
}

/** The same for three nodes behind a balancer. */
export async function databaseAwayFromNodesProof(ways: ReadonlyArray<Way>): Promise<ReadonlyArray<Figures>> {
  await using database = await OwnPostgres.make()
  await using nodes = await Nodes.make({ count: 3, database, settings: isInstalled ? behindBalancer : {} })
  await nodes.start()
  if (!isInstalled) return await absent(ways, { database, servers: nodes.all, front: nodes.all })
  await using balancer = await Balancer.make(nodes.all)
  return await absent(ways, { database, servers: nodes.all, front: balancer })
}

interface Installation {
  readonly database: OwnPostgres
  readonly servers: ReadonlyArray<ServerUnderTest>
  /** Where the requests of consumers go. */
  readonly front: ConstructorParameters<typeof Apis>[0]
}

async function absent(
  ways: ReadonlyArray<Way>,
  { database, servers, front }: Installation
): Promise<ReadonlyArray<Figures>> {
  const keys = await servers[0]!.createOrganization()
  using apis = new Apis(front, keys)
  const each = servers.map((server) => new Apis(server, keys, 16))
  const restart = async () => {
    await Promise.all(servers.map((server) => server.kill()))
    await Promise.all(servers.map((server) => server.start()))
    while ((await apis.admin.send({ method: "GET", path: "/ready" })).status !== 200) await pause(100)
  }
  const all: Array<Figures> = []
  let last: WaitingScene | undefined
  for (const { absence, awayMillis } of ways) {
    const scene = await WaitingScene.set(apis, servers.length > 1)
    // The restarted process has cached only the tokens that `check` of the last scene and `showTokens` send.
    await restart()
    await last?.check()
    await scene.showTokens(each)

    const { begin, end } = absences[absence]
    await begin(database)
    await scene.watch(awayMillis, absence !== "read-only")
    const over = performance.now()
    await end(database)
    await scene.resume(servers, over)
    all.push(scene.figures)
    last = scene
  }
  await restart()
  await last?.check()
  for (const one of each) one[Symbol.dispose]()
  return all
}
