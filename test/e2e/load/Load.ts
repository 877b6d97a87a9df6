/**
 * Guests that continuously enter, wait, read, bid, book, buy and leave. Their connections break with the server, and
 * then they retry. All responses go to the ledger.
 */
import { randomUUID } from "node:crypto"
import { type Apis, type Guest, Unexpected } from "../support/Apis.ts"
import type { Dice } from "../support/Dice.ts"
import type { Body, HttpAnswer } from "../support/HttpConnections.ts"
import type { Kind } from "../invariants/Invariants.ts"
import type { Ledger } from "./Ledger.ts"
import { pause } from "../support/Processes.ts"
import { type Loaded, pathOf, statusPathOf, type Visitor, visits } from "./Visits.ts"

const retryPauseMillis = 40
const recentMax = 64

/** The longest wait for a response. The load reports a longer one as a violation. A slow machine needs a fraction of it. */
const patienceSecondsMax = 300

/** Ends a worker when the load stops. */
class Stopped extends Error {}

/** Options of a load. */
export interface Manner {
  /** The longest pause of a guest between visits, in milliseconds; 0: none. */
  readonly restMillisMax?: number
  /** The source of guests. Default: each guest is new and is used once. */
  readonly guests?: Guests
}

export interface Guests {
  readonly take: () => Promise<Guest>
  readonly giveBack: (guest: Guest) => Promise<void>
}

export class Load {
  /** Attempts without a response that were repeated. */
  retries = 0
  private readonly apis: Apis
  private readonly ledger: Ledger
  private readonly dice: Dice
  private readonly workers: ReadonlyArray<Promise<void>>
  private readonly manner: Manner
  private byKind = new Map<Kind, ReadonlyArray<Loaded>>()
  private recent: Array<{ readonly guest: Guest; readonly mechanism: Loaded }> = []
  private isStopped = false
  private gate: Promise<void> | undefined
  private idle = 0
  private isPaused = false

  constructor(apis: Apis, ledger: Ledger, dice: Dice, workers: number, manner: Manner = {}) {
    this.manner = manner
    this.apis = apis
    this.ledger = ledger
    this.dice = dice
    this.workers = Array.from({ length: workers }, () => this.work())
  }

  /** The mechanisms that guests choose from: first a kind, then a mechanism of that kind. */
  set mechanisms(mechanisms: ReadonlyArray<Loaded>) {
    this.byKind = Map.groupBy(mechanisms, ({ kind }) => kind)
    this.recent = this.recent.filter(({ mechanism }) => mechanisms.includes(mechanism))
  }

  /** Waits until all workers have finished their requests and paused. Returns a function that resumes them. */
  async paused(): Promise<() => void> {
    let open = () => {}
    this.isPaused = true
    this.gate = new Promise((resolve) => (open = resolve))
    for (const begun = performance.now(); this.idle < this.workers.length; await pause(2)) {
      if (performance.now() - begun > 2 * patienceSecondsMax * 1000) throw new Error("the load does not come to rest")
    }
    return () => {
      this.isPaused = false
      this.gate = undefined
      open()
    }
  }

  async stop(): Promise<void> {
    this.isStopped = true
    await Promise.all(this.workers)
  }

  private async work(): Promise<void> {
    try {
      for (;;) await this.visit()
    } catch (error) {
      if (!(error instanceof Stopped)) this.ledger.unexpected.push(String(error))
    }
    this.idle += 1
  }

  private async visit(): Promise<void> {
    const { guests } = this.manner
    const guest = await this.persist(() => guests?.take() ?? this.apis.guest())
    await this.visitsOf(guest)
    await guests?.giveBack(guest)
  }

  /** A guest visits up to three mechanisms. */
  private async visitsOf(guest: Guest): Promise<void> {
    for (let visits = this.dice.between(1, 3); visits > 0; visits--) {
      const { restMillisMax = 0 } = this.manner
      if (restMillisMax > 0) await pause(this.dice.between(0, restMillisMax))
      await this.turn()
      if (this.byKind.size === 0) {
        await pause(5)
        return
      }
      const mechanism = this.dice.pick(this.byKind.get(this.dice.pick([...this.byKind.keys()]))!)
      const isPassing = mechanism.isRenewed === true && this.manner.guests === undefined && this.dice.chance(0.5)
      const visitor = isPassing ? await this.passed(mechanism) : guest
      if (visitor === undefined) continue
      this.remember(visitor, mechanism)
      if (await this.visitOf(mechanism, visitor)) return
    }
  }

