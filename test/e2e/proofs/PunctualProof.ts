/**
 * Checks that every timed transition happens at its time without a request: while the server runs, and after its return
 * if it was down at the time. A transition has happened when another connection can read its event or when a request
 * succeeds; for messages, at their sending time.
 */
import { Client } from "pg"
import { Apis, Unexpected } from "../support/Apis.ts"
import { Dice } from "../support/Dice.ts"
import { HttpConnections } from "../support/HttpConnections.ts"
import { pause } from "../support/Processes.ts"
import { ServerUnderTest } from "../support/ServerUnderTest.ts"
import { type Awaited, slotEnd, Stage, transitions } from "../load/Transitions.ts"

/** The lateness of each transition of a name, in milliseconds. */
export interface Lateness {
  readonly name: string
  /** After its time, while the server ran. */
  readonly live: Array<number>
  /** After the restarted server listened, for a transition due during the downtime; 0 if it had already happened. */
  readonly afterListening: Array<number>
  /** The same after `/ready` succeeded. */
  readonly afterReady: Array<number>
}

export interface Figures {
  readonly lateness: Map<string, Lateness>
  /** Milliseconds from the process's start to listening and to ready. */
  readonly starts: Array<{ readonly listening: number; readonly ready: number }>
  /** The largest lateness of a timer in this process, for comparison. */
  ownTimerMillis: number
  readonly violations: Array<string>
}

export interface Options {
  readonly rounds: number
  /** The number of each transition in one round, and again for the downtime. */
  readonly each: number
  readonly seed: number
  /** Whether to include slots, which last at least a minute. A round without them is shorter. */
  readonly withSlots: boolean
}

/** A later transition counts as missing. */
const patienceMillis = 8_000
/** Time for the preparation: this value, and once more for each set of transitions. */
const preparingMillis = 4_000
const preparingAtOnce = 6
const attemptsMax = 3
/** The length of the span in which transitions are due. */
const windowMillis = 5_000
/** Time between the last transition and the kill, and between the last one of the downtime and the start. */
const marginMillis = 1_500
const journalLookMillis = 10
const answerLookMillis = 5
/** Checks begin this long before the due time, when a transition must not have happened yet. */
const earlyMillis = 60
const secondMillis = 1_000
const minuteMillis = 60_000

/** Runs the proof. Throws only if a transition cannot be prepared. */
export async function punctualProof({ rounds, each, seed, withSlots }: Options): Promise<Figures> {
  const dice = new Dice(seed)
  await using server = await ServerUnderTest.make()
  await server.start()
  using apis = new Apis(server, await server.createOrganization(), 16)
  const figures: Figures = { lateness: new Map(), starts: [], ownTimerMillis: 0, violations: [] }
  const stopWatching = watchOwnTimer(figures)
  await using watch = await Watch.open(server, apis)
  for (let round = 0; round < rounds; round++) {
    const stage = new Stage(apis)
    const { live, down } = await prepared(stage, dice, each, withSlots)
    const seen = watch.awaitAll(live.awaited, 0)
    await until(live.until + marginMillis)
    note(figures, await seen, undefined)
    await server.kill()
    await until(down.until + marginMillis)
    const starting = beginnings(server)
    const seenAfter = starting.listening.then((listening) => watch.awaitAll(down.awaited, listening))
    await server.start()
    const start = { begun: starting.begun, listening: await starting.listening, ready: await starting.ready }
    figures.starts.push({ listening: start.listening - start.begun, ready: start.ready - start.begun })
    note(figures, await seenAfter, start)
  }
  stopWatching()
  return figures
}

const until = (at: number): Promise<void> => pause(Math.max(0, at - Date.now()))

interface Span {
  readonly from: number
  readonly until: number
}

/** A span of time, with the transitions due in it. */
interface Due extends Span {
  readonly awaited: ReadonlyArray<Awaited>
}

