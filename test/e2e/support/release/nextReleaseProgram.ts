/**
 * The command line as the release after this one.
 *
 *     node test/e2e/support/release/nextReleaseProgram.ts serve
 *     node test/e2e/support/release/nextReleaseProgram.ts upgrade finish
 */
import { Effect } from "effect"
import { program, runMain } from "../../../../src/cli/Usher.ts"
import { nextRelease } from "./nextRelease.ts"

runMain(Effect.provide(program, nextRelease))
