import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** Short forms of the proofs: servers and databases are killed, stopped and upgraded. */
const faults = ["test/e2e/faults/**/*.test.ts"]

/** Other tests that start processes: servers, commands, browsers, programs that are measured. */
const processes = [
  "test/e2e/drops/**/*.test.ts",
  "test/cli/{CommandLine,Load,Secrets,Serve,Traces,VerifyDraw,Webhooks}.test.ts",
  "test/cli/{archive,upgrade}/*.test.ts",
  "test/pages/browser/**/*.test.ts",
  "test/store/postgres/embedded/DatabaseEmbedded.test.ts",
  "test/bench/{load/LoadGenerator,load/Streams,programs/Programs,setup/Inspector}.test.ts"
]

/** Tests that need their own databases. Most start servers in the tests' process. */
const services = ["test/{auth,cli,client,engine,http,pages,store,workers}/**/*.test.ts"]

/** The files that take longest, though some are short to read. */
const isLong = ({ moduleId }: TestSpecification) => /\/(States|Serve|Matrix|Contract|Beacon)\.test\.ts$/.test(moduleId)

/** Starts the long files of each project first. Otherwise one worker runs the last of them after all others have ended. */
class LongFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>) {
    // oxlint-disable-next-line unicorn/no-array-sort -- the sequencer's method, which returns a new array
    const projects = Map.groupBy(await super.sort(files), ({ project }) => project)
    return [...projects.values()].flatMap((own) => [...own.filter(isLong), ...own.filter((file) => !isLong(file))])
  }
}

export default defineConfig({
  test: {
    root: ".",
    globalSetup: ["test/support/globalSetup.ts"],
    // Tests wait for databases and processes, so more workers than cores run.
    maxWorkers: 4,
    // A hung test is ended. A slow machine needs a fraction of this.
    testTimeout: 1_800_000,
    hookTimeout: 1_800_000,
    // Files that run in one worker share the modules they load.
    isolate: false,
    sequence: { sequencer: LongFirst },
    projects: [
      { extends: true, test: { name: "faults", include: faults } },
      { extends: true, test: { name: "processes", include: processes } },
      { extends: true, test: { name: "services", include: services, exclude: processes } },
      {
        extends: true,
        test: { name: "unit", include: ["test/**/*.test.ts"], exclude: [...faults, ...processes, ...services] }
      }
    ]
  }
})
