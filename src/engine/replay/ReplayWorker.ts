/** Worker thread that takes the events of a journal, replays them when it is sent their level, and posts the outcome. */
import { parentPort, workerData } from "node:worker_threads"
import type { Event } from "../../domain/mechanism/Decider.ts"
import { onceMore, type Request } from "./OnceMore.ts"

const events: Array<Event> = []

parentPort?.on("message", (sent: ReadonlyArray<Event> | number) => {
  if (typeof sent === "number") {
    parentPort?.postMessage(onceMore(workerData as Request, sent, events))
    return
  }
  for (const event of sent) events.push(event)
})
