/**
 * Measures the memory of a server whose visitors wait on the streams of rooms, and of one whose consumers wait on the
 * streams of the Consumer API.
 */
import { Agent, request } from "node:http"
import { heapBytes } from "../../../../bench/setup/Inspector.ts"
import { readResidentBytes } from "../../../../bench/load/Processor.ts"
import { Apis } from "../../support/Apis.ts"
import { freePort } from "../../support/Processes.ts"
import { main, ServerUnderTest } from "../../support/ServerUnderTest.ts"
import { behindProxy, Browser, forwardedFor } from "./Browser.ts"
import { aRoom } from "./RoomsProof.ts"

export type Kind = "rooms" | "consumer API"

/** Kibibytes for each stream, after garbage collections. */
export interface Memory {
  readonly heap: number
  readonly resident: number
}

const workers = 64

/** Opens so many streams of one queue to a new server, and returns what each takes. */
export async function streamsMemory(kind: Kind, streams: number): Promise<Memory> {
  const inspectorPort = await freePort()
  await using server = await ServerUnderTest.make({ settings: behindProxy })
  await server.start([`--inspect-port=${inspectorPort}`, main, "serve"])
  using apis = new Apis(server, await server.createOrganization(), workers)
  const { experienceId, queueId } = await aRoom(apis, 0)
  const agent = new Agent({ keepAlive: true, maxSockets: workers })
  const follow = kind === "rooms" ? inRoom(server, experienceId, queueId, agent) : onApi(server, apis, queueId)
  const waiting = await inTurns(streams, follow)
  const measured = async () => {
    const heap = await heapBytes(server.processId, inspectorPort)
    return { heap, resident: readResidentBytes(server.processId) ?? Number.NaN }
  }
  const before = await measured()
  await inTurns(streams, (number) => waiting[number]!())
  const after = await measured()
  agent.destroy()
  const perStream = (name: keyof Memory) => (after[name] - before[name]) / 1024 / streams
  return { heap: perStream("heap"), resident: perStream("resident") }
}

/** Returns once the stream has told the place for the first time. The stream stays open. */
type Open = () => Promise<void>

/** Enters as a visitor of the room. Returns the function that opens its stream. */
const inRoom =
  (server: ServerUnderTest, experienceId: string, queueId: string, agent: Agent) => async (number: number) => {
    const browser = new Browser(server, experienceId, number, agent)
    const { status } = await browser.post("enter", { at: queueId })
    if (status !== 200) throw new Error(`an entry returned ${status}`)
    const open: Open = () =>
      new Promise((resolve, reject) => {
        const refuse = () => reject(new Error("a stream ended"))
        const told = () => {
          resolve()
          return false
        }
        browser.follow(queueId, told).then(refuse, refuse)
      })
    return open
  }

/** The same for a consumer of the API. */
const onApi = (server: ServerUnderTest, apis: Apis, queueId: string) => async (number: number) => {
  const guest = await apis.guest()
  const { status } = await apis.enter(queueId, guest)
  if (status !== 200) throw new Error(`an entry returned ${status}`)
  const open: Open = () =>
    new Promise((resolve, reject) => {
      const url = new URL(`/api/queues/${queueId}/events`, server.consumerUrl)
      const headers = { ...apis.as(guest), ...forwardedFor(number) }
      const sent = request(url, { agent: false, headers }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`a stream returned ${response.statusCode}`))
        response.on("error", () => {})
        response.setEncoding("utf8").on("data", (text: string) => text.includes("data: ") && resolve())
      })
      sent.once("error", reject)
      sent.end()
    })
  return open
}

/** Does something for each number, several at a time. */
async function inTurns<A>(count: number, act: (number: number) => Promise<A>): Promise<ReadonlyArray<A>> {
  const results: Array<A> = []
  let next = 0
  const work = async () => {
    while (next < count) {
      const number = next++
      results[number] = await act(number)
    }
  }
  await Promise.all(Array.from({ length: workers }, work))
  return results
}
