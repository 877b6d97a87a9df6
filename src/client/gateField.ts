/**
 * A gate inside of a site's own process. It has no loops, because some runtimes stop between requests: a request finds
 * out what is due, and reads it in the background. It waits only where the gate knows nothing yet, or old things alone.
 * Times tell who reads, not promises: some runtimes let no request wait for another one's calls.
 */
import { decide, type GateRequest, importKeys, type PassAnswer, settle, type Settled } from "./gate.ts"
import {
  CallLate,
  CallRefused,
  type GateAddress,
  type GateCalls,
  makeCalls,
  patienceMillisDefault
} from "./gateCalls.ts"
import { GateMemory } from "./gateMemory.ts"
import { type FailMode, pathOf } from "./gateRules.ts"

export interface GateSettings extends GateAddress {
  /** What happens to all requests while the gate has never read its record. Default: closed. */
  readonly failMode?: FailMode
  /** Told when Usher is out of reach or refuses, at most once a second. Default: a warning on the console. */
  readonly report?: (problem: string) => void
}

/** Has a runtime finish work after its answer. */
export type Later = (work: Promise<unknown>) => void

/** How old each part may be. */
const millis = { record: 10_000, engagedRecord: 2_000, keys: 60_000, ended: 1_000, renewals: 1_000 }

/** A site without visitors reads nothing. After this time the next one waits for it. */
const staleMillis = 30_000

/** From the beginning of one attempt to that of the next while Usher is out of reach. */
const breakMillis = 1_000

/** Between two looks whether another request has read the record. */
const lookMillis = 20

/** Pages of ended grants in one reading; the next one goes on. */
const pagesMax = 20

const limits = { ended: 100_000, visitors: 50_000 }

const grantsAtOnceMax = 1_000

/** Calls of `pass` that are under way. Further visitors go to the room. */
const asksMax = 200

export class GateField {
  readonly #settings: GateSettings
  readonly #calls: GateCalls
  readonly #now: () => number
  readonly #patienceMillis: number
  #memory: GateMemory | undefined
  #etag: string | null = null
  /** Where the list of ended grants goes on. */
  #since: string | null = null
  #after: string | null = null
  /** When each part has to be read again. */
  #due = { record: 0, keys: 0, ended: 0 }
  #isReading = false
  #hasFailed = false
  /** Until then another request reads, or nobody tries. */
  #busyUntil = 0
  /** When Usher has answered last. */
  #readAt = 0
  /** The time of the last renewal, or of the next one. */
  #renewAt = 0
  #reportedAt = -Infinity
  /** Usher may have a new key that is not known here: they are read again then, but not before this time. */
  #keysAgainAt = 0
  #asks = 0
  /** The runtime, and a random name, which some runtimes cannot make before a request. */
  readonly #runtime: string
  #instance: string | undefined

  constructor(settings: GateSettings, runtime: string) {
    this.#runtime = runtime
    this.#settings = settings
    this.#calls = makeCalls(settings)
    this.#now = settings.now ?? Date.now
    this.#patienceMillis = settings.patienceMillis ?? patienceMillisDefault
  }

