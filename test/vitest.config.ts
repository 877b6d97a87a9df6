import { defineConfig } from "vitest/config"

/** Tests that start processes: servers, commands, programs that are measured. */
const processes = [
  "test/e2e/**/*.test.ts",
  "test/cli/{CommandLine,Secrets,Serve,VerifyDraw}.test.ts",
  "test/store/postgres/embedded/DatabaseEmbedded.test.ts",
  "test/bench/{load/LoadGenerator,load/Streams,programs/Programs,setup/Inspector}.test.ts"
]

/** Tests of stores and of both APIs: each needs its own database, and most need servers in the tests' process. */
const services = ["test/{store,http}/**/*.test.ts"]

export default defineConfig({
  test: {
    root: ".",
    globalSetup: ["test/support/globalSetup.ts"],
    // Tests wait for databases and for processes that start, so three workers occupy two cores.
    maxWorkers: 3,
    // A hung test is ended. A slow machine needs a fraction of this.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // The projects run in the order of their names. Files that run in one worker share the modules they load.
    isolate: false,
    projects: [
      { extends: true, test: { name: "processes", include: processes } },
      { extends: true, test: { name: "services", include: services, exclude: processes } },
      {
        extends: true,
        test: { name: "unit", include: ["test/**/*.test.ts"], exclude: [...processes, ...services] }
      }
    ]
  }
})
