/**
 * Consumers that wait in two queues while the database is away, others that enter and leave, and the responses of each.
 */
import type { Apis, Guest } from "../support/Apis.ts"
import type { HttpAnswer } from "../support/HttpConnections.ts"
import { pause } from "../support/Processes.ts"
import type { ServerUnderTest } from "../support/ServerUnderTest.ts"

/** Figures about requests while the database was away. Times are in milliseconds. */
export interface Figures {
  /** Reads that returned a place. */
  shown: number
  slowestMillis: number
  /** The same after `settledMillis`, when the process knows that the database is away. */
  slowestLaterMillis: number
  /** Reads that returned no place, because the rate was about to admit the consumer or because a minute was over. */
  notShown: number
  writesRefused: number
  slowestWriteMillis: number
  /** Reads of a place that said as of which instant it is certain. */
  marked: number
  /** Time from the return of the database to the first acknowledged entry. */
  backMillis: number
  acknowledged: number
  lost: number
  readonly violations: Array<string>
}

/** After this time a process knows that the database is away and that its caches may be stale. */
export const settledMillis = 7_500

/** Bounds of the time for which places are shown: a minute from the last heartbeat, or from the end of the locks. */
const shownMillisMin = 57_000
const shownMillisMax = { process: 61_000, nodes: 65_000 }

/** How long the locks of nodes last. */
const lockMillis = 3_000

const waiters = 20
const admitRate = 30

/** A place that its consumer reads repeatedly. */
interface Place {
  readonly queueId: string
  readonly guest: Guest
  /** Whether a response may show this place. */
  readonly isRight: (answer: HttpAnswer) => boolean
  /** Whether the rate may be admitting the consumer now. */
  readonly mayBeMoving: () => boolean
}

/** Consumers in two queues. In one, which admits by hand, all places are fixed; the other admits by rate. */
export class WaitingScene {
  readonly figures: Figures = {
    shown: 0,
    slowestMillis: 0,
    slowestLaterMillis: 0,
    notShown: 0,
    marked: 0,
    writesRefused: 0,
    slowestWriteMillis: 0,
    backMillis: 0,
    acknowledged: 0,
    lost: 0,
    violations: []
  }
  private readonly apis: Apis
  private readonly byHand: string
  private readonly byRate: string
  private readonly waiting: ReadonlyArray<Guest>
  private readonly granted: Guest
  private readonly newcomer: Guest
  private readonly leaver: Guest
  private readonly stranger: Guest
  private readonly entered = new Set<string>()
  private readonly places: ReadonlyArray<Place>
  /** Since when the rate may have admitted consumers whose places were read. */
  private readAt = 0
  private begunAt = 0
  private isAway = false
  /** Whether the database is unreachable, so that cached places expire after a minute. */
  private isSilent = false
  /** Whether several nodes answer, which all lose their locks. */
  private readonly isCluster: boolean

  static async set(apis: Apis, isCluster: boolean): Promise<WaitingScene> {
    const sequenceId = await apis.createSequence()
    const queue = (name: string, admitRate: number) => apis.create("/queues", { sequenceId, name, admitRate })
    const guests = await Promise.all(Array.from({ length: waiters + 4 }, () => apis.guest()))
    const scene = new WaitingScene(
      apis,
      await queue("by hand", 0),
      await queue("by rate", admitRate),
      guests,
      isCluster
    )
    const { byHand, byRate, granted, leaver, waiting } = scene
    for (const guest of [granted, leaver, ...waiting]) await scene.enter(byHand, guest)
    for (const guest of waiting) await scene.enter(byRate, guest)
    await apis.act(byHand, "admit", granted.consumerId)
    return scene
  }

  private constructor(apis: Apis, byHand: string, byRate: string, guests: ReadonlyArray<Guest>, isCluster: boolean) {
    this.apis = apis
    this.isCluster = isCluster
    this.byHand = byHand
    this.byRate = byRate
    const [granted, newcomer, leaver, stranger, ...waiting] = guests
    this.granted = granted!
    this.newcomer = newcomer!
    this.leaver = leaver!
    this.stranger = stranger!
    this.waiting = waiting
    this.places = [
      this.grantedPlace(),
      ...waiting.flatMap((guest, index) => [this.fixed(guest, index), this.moving(guest)])
    ]
  }

  /**
   * Sends a request with every token except the stranger's to each node, so that the tokens are cached there, and reads
   * the places.
   */
  async showTokens(nodes: ReadonlyArray<Apis>): Promise<void> {
    this.readAt = performance.now()
    for (const node of nodes) {
      await node.status(this.byHand, this.newcomer)
      await node.status(this.byHand, this.leaver)
      await Promise.all(this.places.map((place) => this.read(place, node)))
    }
  }

  /** Checks all responses until the database returns. `isSilent`: the database is unreachable. */
  async watch(awayMillis: number, isSilent: boolean): Promise<void> {
    this.begunAt = performance.now()
    this.isAway = true
    this.isSilent = isSilent
    const during = async (everyMillis: number, send: () => Promise<void>) => {
      while (this.isAway) await Promise.all([send(), pause(everyMillis)])
    }
    const loops = [
      ...this.places.map((place) => during(200, () => this.read(place))),
      during(250, () => this.write(this.apis.enter(this.byHand, this.newcomer))),
      during(400, () => this.write(this.apis.leave(this.byHand, this.leaver))),
      during(500, () => this.probe())
    ]
    await pause(awayMillis)
    this.isAway = false
    await Promise.all(loops)
  }

