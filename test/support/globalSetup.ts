/** The resource that a whole test run shares: one Postgres server. */
import { start } from "../store/support/TestServer.ts"

let stop: (() => Promise<void>) | undefined

export const setup = async (): Promise<void> => {
  stop = await start()
}

export const teardown = (): Promise<void> | undefined => stop?.()