/** Prepares all transitions. Repeats with more time if the preparation took too long, or came too late for one of them. */
async function prepared(
  stage: Stage,
  dice: Dice,
  each: number,
  withSlots: boolean
): Promise<{ readonly live: Due; readonly down: Due }> {
  let cause: unknown
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const { live, down } = spans(preparingMillis * (1 + each) * attempt, withSlots)
    const both = [live, down].map((span) => ({ ...span, awaited: [] as Array<Awaited> }))
    const tasks = both.flatMap((span) =>
      Array.from({ length: each }, () => tasksFor(stage, dice, span, withSlots)).flat()
    )
    const work = async () => {
      for (let task = tasks.pop(); task !== undefined; task = tasks.pop()) await task()
    }
    const outcomes = await Promise.allSettled(Array.from({ length: preparingAtOnce }, work))
    const failed = outcomes.find((outcome) => outcome.status === "rejected")
    if (failed === undefined && Date.now() < live.from - secondMillis) return { live: both[0]!, down: both[1]! }
    cause = failed?.reason
  }
  throw new Error("the preparation took too long: this machine is too busy", { cause })
}

/** Returns one task for each transition, at a random time within the span. */
const tasksFor = (stage: Stage, dice: Dice, span: Span & { awaited: Array<Awaited> }, withSlots: boolean) =>
  Object.entries(withSlots ? { ...transitions, "a slot ends": slotEnd } : transitions).map(([name, make]) => {
    const at = make === slotEnd ? span.until : dice.between(span.from, span.until)
    return async () => void span.awaited.push(...(await make(stage, at)).map((one) => ({ name, ...one })))
  })

/** Returns the spans in which transitions are due while the server runs and while it is down. */
function spans(preparingMillis: number, withSlots: boolean): { readonly live: Span; readonly down: Span } {
  const soonest = Date.now() + preparingMillis
  const at = (until: number) => ({ from: until - windowMillis, until })
  if (!withSlots) return { live: at(soonest + windowMillis), down: at(soonest + 2 * windowMillis + patienceMillis / 2) }
  const end = Math.ceil(soonest / minuteMillis) * minuteMillis + minuteMillis
  return { live: at(end), down: at(end + minuteMillis) }
}

/** An awaited transition with the time of its observation; undefined if it was not observed in time. */
interface Seen {
  readonly awaited: Awaited
  readonly at: number | undefined
}

function note({ lateness, violations }: Figures, seen: ReadonlyArray<Seen>, start: Start | undefined): void {
  for (const { awaited, at } of seen) {
    const { name, dueAt } = awaited
    let figures = lateness.get(name)
    if (figures === undefined) {
      figures = { name, live: [], afterListening: [], afterReady: [] }
      lateness.set(name, figures)
    }
    if (at === undefined) violations.push(`${name}: not observed within ${patienceMillis} ms`)
    else if (at < dueAt) violations.push(`${name}: ${dueAt - at} ms early`)
    else if (start === undefined) figures.live.push(at - dueAt)
    else {
      figures.afterListening.push(Math.max(0, at - start.listening))
      figures.afterReady.push(Math.max(0, at - start.ready))
    }
  }
}

interface Start {
  readonly begun: number
  readonly listening: number
  readonly ready: number
}

/** Returns the times when a starting server listens and is ready, in milliseconds since the epoch. */
function beginnings(server: ServerUnderTest) {
  const probes = new HttpConnections(server.adminUrl, 1)
  const first = async (isEnough: (status: number) => boolean): Promise<number> => {
    for (;;) {
      const answer = await probes.send({ method: "GET", path: "/ready" }).catch(() => undefined)
      if (answer !== undefined && isEnough(answer.status)) return Date.now()
      await pause(answerLookMillis)
    }
  }
  const listening = first(() => true)
  const ready = listening.then(() => first((status) => status === 200)).finally(() => probes.close())
  return { begun: Date.now(), listening, ready }
}

/** Observes awaited transitions. */
export class Watch {
  private readonly apis: Apis
  private readonly database: Client

  private constructor(apis: Apis, database: Client) {
    this.apis = apis
    this.database = database
  }

  static async open(server: ServerUnderTest, apis: Apis): Promise<Watch> {
    const { url } = server.database
    if (url === undefined) throw new Error("This proof reads the database: set DATABASE_URL to a Postgres server.")
    const database = new Client({ connectionString: url })
    await database.connect()
    return new Watch(apis, database)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.database.end()
  }

