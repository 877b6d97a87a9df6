import { defineConfig } from "vitest/config"

/** Tests that start processes: servers, commands, programs that are measured. */
const processes = [
  "test/e2e/**/*.test.ts",
  "test/cli/{CommandLine,Serve,VerifyDraw}.test.ts",
  "test/store/postgres/embedded/DatabaseEmbedded.test.ts",
  "test/bench/{load/LoadGenerator,load/Streams,programs/Programs,setup/Inspector}.test.ts"
]

export default defineConfig({
  test: {
    root: ".",
    globalSetup: ["test/support/globalSetup.ts"],
    // Most of the time is spent waiting for databases and for processes that start.
    maxWorkers: 2,
    // A hung test is ended. A slow machine needs a fraction of this.
    testTimeout: 600_000,
    hookTimeout: 600_000,
    projects: [
      {
        extends: true,
        // Files that run in one worker share the modules they load.
        test: { name: "unit", include: ["test/**/*.test.ts"], exclude: processes, isolate: false }
      },
      { extends: true, test: { name: "processes", include: processes, isolate: false } }
    ]
  }
})
