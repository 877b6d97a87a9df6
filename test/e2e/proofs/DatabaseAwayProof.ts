/**
 * Takes the database away while consumers wait: it refuses writes, its process is suspended, or it shuts down. Waiting
 * consumers must still read their places unchanged, and all other requests are refused with Retry-After. After its
 * return everything continues, and nothing acknowledged is lost.
 */
import { Apis } from "../support/Apis.ts"
import { OwnPostgres } from "../support/OwnPostgres.ts"
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

/** Takes the database away in each of the ways, one after another. Returns the figures of each absence. */
export async function databaseAwayProof(
  ways: ReadonlyArray<{ readonly absence: Absence; readonly awayMillis: number }>
): Promise<ReadonlyArray<Figures>> {
  await using database = await OwnPostgres.make()
  await using server = await ServerUnderTest.make({ database })
  await server.start()
  using apis = new Apis(server, await server.createOrganization())
  const restart = async () => {
    await server.kill()
    await server.start()
  }
  const all: Array<Figures> = []
  let last: WaitingScene | undefined
  for (const { absence, awayMillis } of ways) {
    const scene = await WaitingScene.set(apis)
    // The restarted process has cached only the tokens that `check` of the last scene and `showTokens` send.
    await restart()
    await last?.check()
    await scene.showTokens()

    const { begin, end } = absences[absence]
    await begin(database)
    await scene.watch(awayMillis, absence !== "read-only")
    const over = performance.now()
    await end(database)
    await scene.resume(server, over)
    all.push(scene.figures)
    last = scene
  }
  await restart()
  await last?.check()
  return all
}