  /** Returns the time of each observation. Observation of transitions due before `from` starts at `from`. */
  async awaitAll(awaited: ReadonlyArray<Awaited>, from: number): Promise<ReadonlyArray<Seen>> {
    const inJournal = awaited.filter(({ shows }) => shows.in === "journal")
    const others = awaited.filter(({ shows }) => shows.in !== "journal")
    const [seen, ...rest] = await Promise.all([
      this.journal(inJournal, from),
      ...others.map((one) => (one.shows.in === "answer" ? this.answer(one, from) : this.outbox(one, from)))
    ])
    return [...seen, ...rest]
  }

  /** Sends one query at a time, for all transitions due about now. */
  private async journal(awaited: ReadonlyArray<Awaited>, from: number): Promise<ReadonlyArray<Seen>> {
    const seen: Array<Seen> = []
    let left = awaited.map((one) => ({ awaited: one, ...(one.shows as Extract<Awaited["shows"], { in: "journal" }>) }))
    while (left.length > 0) {
      const now = Date.now()
      const near = left.filter(({ awaited: { dueAt } }) => dueAt <= now + earlyMillis)
      const found = await this.events([...new Set(near.map(({ mechanismId }) => mechanismId))])
      const at = Date.now()
      left = left.filter((one) => {
        const { mechanismId, type, consumerId = "" } = one
        const isSeen = near.includes(one) && found.has(`${mechanismId} ${type} ${consumerId}`)
        const isLost = !isSeen && now > Math.max(one.awaited.dueAt, from) + patienceMillis
        if (isSeen || isLost) seen.push({ awaited: one.awaited, at: isSeen ? at : undefined })
        return !isSeen && !isLost
      })
      await pause(journalLookMillis)
    }
    return seen
  }

  private async events(mechanismIds: ReadonlyArray<string>): Promise<ReadonlySet<string>> {
    if (mechanismIds.length === 0) return new Set()
    const { rows } = await this.database.query<{ mechanism: string; type: string; consumer: string | null }>({
      name: "events",
      text: "select mechanism_id as mechanism, type, consumer_id as consumer from journal where mechanism_id = any($1::uuid[])",
      values: [mechanismIds]
    })
    return new Set(
      rows.flatMap(({ mechanism, type, consumer }) => [
        `${mechanism} ${type} `,
        `${mechanism} ${type} ${consumer ?? ""}`
      ])
    )
  }

  private async answer(awaited: Awaited, from: number): Promise<Seen> {
    const { dueAt, shows } = awaited
    const { hasHappened } = shows as Extract<Awaited["shows"], { in: "answer" }>
    await until(Math.max(dueAt, from) - earlyMillis)
    while (Date.now() <= Math.max(dueAt, from) + patienceMillis) {
      if (await hasHappened().catch(() => false)) return { awaited, at: Date.now() }
      await pause(answerLookMillis)
    }
    return { awaited, at: undefined }
  }

  /** The outbox records the sending time of a message. */
  private async outbox(awaited: Awaited, from: number): Promise<Seen> {
    const { dueAt, shows } = awaited
    const { to } = shows as Extract<Awaited["shows"], { in: "outbox" }>
    await until(Math.max(dueAt, from) + patienceMillis / 4)
    const path = `/api/outbox?to=${encodeURIComponent(to)}`
    const answer = await this.apis.admin.send({ method: "GET", path, headers: this.apis.asShop })
    if (answer.status !== 200) throw new Unexpected(`GET ${path}`, answer)
    const sentAt = answer.body.data?.[0]?.["sentAt"]
    return { awaited, at: typeof sentAt === "string" ? Date.parse(sentAt) : undefined }
  }
}

/** Measures the lateness of this process's timers. Returns a function that stops. */
function watchOwnTimer(figures: Figures): () => void {
  const intervalMillis = 20
  let at = performance.now()
  const timer = setInterval(() => {
    const now = performance.now()
    figures.ownTimerMillis = Math.max(figures.ownTimerMillis, now - at - intervalMillis)
    at = now
  }, intervalMillis)
  return () => clearInterval(timer)
}
