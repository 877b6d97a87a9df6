/**
 * Makes the journal of one mechanism among fifty unreadable. The mechanism fails on every start, is parked alone and
 * reported to operators, and runs again after the correction and `unpark`. The others work as before.
 */
import { Apis, type Guest } from "../support/Apis.ts"
import * as FreshDatabase from "../support/FreshDatabase.ts"
import { ownedBy, Nodes } from "../support/Nodes.ts"
import { Pace } from "../support/Pace.ts"
import { PatientConnections } from "../support/PatientConnections.ts"
import { pause } from "../support/Processes.ts"
import { ServerUnderTest } from "../support/ServerUnderTest.ts"

export interface Options {
  /** The number of processes. With several nodes, the owner is killed. */
  readonly nodes: number
  /** Seconds of each measurement of the pace, before and after the failure. */
  readonly seconds: number
}

export interface Figures {
  readonly healthy: number
  /** Completed requests per second of consumers of the healthy mechanisms: before the failure, and during it. */
  paceBefore: number
  paceDuring: number
  /** The number of 503 responses of the failing mechanism. */
  refused: number
  /**
   * Milliseconds from the failing mechanism's first start to its report as parked, and from `unpark` to its first
   * response.
   */
  parkedMillis: number
  servedMillis: number
  readonly violations: Array<string>
}

const healthy = 50
const patienceMillis = 120_000

export async function poisonProof({ nodes, seconds }: Options): Promise<Figures> {
  const figures: Figures = {
    healthy,
    paceBefore: 0,
    paceDuring: 0,
    refused: 0,
    parkedMillis: Number.NaN,
    servedMillis: Number.NaN,
    violations: []
  }
  await using group = await Nodes.make({ count: nodes, ...(nodes === 1 && { settings: { CLUSTER: "false" } }) })
  await group.start()
  const [first] = group.all
  const keys = await first!.createOrganization()
  using all = new Apis(group.all, keys, 16, PatientConnections)
  const queueIds = await all.createQueues(healthy + 1)
  const guest = await all.guest()
  const [poisonId, ...others] = queueIds
  for (const entering of [guest, await all.guest(), await all.guest()]) await all.enter(poisonId!, entering)
  const owner = await ownerOf(poisonId!, all, group.all)

  figures.paceBefore = await paceOf(all, others, seconds)
  const good = await garble(first!, poisonId!)
  await owner.kill()
  const left = nodes === 1 ? group.all : group.except(owner)
  using apis = new Apis(left, keys, 16)
  using patient = new Apis(left, keys, 16, PatientConnections)
  if (nodes === 1) await owner.start()
  // After a takeover or restart, the mechanism fails.
  await Promise.all(others.map((id) => patient.status(id, guest)))
  const begun = performance.now()
  const polling = { isOver: false }
  const refusals = pollStatus(apis, poisonId!, guest, polling)
  const parked = untilRecorded(first!, poisonId!).then(() => (figures.parkedMillis = performance.now() - begun))
  figures.paceDuring = await paceOf(patient, others, seconds)
  await parked
  const home = await parkedAt(left, poisonId!, figures)
  await examine(home, left, keys, poisonId!, figures)
  polling.isOver = true
  figures.refused = await refusals

  await good.restore()
  const unparkedAt = performance.now()
  await home.usher(["mechanisms", "unpark", poisonId!])
  await until(async () => (await apis.status(poisonId!, guest)).status === 200)
  figures.servedMillis = performance.now() - unparkedAt
  const authors = await authorsOfUnparking(patient, poisonId!)
  if (authors !== "operator") figures.violations.push(`the audit log names as author of the unparking: ${authors}`)
  const { counts, parked: isParked } = await patient.live(poisonId!)
  if (isParked || counts["QUEUED"] !== 3)
    figures.violations.push(`after the correction the mechanism shows ${JSON.stringify({ isParked, counts })}`)
  await until(async () => (await recorded(first!, poisonId!)) === 0)
  return figures
}

async function ownerOf(id: string, apis: Apis, servers: ReadonlyArray<ServerUnderTest>): Promise<ServerUnderTest> {
  for (const server of servers) if ((await ownedBy(apis, server, [id])).length > 0) return server
  throw new Error(`no server owns ${id}`)
}

