/** What a whole test run shares: a temporary folder in memory, and one Postgres server. */
import { JsonReporter, type TestProject, type Vitest } from "vitest/node"
import { start } from "../store/support/TestServer.ts"
import { useMemoryFolder } from "./memoryFolder.ts"

let remove = () => {}
let stop: (() => Promise<void>) | undefined

/** Writes the JSON report of a run that is ended, if the command asks for one. Tests that had not ended are pending in it. */
const report = async (vitest: Vitest): Promise<void> => {
  if (vitest.config.outputFile === undefined) return
  const json = new JsonReporter({})
  json.onInit(vitest)
  await json.onTestRunEnd(vitest.state.getTestModules())
}

export const setup = async ({ vitest }: TestProject): Promise<void> => {
  remove = useMemoryFolder()
  // A run that is asked to end has no teardown. Its server ends within a minute, as it misses its folder.
  process.once("exit", remove)
  // Vitest's own listener would end the process before the report is written. npm passes on a signal that also comes directly.
  process.removeAllListeners("SIGTERM")
  let end: Promise<void> | undefined
  process.on("SIGTERM", () => {
    end ??= report(vitest).finally(() => process.exit(143))
  })
  stop = await start()
}

export const teardown = async (): Promise<void> => {
  await stop?.()
  remove()
}
