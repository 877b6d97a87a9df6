/**
 * Starts a process on a machine whose clock is two minutes ahead, and then moves that clock forward by an hour, back by
 * two minutes and to the right time again, while consumers wait and timers are set. The time of the process is the
 * database's all the while: timers come within a second of their instants, none comes early, a mechanism's time never
 * runs backwards, and no jump admits consumers faster than the rate.
 */
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { Client } from "pg"
import { Apis } from "../support/Apis.ts"
import { read } from "../invariants/Invariants.ts"
import { pause } from "../support/Processes.ts"
import { Watch } from "./PunctualProof.ts"
import { ServerUnderTest } from "../support/ServerUnderTest.ts"
import type { Awaited } from "../load/Transitions.ts"

const program = fileURLToPath(new URL("../support/jumpingClockServer.ts", import.meta.url))

/** Times are milliseconds. */
export interface Figures {
  jumps: number
  /** The lateness of each timer that was due around a jump or a start. */
  readonly lateMillis: Array<number>
  /** Timers that a jump would have made due by the clock of the machine, and that did not come. */
  untouched: number
  /** The most consumers admitted within a second around any jump. */
  mostInASecond: number
  grants: number
  readonly violations: Array<string>
}

const minuteMillis = 60_000
const hourMillis = 60 * minuteMillis
const backMillis = 2 * minuteMillis
/** How far the clock of the machine is ahead when the process starts. */
const aheadMillis = 2 * minuteMillis
const admitRate = 600
const waitingGuests = 150
/** The rate per second, its catch-up allowance, and one for each end of the second. */
export const mostInASecondMax = admitRate / 60 + admitRate / 60 / 4 + 2
const sampleMillis = 50
const watchMillis = 3_000
/** When timers around a jump are due after it. */
const dueAfterMillis = 1_500
const timersOfEachKind = 3