async function paceOf(apis: Apis, queueIds: ReadonlyArray<string>, seconds: number): Promise<number> {
  const pace = await Pace.begin(apis, queueIds)
  const begun = performance.now()
  await pause(seconds * 1_000)
  await pace.stop()
  return pace.perWindow(begun, begun + seconds * 1_000)
}

/** Makes an event of the mechanism unreadable. Returns a function that restores it. */
async function garble({ database }: ServerUnderTest, id: string) {
  const write = (from: string, to: string) =>
    FreshDatabase.query(
      database.url!,
      (sql) => sql`update journal set type = ${to} where mechanism_id = ${id}::uuid and sequence = 2 and type = ${from}`
    )
  await write("Entered", "Garbled")
  return { restore: () => write("Garbled", "Entered") }
}

/** Reads a place of the failing mechanism repeatedly. Returns the number of 503 responses. */
async function pollStatus(apis: Apis, id: string, guest: Guest, polling: { isOver: boolean }): Promise<number> {
  let refused = 0
  for (; !polling.isOver; await pause(20)) {
    const answer = await apis.status(id, guest).catch(() => undefined)
    if (answer?.status === 503) refused += 1
    else if (answer !== undefined) throw new Error(`the unreadable mechanism returned ${answer.status}`)
  }
  return refused
}

/** Waits until the database records the mechanism as parked. This is cheaper than the command that lists it. */
const untilRecorded = (server: ServerUnderTest, id: string): Promise<void> =>
  until(async () => (await recorded(server, id)) > 0)

/** Returns how many records of the mechanism as parked the database has. */
const recorded = async ({ database }: ServerUnderTest, id: string): Promise<number> => {
  const found = await FreshDatabase.query(
    database.url!,
    (sql) => sql`select 1 from parked_mechanisms where mechanism_id = ${id}::uuid`
  )
  return found.length
}

const authorsOfUnparking = async (apis: Apis, id: string): Promise<string> => {
  const { body } = await apis.admin.send({
    method: "GET",
    path: `/api/audit-log?type=distribution.noted&subjectId=${id}`,
    headers: apis.asShop
  })
  return (body.data ?? []).map(({ actor }) => actor).join()
}

/** Returns the process that parked the mechanism, according to the command line. */
async function parkedAt(servers: ReadonlyArray<ServerUnderTest>, id: string, figures: Figures) {
  const found = await listed(servers[0]!)
  if (found.length !== 1 || found[0]!.mechanismId !== id)
    throw new Error(`the parked mechanisms are: ${JSON.stringify(found)}`)
  const home = servers.find(({ name }) => name === found[0]!.node)
  if (home === undefined) throw new Error(`the mechanism is parked at ${found[0]!.node}, which does not run`)
  if (!found[0]!.cause.includes("Garbled")) figures.violations.push(`the reported cause is: ${found[0]!.cause}`)
  return home
}

/** Checks the reports that operators read. */
async function examine(
  home: ServerUnderTest,
  servers: ReadonlyArray<ServerUnderTest>,
  keys: ConstructorParameters<typeof Apis>[1],
  id: string,
  { violations }: Figures
): Promise<void> {
  for (const server of servers) {
    using apis = new Apis(server, keys, 2, PatientConnections)
    const { status, body } = await apis.admin.send({ method: "GET", path: "/ready" })
    const isRemarked = body.remarks?.["parked mechanisms"] !== undefined
    if (status !== 200) violations.push(`/ready of ${server.name} returned ${status}: ${JSON.stringify(body)}`)
    if (isRemarked !== (server === home)) violations.push(`/ready of ${server.name} says ${JSON.stringify(body)}`)
    const live = await apis.live(id)
    if (!live.parked) violations.push(`the Admin API of ${server.name} shows ${JSON.stringify(live)}`)
  }
}

interface Listed {
  readonly mechanismId: string
  readonly node: string
  readonly cause: string
}

const listed = async (server: ServerUnderTest): Promise<ReadonlyArray<Listed>> =>
  JSON.parse(await server.usher(["mechanisms", "parked", "--json"])) as ReadonlyArray<Listed>

async function until(condition: () => Promise<boolean>): Promise<void> {
  for (const begun = performance.now(); !(await condition()); await pause(100)) {
    if (performance.now() - begun > patienceMillis)
      throw new Error(`condition not met within ${patienceMillis} ms: ${condition}`)
  }
}