  /** Waits until the database accepts writes. Every consumer must then have its old place. */
  async resume(servers: ReadonlyArray<ServerUnderTest>, over: number): Promise<void> {
    const isLate = () => performance.now() - over > 30_000
    while ((await this.apis.enter(this.byHand, this.newcomer)).status !== 200) {
      if (isLate()) throw new Error(`no entry succeeds after the absence:\n${servers.map(({ log }) => log).join("\n")}`)
      await pause(20)
    }
    this.figures.backMillis = performance.now() - over
    this.entered.add(this.newcomer.consumerId)
    for (const server of servers) {
      while (!(await server.isReady())) {
        if (isLate()) throw new Error(`the process did not become ready again:\n${server.log}`)
        await pause(20)
      }
    }
    await this.readAll()
  }

  /** Checks that the journal contains everything acknowledged, including after a restart of the process. */
  async check(): Promise<void> {
    const places = new Set((await this.apis.places(this.byHand)).map(({ consumerId }) => consumerId))
    this.figures.acknowledged = this.entered.size
    this.figures.lost = [...this.entered].filter((id) => !places.has(id)).length
    await this.readAll()
  }

  private async enter(queueId: string, guest: Guest): Promise<void> {
    const { status } = await this.apis.enter(queueId, guest)
    if (status === 200) this.entered.add(guest.consumerId)
    else this.figures.violations.push(`an entry returned ${status}`)
  }

  private async readAll(): Promise<void> {
    await Promise.all(this.places.map((place) => this.read(place)))
  }

  private grantedPlace(): Place {
    const isRight = ({ body }: HttpAnswer) => body.status === "GRANTED" && body.admissionGrant !== undefined
    return { queueId: this.byHand, guest: this.granted, isRight, mayBeMoving: () => false }
  }

  /** The leaver has the first place. It may have left once the database is back. */
  private fixed(guest: Guest, index: number): Place {
    const isRight = ({ body: { position } }: HttpAnswer) =>
      position === index + 2 || (!this.isAway && position === index + 1)
    return { queueId: this.byHand, guest, isRight, mayBeMoving: () => false }
  }

  /** A position never increases. A granted place has none. */
  private moving(guest: Guest): Place {
    let last = Infinity
    const isRight = ({ body: { position = 0 } }: HttpAnswer) => {
      const before = last
      last = position
      return position <= before
    }
    const mayBeMoving = () => last <= 2 + ((performance.now() - this.readAt) * admitRate) / 60_000
    return { queueId: this.byRate, guest, isRight, mayBeMoving }
  }

  private async read({ queueId, guest, isRight, mayBeMoving }: Place, apis = this.apis): Promise<void> {
    const sentAt = performance.now()
    const answer = await apis.status(queueId, guest)
    const { figures } = this
    const afterMillis = performance.now() - this.begunAt
    const millis = performance.now() - sentAt
    if (answer.status === 200) {
      if (!isRight(answer)) figures.violations.push(`a place was shown as ${JSON.stringify(answer.body)}`)
      if (!this.isAway) return
      figures.shown += 1
      this.checkMark(answer, afterMillis)
      figures.slowestMillis = Math.max(figures.slowestMillis, millis)
      if (afterMillis > settledMillis) figures.slowestLaterMillis = Math.max(figures.slowestLaterMillis, millis)
      if (this.isSilent && afterMillis > shownMillisMax[this.isCluster ? "nodes" : "process"])
        figures.violations.push(`a place was shown after ${afterMillis.toFixed(0)} ms`)
      return
    }
    figures.notShown += 1
    const isExpected = mayBeMoving() || afterMillis > shownMillisMin
    if (answer.status === 503 && isExpected) return
    figures.violations.push(
      `a read of a place returned ${answer.status} after ${afterMillis.toFixed(0)} ms: ${JSON.stringify(answer.body)}`
    )
  }

  /** A place of nodes without locks names an instant between their last certain one and now. */
  private checkMark({ body: { asOf } }: HttpAnswer, afterMillis: number): void {
    const { figures } = this
    if (asOf !== undefined) figures.marked += 1
    const agoMillis = Date.now() - Date.parse(asOf ?? "")
    const isMarked = agoMillis >= 0 && agoMillis <= afterMillis + lockMillis
    if (this.isCluster && afterMillis > settledMillis && !isMarked)
      figures.violations.push(`a place was shown as of ${asOf} after ${afterMillis.toFixed(0)} ms`)
  }

  private async write(request: Promise<HttpAnswer>): Promise<void> {
    const sentAt = performance.now()
    const { status } = await request
    if (status === 503) {
      this.figures.writesRefused += 1
      this.figures.slowestWriteMillis = Math.max(this.figures.slowestWriteMillis, performance.now() - sentAt)
      return
    }
    // A write in flight at the return of the database may have succeeded.
    if (this.isAway) this.figures.violations.push(`a write returned ${status}`)
  }

  /** Checks health and readiness, and that an uncached token is refused once the process cannot verify it. */
  private async probe(): Promise<void> {
    const { violations } = this.figures
    const health = await this.apis.admin.send({ method: "GET", path: "/health" })
    if (health.status !== 200) violations.push(`/health returned ${health.status}`)
    if (performance.now() - this.begunAt < settledMillis) return
    const [ready, forReads, stranger] = await Promise.all([
      this.apis.admin.send({ method: "GET", path: "/ready" }),
      this.apis.admin.send({ method: "GET", path: "/ready?for=reads" }),
      this.apis.status(this.byHand, this.stranger)
    ])
    if (!this.isAway) return
    if (ready.status !== 503) violations.push(`/ready returned ${ready.status}`)
    if (forReads.status !== 200) violations.push(`/ready?for=reads returned ${forReads.status}`)
    if (this.isSilent && stranger.status !== 503) violations.push(`an unknown token returned ${stranger.status}`)
  }
}