  /** A visitor comes to a site behind a gate: it gets a session and a place. Undefined if it is refused. */
  private async passed({ id }: Loaded): Promise<Guest | undefined> {
    const attempt = randomUUID()
    const pass = async () => {
      await this.turn()
      const answer = await this.persist(() => this.apis.pass(id, attempt))
      const consumerId = this.ledger.notePass(id, attempt, answer)
      return consumerId && { consumerId, accessToken: answer.body.accessToken! }
    }
    const visitor = await pass()
    // As if the first answer were lost.
    if (visitor && this.dice.chance(0.3)) await pass()
    return visitor || undefined
  }

  private visitOf(mechanism: Loaded, guest: Guest): Promise<boolean> {
    const path = pathOf(mechanism)
    const { consumerId } = guest
    const write = async (send: () => Promise<HttpAnswer>): Promise<Body | undefined> => {
      await this.turn()
      const answer = await this.persist(send)
      return this.ledger.note("write", mechanism.id, consumerId, answer) ? answer.body : undefined
    }
    const done = async (send: () => Promise<HttpAnswer>) => (await write(send)) !== undefined
    const visitor: Visitor = {
      guest,
      dice: this.dice,
      act: (action, body) => write(() => this.apis.doAs(guest, `${path}/${action}`, body)),
      shop: (action, body) => done(() => this.apis.doAsShop(`${path}/${action}`, { consumerId, ...body })),
      admin: (action) => done(() => this.apis.doAsAdmin("POST", `${path}/${action}`, { consumerId })),
      look: async () => {
        await this.turn()
        const answer = await this.look(mechanism, guest)
        this.ledger.notePosition(mechanism.id, consumerId, answer)
        if (this.dice.chance(0.3)) await this.lookAtAnother()
        return answer.body
      },
      see: async (what) => (await this.persist(() => this.apis.seeAs(guest, `${path}/${what}`))).body,
      rest: (millisMax) => pause(this.dice.between(1, millisMax))
    }
    return visits[mechanism.kind](mechanism, visitor)
  }

  private async look(mechanism: Loaded, guest: Guest): Promise<HttpAnswer> {
    const answer = await this.persist(() => this.apis.seeAs(guest, statusPathOf(mechanism)))
    this.ledger.note("read", mechanism.id, guest.consumerId, answer)
    return answer
  }

  /** A concurrent read of another guest's place. It may be ahead of that guest's response, but never of the journal. */
  private async lookAtAnother(): Promise<void> {
    if (this.recent.length === 0) return
    const { guest, mechanism } = this.dice.pick(this.recent)
    await this.look(mechanism, guest)
  }

  /** A guest that is returned may end its session, so no other worker may read its places. */
  private remember(guest: Guest, mechanism: Loaded): void {
    if (this.manner.guests !== undefined) return
    this.recent.push({ guest, mechanism })
    if (this.recent.length > recentMax) this.recent.shift()
  }

  /** The point where a worker waits while the load is paused, and ends when it is over. */
  private async turn(): Promise<void> {
    if (this.isStopped) throw new Stopped()
    if (!this.isPaused) return
    this.idle += 1
    await this.gate
    this.idle -= 1
  }

  /** Repeats a request until its response is not a 503. */
  private async persist<A extends object>(send: () => Promise<A>): Promise<A> {
    const begun = performance.now()
    for (;;) {
      const answer = await send().catch((error: unknown) => {
        if (error instanceof Unexpected && error.status !== 503) throw error
        return undefined
      })
      if (answer !== undefined && (!("status" in answer) || answer.status !== 503)) return answer
      this.retries += 1
      if (this.isStopped) throw new Stopped()
      if (performance.now() - begun > patienceSecondsMax * 1000) throw new Error("no answer for too long")
      await pause(retryPauseMillis)
    }
  }
}
