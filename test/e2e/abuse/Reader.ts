/** A thread that reads one path with eight connections. It posts what became of it. */
import { parentPort, workerData } from "node:worker_threads"
import { summary } from "./Attacks.ts"
import { Client, type Response, type Sent } from "./Clients.ts"

export interface Reading {
  readonly url: string
  readonly sent: Sent
  readonly millis: number
}

const { url, sent, millis } = workerData as Reading
const client = new Client(url, "127.0.0.3")
const responses: Array<Pick<Response, "status">> = []
let bytesMax = 0
const until = performance.now() + millis

async function read(): Promise<void> {
  while (performance.now() < until) {
    const { status, text } = await client.send(sent)
    responses.push({ status })
    bytesMax = Math.max(bytesMax, text.length)
  }
}

await Promise.all(Array.from({ length: 8 }, read))
client.close()
parentPort!.postMessage(`${summary(responses)}; the largest of ${bytesMax} bytes`)
