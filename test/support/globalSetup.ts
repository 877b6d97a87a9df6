/** What a whole test run shares: a temporary folder in memory, and one Postgres server. */
import { start } from "../store/support/TestServer.ts"
import { useMemoryFolder } from "./memoryFolder.ts"

let remove = () => {}
let stop: (() => Promise<void>) | undefined

export const setup = async (): Promise<void> => {
  remove = useMemoryFolder()
  stop = await start()
}

export const teardown = async (): Promise<void> => {
  await stop?.()
  remove()
}
