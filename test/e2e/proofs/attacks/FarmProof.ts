/**
 * A drop with a lobby: people, each with an own address, and a farm of scripts behind a few addresses. It runs once with
 * the gate off and once with the default gate, and compares the farm's shares of the grants.
 *
 * Every request and every check of a solution is real. Only the search for a counter is not done: a client waits for as
 * long as it would take, at the rate of its machine, and then makes the solution with the installation's secret. So the
 * farm can have more cores than the machine that runs this.
 */
import { randomInt } from "node:crypto"
import * as ProofOfWork from "../../../../src/auth/challenge/ProofOfWork.ts"
import * as FreshDatabase from "../../support/FreshDatabase.ts"
import { Apis, Unexpected } from "../../support/Apis.ts"
import type { HttpAnswer } from "../../support/HttpConnections.ts"
import { nodeSettings } from "../../support/Nodes.ts"
import { pause } from "../../support/Processes.ts"
import { ServerUnderTest } from "../../support/ServerUnderTest.ts"

export interface Options {
  readonly people: number
  /** Guests that the farm would like to have. */
  readonly bots: number
  readonly addresses: number
  readonly cores: number
  readonly grants: number
  /** How long the lobby lasts. People come evenly over this time. */
  readonly seconds: number
}

/** The events of one drop. */
export interface Drop {
  readonly people: number
  readonly bots: number
  /** The farm's part of the grants, 0 to 1. */
  readonly share: number
  /** Milliseconds for which challenges kept each person, on a slow phone. */
  readonly delays: ReadonlyArray<number>
}

/** Attempts a second of one core with OpenSSL (`npm run bench:challenge`). */
const attemptsOfCore = 20_000

/** Milliseconds of one attempt on a slow phone. */
const phoneMillis = 0.3

/** A second for the last entries, before the lobby closes. */
const graceSeconds = 20

export async function farmProof(
  options: Options
): Promise<{ readonly without: Drop; readonly withGate: Drop; readonly behindSite: Drop }> {
  // A node signs challenges with the installation's secret. A single process has a key of its own.
  const settings = { TRUSTED_PROXIES: "127.0.0.1", ...(await nodeSettings()) }
  await using server = await ServerUnderTest.make({ settings })
  await server.start()
  const { url } = server.database
  if (url === undefined) throw new Error("This proof needs a Postgres server: set DATABASE_URL")
  const [row] = await FreshDatabase.query(
    url,
    (sql) => sql<{ readonly secret: Uint8Array }>`select secret from server_secrets where name = 'challenges'`
  )
  const solver = new Solver(row!.secret)
  return {
    without: await drop(server, options, solver, { mode: "off" }),
    withGate: await drop(server, options, solver, { mode: null }),
    behindSite: await drop(server, options, solver, { mode: null, isBehindSite: true })
  }
}

interface Guarding {
  /** Null: the default gate for bots. */
  readonly mode: "off" | null
  /** Clients come to a site first. Its gate lets them pass with their address, or leads them to the room. */
  readonly isBehindSite?: boolean
}

async function drop(
  server: ServerUnderTest,
  options: Options,
  solver: Solver,
  { mode, isBehindSite = false }: Guarding
): Promise<Drop> {
  using apis = new Apis(server, await server.createOrganization(), 256)
  const challenge = mode === null ? null : { mode }
  await apis.admin.send({ method: "PUT", path: "/api/organizations/me", headers: apis.asShop, body: { challenge } })
  const begin = Date.now()
  const end = begin + options.seconds * 1_000
  const opensAt = end + graceSeconds * 1_000
  const [queueId] = (await apis.createQueues(1, {
    lobbyOpenAt: new Date(begin - 60_000).toISOString(),
    openAt: new Date(opensAt).toISOString()
  })) as [string]
  const scene: Scene = { apis, queueId, solver, end, isBehindSite }

  const delays: Array<number> = []
  const bots = new Set<string>()
  const people = Array.from({ length: options.people }, async (_, index) => {
    await pause(randomInt(options.seconds * 1_000))
    const client = new Client(scene, `198.18.${index >> 8}.${index & 255}`, 1 / phoneMillis)
    if ((await client.come()) !== undefined) delays.push(client.waited)
  })
  await Promise.all([...people, farm(scene, options, mode === null, bots)])

  await pause(Math.max(0, opensAt - Date.now()) + 1_000)
  const granted: Array<string> = []
  while (granted.length < options.grants) {
    const answer = await apis.doAsShop(`/queues/${queueId}/admit`, { count: options.grants - granted.length })
    if (answer.status !== 200) throw new Unexpected("POST /admit", answer)
    const admitted = (answer.body as { readonly consumerIds?: ReadonlyArray<string> }).consumerIds ?? []
    if (admitted.length === 0) break
    granted.push(...admitted)
  }
  const share = granted.filter((consumerId) => bots.has(consumerId)).length / granted.length
  return { people: delays.length, bots: bots.size, share, delays }
}