  /** Decides, with all calls that this takes. `form` reads the body at the return path. */
  async decide(request: GateRequest, form: () => Promise<string | undefined>, later: Later): Promise<Settled> {
    await this.#refresh(later)
    const memory = this.#memory
    if (!memory) return this.#settings.failMode === "open" ? { kind: "pass" } : { kind: "closed", retryAfterSeconds: 5 }
    const isReturn = request.method === "POST" && pathOf(request.target) === memory.gate.returnPath
    const text = isReturn ? await form() : undefined
    const decision = await this.#settled(memory, text === undefined ? request : { ...request, form: text })
    memory.count(decision.kind)
    if (decision.kind === "pass" && decision.jti !== undefined) {
      memory.seen(decision.jti, this.#now(), decision.cookie !== undefined)
      this.#renewLater(memory, later)
    }
    return decision
  }

  async #settled(memory: GateMemory, request: GateRequest): Promise<Settled> {
    const decision = await decide(memory.knowledge(this.#now()), request)
    if (decision.kind !== "ask") return decision
    const answer = await this.#ask(memory, decision.queueId, request.clientAddress)
    const settled = await settle(memory.knowledge(this.#now()), request, answer)
    const isUnknownKey = answer.status === "GRANTED" && !("jti" in settled)
    if (!isUnknownKey || this.#now() < this.#keysAgainAt) return settled
    this.#keysAgainAt = this.#now() + breakMillis
    memory.keys = await this.#calls.keys().then(importKeys, () => memory.keys)
    return settle(memory.knowledge(this.#now()), request, answer)
  }

  /** Reads what is due. */
  async #refresh(later: Later): Promise<void> {
    const now = this.#now()
    if (now >= this.#busyUntil && Object.values(this.#due).some((due) => now >= due)) {
      this.#isReading = true
      this.#busyUntil = now + this.#patienceMillis
      const mustWait = this.#mustWait(now)
      const reading = this.#read(now)
      later(reading)
      return mustWait ? reading : undefined
    }
    const until = now + this.#patienceMillis
    while (this.#isReading && this.#mustWait(now) && this.#now() < until) await sleep(lookMillis)
  }

  /** True if nothing is known, or old things alone. After a failure nobody waits. */
  #mustWait(now: number): boolean {
    return !this.#hasFailed && (!this.#memory || now - this.#readAt > staleMillis)
  }

  async #read(now: number): Promise<void> {
    try {
      const memory = await this.#recordAndKeys(now)
      await this.#ended(memory, now)
      memory.isReachable = true
      this.#readAt = now
      this.#busyUntil = 0
      this.#hasFailed = false
    } catch (error) {
      this.#busyUntil = now + breakMillis
      this.#hasFailed = true
      this.#failed(error)
    }
    this.#isReading = false
  }

  async #recordAndKeys(now: number): Promise<GateMemory> {
    const due = this.#due
    // An engaged queue that this gate has noticed itself is not in the tag.
    const tag = this.#memory?.isEngaged ? null : this.#etag
    const [found, keySet] = await Promise.all([
      now >= due.record ? this.#calls.record(tag) : undefined,
      now >= due.keys ? this.#calls.keys() : undefined
    ])
    const keys = keySet && (await importKeys(keySet))
    const memory = (this.#memory ??= new GateMemory(found!.record, keys!, limits))
    if (found) [memory.gate, this.#etag] = [found.record, found.etag]
    if (keys) memory.keys = keys
    if (now >= due.record) due.record = now + (memory.isEngaged ? millis.engagedRecord : millis.record)
    if (now >= due.keys) due.keys = now + millis.keys
    return memory
  }

  async #ended(memory: GateMemory, now: number): Promise<void> {
    if (now < this.#due.ended) return
    memory.forgetExpired(now)
    this.#instance ??= `${this.#runtime}/${crypto.randomUUID()}`
    for (let page = 0; page < pagesMax; page++) {
      const { data, until, next } = await this.#calls.ended(this.#since, this.#after, memory.report(this.#instance))
      for (const { jti, expiresAt } of data) memory.end(jti, expiresAt === null ? Infinity : Date.parse(expiresAt))
      this.#after = next
      if (next !== null) continue
      this.#since = until
      this.#due.ended = now + millis.ended
      return
    }
  }

  /** Asks Usher about a new visitor. */
  async #ask(memory: GateMemory, queueId: string, clientAddress: string | undefined): Promise<PassAnswer> {
    // A flood must not open a gate.
    if (this.#asks >= asksMax) return { status: "ROOM" }
    this.#asks++
    try {
      const answer = await this.#calls.pass(queueId, crypto.randomUUID(), clientAddress)
      if (answer.status === "QUEUED") memory.engage(queueId)
      return answer
    } catch (error) {
      this.#failed(error)
      return { status: "FAILED" }
    } finally {
      this.#asks--
    }
  }

  /** Renews the grants of visitors, with one call a second at most. */
  #renewLater(memory: GateMemory, later: Later): void {
    const now = this.#now()
    if (!memory.hasRenewals || this.#renewAt > now) return
    const wait = Math.max(0, this.#renewAt + millis.renewals - now)
    this.#renewAt = now + wait
    later(sleep(wait).then(() => this.#renew(memory)))
  }

  async #renew(memory: GateMemory): Promise<void> {
    for (const [queueId, grants] of memory.takeRenewals(grantsAtOnceMax)) {
      try {
        memory.noteEnds(await this.#calls.renew(queueId, grants))
      } catch (error) {
        this.#failed(error)
        if (!(error instanceof CallRefused)) memory.putBack(queueId, grants)
      }
    }
  }

  /** While Usher is out of reach nobody waits for it, until a call succeeds. */
  #failed(error: unknown): void {
    const now = this.#now()
    if (error instanceof CallRefused) this.#after = null
    else if (this.#memory && !(error instanceof CallLate)) {
      this.#memory.isReachable = false
      this.#due = { record: 0, keys: 0, ended: 0 }
    }
    if (now - this.#reportedAt < breakMillis) return
    this.#reportedAt = now
    const { report = console.warn } = this.#settings
    report(`The gate has no good answer from Usher: ${String(error)}`)
  }
}

const sleep = (wait: number) => new Promise<void>((awake) => setTimeout(awake, wait))
