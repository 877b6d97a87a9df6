/** What a whole test run shares: a temporary folder in memory, and one Postgres server. */
import { start } from "../store/support/TestServer.ts"
import { useMemoryFolder } from "./memoryFolder.ts"

let remove = () => {}
let stop: (() => Promise<void>) | undefined

export const setup = async (): Promise<void> => {
  remove = useMemoryFolder()
  // A run that is asked to end has no teardown. Its server ends within a minute, as it misses its folder.
  process.once("exit", remove)
  process.once("SIGTERM", () => process.exit(143))
  stop = await start()
}

export const teardown = async (): Promise<void> => {
  await stop?.()
  remove()
}