/**
 * The farm's strategy: each core works for the address that has the fewest guests so far, because its next challenge is
 * the cheapest. With the gate off the farm has no work, and many connections at once.
 */
async function farm(scene: Scene, { bots: wanted, addresses, cores }: Options, isGated: boolean, bots: Set<string>) {
  const guests = new Map(Array.from({ length: addresses }, (_, index) => [`203.0.113.${index + 1}`, 0]))
  let begun = 0
  const core = async () => {
    while (begun < wanted && Date.now() < scene.end) {
      begun++
      const [address] = [...guests].toSorted(([, a], [, b]) => a - b)[0]!
      guests.set(address, guests.get(address)! + 1)
      const consumerId = await new Client(scene, address, attemptsOfCore / 1_000).come()
      if (consumerId !== undefined) bots.add(consumerId)
    }
  }
  await Promise.all(Array.from({ length: isGated ? cores : 128 }, core))
}

interface Scene {
  readonly apis: Apis
  readonly queueId: string
  readonly solver: Solver
  /** The last moment at which a caller still tries. */
  readonly end: number
  readonly isBehindSite: boolean
}

/** A client with an address and a machine. */
class Client {
  waited = 0
  private readonly scene: Scene
  private readonly address: string
  private readonly attemptsPerMilli: number

  constructor(scene: Scene, address: string, attemptsPerMilli: number) {
    this.scene = scene
    this.address = address
    this.attemptsPerMilli = attemptsPerMilli
  }

  /** Makes a guest and enters it. Returns its id; undefined if the time is over before. */
  async come(): Promise<string | undefined> {
    const { apis, queueId } = this.scene
    const passed = this.scene.isBehindSite ? await this.pass() : undefined
    if (passed !== undefined) return passed
    const made = await this.send("/api/auth/guest", apis.asPublic)
    if (made === undefined) return undefined
    const guest = { consumerId: made.body.session!.consumerId, accessToken: made.body.accessToken! }
    const entered = await this.send(`/api/queues/${queueId}/enter`, apis.as(guest))
    return entered === undefined ? undefined : guest.consumerId
  }

  /** Comes to the site: its gate asks once, and leads to the room if Usher wants a challenge. */
  private async pass(): Promise<string | undefined> {
    const { apis, queueId, end } = this.scene
    const body = { clientAddress: this.address }
    while (Date.now() < end) {
      const asked = apis.doAsShop(`/queues/${queueId}/pass`, body)
      const answer = await asked.catch(() => undefined)
      if (answer?.status === 200) return answer.body.consumerId
      if (answer?.body.code === "CHALLENGE_REQUIRED") return undefined
      if (answer !== undefined) throw new Unexpected("POST /pass", answer)
    }
    return undefined
  }

  private async send(path: string, headers: object): Promise<HttpAnswer | undefined> {
    let solution: string | undefined
    for (;;) {
      const sent = this.scene.apis.consumer.send({
        method: "POST",
        path,
        headers: {
          ...headers,
          "x-forwarded-for": this.address,
          "x-forwarded-proto": "https",
          ...(solution !== undefined && { "x-challenge-solution": solution })
        }
      })
      // A request without an answer, on a machine that is too busy, is repeated.
      const answer = await sent.catch(() => undefined)
      if (answer === undefined && Date.now() < this.scene.end) continue
      if (answer === undefined) return undefined
      if (answer.status === 200) return answer
      if (answer.body.code !== "CHALLENGE_REQUIRED") throw new Unexpected(`POST ${path}`, answer)
      const { parameters } = (answer.body as { readonly challenge?: ProofOfWork.SignedChallenge }).challenge!
      const millis = randomInt(1, parameters.data.work + 1) / this.attemptsPerMilli
      if (Date.now() + millis > this.scene.end + (graceSeconds * 1_000) / 2) return undefined
      this.waited += millis
      await pause(millis)
      solution = this.scene.solver.solve(parameters.data)
    }
  }
}

/** Makes solutions without the work, with the installation's secret: challenges whose first counter solves them. */
class Solver {
  private readonly proofs: ProofOfWork.ProofOfWork

  constructor(secret: Uint8Array) {
    this.proofs = ProofOfWork.make(secret, () => 1)
  }

  solve({ scope, work }: { readonly scope: string; readonly work: number }): string {
    const challenge = this.proofs.issue(scope, work, Date.now())
    const { nonce, salt } = challenge.parameters
    const derivedKey = ProofOfWork.derive(Buffer.from(nonce, "hex"), Buffer.from(salt, "hex"), 1).toString("hex")
    return Buffer.from(JSON.stringify({ challenge, solution: { counter: 1, derivedKey } })).toString("base64")
  }
}
