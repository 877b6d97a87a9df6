/**
 * Consumers that come, wait, look, buy and leave without end, each over connections that break when the server does;
 * then they try again. Everything they are told goes into the ledger.
 */
import { type Apis, type Guest, Unexpected } from "./Apis.ts"
import type { Dice } from "./Dice.ts"
import type { HttpAnswer } from "./HttpConnections.ts"
import type { Ledger } from "./Ledger.ts"
import { pause } from "./Processes.ts"

/** A queue that the load may use. */
export interface LoadedQueue {
  readonly id: string
  /** Admitted by hand: then the shop admits. */
  readonly byHand: boolean
}

const retryPauseMillis = 40
const recentMax = 64

/** Nobody waits longer than this for an answer; the load then counts it as one that should not be. */
const patienceSecondsMax = 45

/** Thrown through a worker when the load is to end. */
class Stopped extends Error {}

export class Load {
  queues: ReadonlyArray<LoadedQueue> = []
  /** Attempts that got no answer and were made again. */
  retries = 0
  private readonly apis: Apis
  private readonly ledger: Ledger
  private readonly dice: Dice
  private readonly workers: ReadonlyArray<Promise<void>>
  private readonly recent: Array<{ readonly guest: Guest; readonly queueId: string }> = []
  private isStopped = false
  private gate: Promise<void> | undefined
  private idle = 0
  private isPaused = false

  constructor(apis: Apis, ledger: Ledger, dice: Dice, workers: number) {
    this.apis = apis
    this.ledger = ledger
    this.dice = dice
    this.workers = Array.from({ length: workers }, () => this.work())
  }

  /** Lets everyone finish what is under way and wait; answers how to let them go on. */
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

  /** One guest, who comes up to three times. */
  private async visit(): Promise<void> {
    const guest = await this.persist(() => this.apis.guest())
    for (let visits = this.dice.between(1, 3); visits > 0; visits--) {
      await this.turn()
      if (this.queues.length === 0) {
        await pause(5)
        return
      }
      const queue = this.dice.pick(this.queues)
      if (!(await this.write(queue, guest, () => this.apis.enter(queue.id, guest)))) continue
      this.remember(guest, queue)
      if (await this.wait(queue, guest)) return
    }
  }

  /** Waits in the line for a while, ends one way or another. True if the guest cannot come again. */
  private async wait(queue: LoadedQueue, guest: Guest): Promise<boolean> {
    for (let looks = this.dice.between(1, 8); looks > 0; looks--) {
      await this.turn()
      const answer = await this.look(queue.id, guest)
      this.ledger.notePosition(queue.id, guest.consumerId, answer)
      if (this.dice.chance(0.3)) await this.lookAtAnother()
      const { status } = answer.body
      if (status === "QUEUED" && queue.byHand) await this.shop(queue, guest, this.dice.chance(0.8) ? "admit" : "deny")
      else if (status === "GRANTED" && this.dice.chance(0.4)) return this.shop(queue, guest, "complete")
      else if (status !== "QUEUED" && status !== "GRANTED") return false
      if (this.dice.chance(0.2)) await pause(this.dice.between(1, 20))
    }
    await this.write(queue, guest, () => this.apis.leave(queue.id, guest))
    return false
  }

  private shop(queue: LoadedQueue, guest: Guest, action: "admit" | "complete" | "deny"): Promise<boolean> {
    return this.write(queue, guest, () => this.apis.act(queue.id, action, guest.consumerId))
  }

  private async write(queue: LoadedQueue, guest: Guest, send: () => Promise<HttpAnswer>): Promise<boolean> {
    await this.turn()
    return this.ledger.note("write", queue.id, guest.consumerId, await this.persist(send))
  }

  private async look(queueId: string, guest: Guest): Promise<HttpAnswer> {
    const answer = await this.persist(() => this.apis.status(queueId, guest))
    this.ledger.note("read", queueId, guest.consumerId, answer)
    return answer
  }

  /** A reader beside the writer: may see what another is about to be told, but never what is not on record. */
  private async lookAtAnother(): Promise<void> {
    if (this.recent.length === 0) return
    const { guest, queueId } = this.dice.pick(this.recent)
    await this.look(queueId, guest)
  }

  private remember(guest: Guest, { id }: LoadedQueue): void {
    this.recent.push({ guest, queueId: id })
    if (this.recent.length > recentMax) this.recent.shift()
  }

  /** The point where a worker waits if the load is paused, and ends if it is over. */
  private async turn(): Promise<void> {
    if (this.isStopped) throw new Stopped()
    if (!this.isPaused) return
    this.idle += 1
    await this.gate
    this.idle -= 1
  }

  /** Tries until there is an answer that is not "come back later". */
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
