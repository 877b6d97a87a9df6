/**
 * Everything that time alone brings happens at its time with nobody calling: while the server runs, and, where it was down
 * at that time, when it is back. The truth is when an event could be read in the database by others, or what a request was
 * answered; for messages, when they were sent.
 */
import { Client } from "pg"
import { Apis, Unexpected } from "../support/Apis.ts"
import { Dice } from "../support/Dice.ts"
import { HttpConnections } from "../support/HttpConnections.ts"
import { pause } from "../support/Processes.ts"
import { ServerUnderTest } from "../support/ServerUnderTest.ts"
import { type Awaited, slotEnd, Stage, transitions } from "../load/Transitions.ts"

/** How late each transition of a name was, in milliseconds. */
export interface Lateness {
  readonly name: string
  /** After its time, while the server ran. */
  readonly live: Array<number>
  /** After the server, which was down at its time, listened again; 0: it had happened by then. */
  readonly afterListening: Array<number>
  /** The same after `/ready` said yes. */
  readonly afterReady: Array<number>
}

export interface Figures {
  readonly lateness: Map<string, Lateness>
  /** From the process's start to listening, and to ready, in milliseconds. */
  readonly starts: Array<{ readonly listening: number; readonly ready: number }>
  /** By how much a timer of this process was late at worst, for comparison. */
  ownTimerMillis: number
  readonly violations: Array<string>
}

export interface Options {
  readonly rounds: number
  /** Of each transition in one round, and again for the downtime. */
  readonly each: number
  readonly seed: number
  /** Slots last a minute at least; without them a round is over sooner. */
  readonly withSlots: boolean
}

/** What happens later than this, or not at all, is given up. */
const patienceMillis = 8_000
/** For making everything ready: this, and as much again for each of the transitions. */
const preparingMillis = 4_000
const preparingAtOnce = 6
const attemptsMax = 3
/** The transitions of one time lie so far apart. */
const windowMillis = 5_000
/** Between the last of the time and the kill, and between the last of the downtime and the start. */
const marginMillis = 1_500
const journalLookMillis = 10
const answerLookMillis = 5
/** Before its time somebody asks already: then it must not have happened. */
const earlyMillis = 60
const secondMillis = 1_000
const minuteMillis = 60_000

/** Fails only if something cannot be made ready. */
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

/** A span of time, and what is due in it. */
interface Due extends Span {
  readonly awaited: ReadonlyArray<Awaited>
}

/** Everything made ready; where that took too long, with more time once more. */
async function prepared(
  stage: Stage,
  dice: Dice,
  each: number,
  withSlots: boolean
): Promise<{ readonly live: Due; readonly down: Due }> {
  for (let attempt = 1; attempt <= attemptsMax; attempt++) {
    const { live, down } = spans(preparingMillis * (1 + each) * attempt, withSlots)
    const both = [live, down].map((span) => ({ ...span, awaited: [] as Array<Awaited> }))
    const tasks = both.flatMap((span) =>
      Array.from({ length: each }, () => tasksFor(stage, dice, span, withSlots)).flat()
    )
    const work = async () => {
      for (let task = tasks.pop(); task !== undefined; task = tasks.pop()) await task()
    }
    await Promise.all(Array.from({ length: preparingAtOnce }, work))
    if (Date.now() < live.from - secondMillis) return { live: both[0]!, down: both[1]! }
  }
  throw new Error("preparing took too long: this machine is too busy")
}

/** One of each transition, at any time within the span. */
const tasksFor = (stage: Stage, dice: Dice, span: Span & { awaited: Array<Awaited> }, withSlots: boolean) =>
  Object.entries(withSlots ? { ...transitions, "a slot ends": slotEnd } : transitions).map(([name, make]) => {
    const at = make === slotEnd ? span.until : dice.between(span.from, span.until)
    return async () => void span.awaited.push(...(await make(stage, at)).map((one) => ({ name, ...one })))
  })

/** The times in which transitions are due while the server runs, and while it is down. */
function spans(preparingMillis: number, withSlots: boolean): { readonly live: Span; readonly down: Span } {
  const soonest = Date.now() + preparingMillis
  const at = (until: number) => ({ from: until - windowMillis, until })
  if (!withSlots) return { live: at(soonest + windowMillis), down: at(soonest + 2 * windowMillis + patienceMillis / 2) }
  const end = Math.ceil(soonest / minuteMillis) * minuteMillis + minuteMillis
  return { live: at(end), down: at(end + minuteMillis) }
}

/** What was awaited, and when it was seen; undefined: not in time. */
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
    if (at === undefined) violations.push(`${name}: not seen within ${patienceMillis} ms`)
    else if (at < dueAt) violations.push(`${name}: ${dueAt - at} ms too early`)
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

/** When the server that is being started listens, and is ready: milliseconds since the epoch. */
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

/** Looks for what is awaited where it shows. */
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

  /** When each was seen; those that were due before `from` are looked for from then on. */
  async awaitAll(awaited: ReadonlyArray<Awaited>, from: number): Promise<ReadonlyArray<Seen>> {
    const inJournal = awaited.filter(({ shows }) => shows.in === "journal")
    const others = awaited.filter(({ shows }) => shows.in !== "journal")
    const [seen, ...rest] = await Promise.all([
      this.journal(inJournal, from),
      ...others.map((one) => (one.shows.in === "answer" ? this.answer(one, from) : this.outbox(one, from)))
    ])
    return [...seen, ...rest]
  }

  /** One query at a time for all that are due about now. */
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
    const { ask } = shows as Extract<Awaited["shows"], { in: "answer" }>
    await until(Math.max(dueAt, from) - earlyMillis)
    while (Date.now() <= Math.max(dueAt, from) + patienceMillis) {
      if (await ask().catch(() => false)) return { awaited, at: Date.now() }
      await pause(answerLookMillis)
    }
    return { awaited, at: undefined }
  }

  /** The outbox says itself when a message was sent. */
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

/** Watches how late this process's own timers are; the answer ends that. */
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
