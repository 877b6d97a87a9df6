import { defineConfig } from "vitest/config"
import { BaseSequencer, type TestSpecification } from "vitest/node"

/** Short forms of the proofs: servers and databases are killed, stopped and upgraded. */
const faults = ["test/e2e/faults/**/*.test.ts"]

/** The files that take longest. */
const long = /\/(Serve|States|Matrix|Contract|demo|Load|Beacon|WatchedDistributions)\.test\.ts$/

/** Files whose tests wait for processes, browsers, databases and clocks. */
const waiting = /\/test\/(beacon|bench|cli|delivery|e2e|pages\/browser|store)\//

const rank = ({ moduleId }: TestSpecification) => (long.test(moduleId) ? 0 : waiting.test(moduleId) ? 1 : 2)

/** Starts long and waiting files first, so that short ones use the processor meanwhile and none is left over at the end. */
class LongFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>) {
    // oxlint-disable-next-line unicorn/no-array-sort -- the sequencer's method, which returns a new array
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => rank(a) - rank(b))
  }
}

export default defineConfig({
  test: {
    root: ".",
    globalSetup: ["test/support/globalSetup.ts"],
    // Tests wait for databases and processes, so more workers than cores run.
    maxWorkers: 4,
    // A hung test is ended. A slow machine needs a fraction of this.
    testTimeout: 1_200_000,
    hookTimeout: 1_200_000,
    // Files that run in one worker share the modules they load. A worker serves one project.
    isolate: false,
    sequence: { sequencer: LongFirst },
    projects: [
      { extends: true, test: { name: "faults", include: faults } },
      { extends: true, test: { name: "tests", include: ["test/**/*.test.ts"], exclude: faults } }
    ]
  }
})
