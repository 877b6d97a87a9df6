import { defineConfig } from "vitest/config"

/** Tests that start processes: servers, commands, browsers, programs that are measured. */
const processes = [
  "test/e2e/**/*.test.ts",
  "test/cli/{CommandLine,Load,Secrets,Serve,Traces,VerifyDraw,Webhooks}.test.ts",
  "test/cli/{archive,upgrade}/*.test.ts",
  "test/pages/browser/**/*.test.ts",
  "test/store/postgres/embedded/DatabaseEmbedded.test.ts",
  "test/bench/{load/LoadGenerator,load/Streams,programs/Programs,setup/Inspector}.test.ts"
]

/** Tests that need their own databases. Most start servers in the tests' process. */
const services = ["test/{auth,cli,client,engine,http,pages,store,workers}/**/*.test.ts"]

export default defineConfig({
  test: {
    root: ".",
    globalSetup: ["test/support/globalSetup.ts"],
    // Tests wait for databases, so three workers occupy two cores.
    maxWorkers: 3,
    // A hung test is ended. A slow machine needs a fraction of this.
    testTimeout: 1_800_000,
    hookTimeout: 1_800_000,
    // Files that run in one worker share the modules they load.
    isolate: false,
    projects: [
      // These wait longer, for processes that start and end.
      { extends: true, test: { name: "processes", include: processes, maxWorkers: 4, sequence: { groupOrder: 0 } } },
      { extends: true, test: { name: "services", include: services, exclude: processes, sequence: { groupOrder: 1 } } },
      {
        extends: true,
        test: {
          name: "unit",
          include: ["test/**/*.test.ts"],
          exclude: [...processes, ...services],
          sequence: { groupOrder: 1 }
        }
      }
    ]
  }
})