export async function clockJumpsProof(): Promise<Figures> {
  const figures: Figures = { jumps: 0, lateMillis: [], untouched: 0, mostInASecond: 0, grants: 0, violations: [] }
  const directory = await mkdtemp(join(tmpdir(), "usher-clock-"))
  const file = join(directory, "offset")
  const settings = { CLOCK_OFFSET_FILE: file, CLOCK_OFFSET_MILLISECONDS: `${aheadMillis}` }
  await using server = await ServerUnderTest.make({ settings })
  try {
    await server.start([program, "serve"])
    using apis = new Apis(server, await server.createOrganization(), 16)
    await using stage = await Stage.open(server, apis, file, figures)
    await stage.open()
    await stage.fillQueue()
    await stage.forward()
    await stage.back()
    await stage.judge()
    if (!server.isRunning || !(await server.isReady()))
      figures.violations.push(`the server is not ready:\n${server.log}`)
    return figures
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

class Stage {
  private readonly server: ServerUnderTest
  private readonly apis: Apis
  private readonly file: string
  private readonly figures: Figures
  private readonly watch: Watch
  private readonly database: Client
  private readonly sequenceId: string
  private readonly mechanisms: Array<{ readonly id: string; readonly kind: "queue" | "timed_release" | "draw" }> = []
  private queueId = ""
  private offsetMillis = aheadMillis

  static async open(server: ServerUnderTest, apis: Apis, file: string, figures: Figures): Promise<Stage> {
    const database = new Client({ connectionString: server.database.url! })
    await database.connect()
    const watch = await Watch.open(server, apis)
    return new Stage(server, apis, file, figures, watch, database, await apis.createSequence())
  }

  private constructor(
    server: ServerUnderTest,
    apis: Apis,
    file: string,
    figures: Figures,
    watch: Watch,
    database: Client,
    sequenceId: string
  ) {
    this.server = server
    this.apis = apis
    this.file = file
    this.figures = figures
    this.watch = watch
    this.database = database
    this.sequenceId = sequenceId
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.watch[Symbol.asyncDispose]()
    await this.database.end()
  }

  /** Creates a queue with many waiting consumers that admits ten per second. */
  async fillQueue(): Promise<void> {
    this.queueId = await this.create("queue", { admitRate, admissionExpirationSeconds: 1_800 })
    for (let guest = 0; guest < waitingGuests; guest++) await this.enter(this.queueId)
  }

  /** A timed release opens at its instant, although the clock of the machine is past it from the start. */
  async open(): Promise<void> {
    const openAt = Date.now() + 2 * dueAfterMillis
    const release = await this.create("timed_release", { openAt: text(openAt), supportsGuest: true })
    const guest = await this.apis.guest()
    for (;;) {
      const sentAt = Date.now()
      const { status } = await this.apis.doAs(guest, `/timed-releases/${release}/enter`, {})
      if (status === 200) {
        if (Date.now() < openAt) this.figures.violations.push(`a timed release opened ${openAt - Date.now()} ms early`)
        this.figures.lateMillis.push(Math.max(0, sentAt - openAt))
        return
      }
      if (sentAt > openAt + watchMillis) {
        this.figures.violations.push(`a timed release was not open ${sentAt - openAt} ms after its instant`)
        return
      }
      await pause(sampleMillis)
    }
  }

  /** Moves the clock forward by an hour. Timers due within the hour must wait for their own instants. */
  async forward(): Promise<void> {
    const within: Array<Awaited["shows"]> = []
    for (let number = 1; number <= timersOfEachKind; number++) {
      const at = (minutes: number) => text(Date.now() + minutes * number * minuteMillis)
      const closing = await this.create("timed_release", { closeAt: at(15) })
      const opening = await this.create("queue", { admitRate, lobbyOpenAt: text(Date.now()), openAt: at(10) })
      await this.enter(opening)
      const draw = await this.create("draw", { closeAt: at(5), drawAt: at(6), winnerCount: 1, supportsGuest: true })
      await this.enter(draw)
      const expiring = await this.create("queue", { admitRate: 60_000, admissionExpirationSeconds: 600 * number })
      await this.enter(expiring)
      within.push(inJournal(closing, "Closed"), inJournal(opening, "Opened"), inJournal(opening, "Granted"))
      within.push(inJournal(draw, "Drawn"), inJournal(expiring, "Expired"))
    }
    const later = await this.create("timed_release", { openAt: text(Date.now() + minuteMillis), supportsGuest: true })
    await this.jump(hourMillis)
    await this.expectNone(within)
    this.figures.untouched += within.length
    const guest = await this.apis.guest()
    const { body } = await this.apis.doAs(guest, `/timed-releases/${later}/enter`, {})
    if (body.code !== "NOT_OPEN") this.figures.violations.push("a timed release opened early")
  }

  /** Moves the clock back by two minutes, and to the right time again. Timers come at their instants both times. */
  async back(): Promise<void> {
    const before = await this.enter(this.queueId)
    await this.jump(-hourMillis - aheadMillis - backMillis)
    const after = await this.enter(this.queueId)
    if (after < before)
      this.figures.violations.push(`time ran backwards: an entry at ${after} came after one at ${before}`)
    if (Math.abs(after - Date.now()) > lateMillisMax)
      this.figures.violations.push(`an entry was recorded at ${after}, and it was ${Date.now()}`)
    await this.jump(backMillis)
  }

  /** Checks the journals of all mechanisms against the rules. */
  async judge(): Promise<void> {
    for (const { id, kind } of this.mechanisms) {
      const reading = read(await this.apis.history(id), kind)
      this.figures.grants += reading.grants
      this.figures.violations.push(...reading.violations.map((problem) => `${kind} ${id}: ${problem}`))
    }
  }

  /** Changes the clock. Measures the rate of admissions around the jump, and awaits timers that are due after it. */
  private async jump(byMillis: number): Promise<void> {
    const sampled = this.sampleGrants(2 * watchMillis)
    await pause(watchMillis - dueAfterMillis)
    const dueAt = Date.now() + 2 * dueAfterMillis
    const due: Array<Awaited["shows"]> = []
    for (let number = 0; number < timersOfEachKind; number++) {
      due.push(inJournal(await this.create("timed_release", { closeAt: text(dueAt) }), "Closed"))
    }
    await pause(dueAt - dueAfterMillis - Date.now())
    this.offsetMillis += byMillis
    await writeFile(this.file, `${this.offsetMillis}`)
    this.server.signal("SIGUSR2")
    this.figures.jumps += 1
    await this.awaited(due, dueAt)
    this.figures.mostInASecond = Math.max(this.figures.mostInASecond, await sampled)
  }

  private async awaited(due: ReadonlyArray<Awaited["shows"]>, at: number): Promise<void> {
    const awaited = due.map((shows) => ({ name: "jump", dueAt: at, shows }))
    for (const { at: seenAt, awaited: one } of await this.watch.awaitAll(awaited, 0)) {
      const what = JSON.stringify(one.shows)
      if (seenAt === undefined) this.figures.violations.push(`did not happen after a jump: ${what}`)
      else if (seenAt < at) this.figures.violations.push(`${at - seenAt} ms early: ${what}`)
      else this.figures.lateMillis.push(seenAt - at)
    }
  }

  private async expectNone(shows: ReadonlyArray<Awaited["shows"]>): Promise<void> {
    for (const shown of shows) {
      if (shown.in !== "journal") continue
      const { rows } = await this.database.query("select 1 from journal where mechanism_id = $1 and type = $2", [
        shown.mechanismId,
        shown.type
      ])
      if (rows.length > 0) this.figures.violations.push(`happened early: ${JSON.stringify(shown)}`)
    }
  }

  /**
   * Returns the most consumers that the queue admits within any second of the coming time, as the database shows it.
   */
  private async sampleGrants(millis: number): Promise<number> {
    const samples: Array<{ readonly at: number; readonly grants: number }> = []
    const text = "select count(*)::int4 as grants from journal where mechanism_id = $1 and type = 'Granted'"
    for (const begun = performance.now(); performance.now() - begun < millis; await pause(sampleMillis)) {
      const { rows } = await this.database.query<{ grants: number }>({ name: "grants", text, values: [this.queueId] })
      samples.push({ at: performance.now(), grants: rows[0]!.grants })
    }
    const within = samples.map(({ at, grants }) => {
      const earlier = samples.find((sample) => sample.at >= at - 1_000)!
      return grants - earlier.grants
    })
    return Math.max(...within)
  }

  private async create(kind: "queue" | "timed_release" | "draw", settings: object): Promise<string> {
    const path = { queue: "/queues", timed_release: "/timed-releases", draw: "/draws" }[kind]
    const id = await this.apis.create(path, { sequenceId: this.sequenceId, name: kind, ...settings })
    this.mechanisms.push({ id, kind })
    return id
  }

  /** Enters with a new guest. Returns the recorded time of the entry. */
  private async enter(id: string): Promise<number> {
    const folder = this.mechanisms.find((one) => one.id === id)!.kind === "draw" ? "draws" : "queues"
    const { status, body } = await this.apis.doAs(await this.apis.guest(), `/${folder}/${id}/enter`)
    if (status !== 200) throw new Error(`an entry returned ${status}: ${JSON.stringify(body)}`)
    return Date.parse(body.enteredAt!)
  }
}

const lateMillisMax = 1_000

const text = (at: number): string => new Date(at).toISOString()

const inJournal = (mechanismId: string, type: string) => ({ in: "journal", mechanismId, type }) as const
