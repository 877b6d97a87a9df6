/**
 * A copy of a queue's line, for a node that does not own the queue. With it, the node computes the view of every waiting
 * consumer whose ticket it knows. The owner keeps the copy current: it sends the tickets that stopped waiting since the
 * copy's version. The version is the number of all tickets that have stopped waiting.
 */
import { isClosed } from "../mechanism/State.ts"
import type { Millis } from "../values/Time.ts"
import { goneCount } from "./LineState.ts"
import type { View } from "./Protocol.ts"
import { isInLobby, type State } from "./State.ts"
import { paceOf, type Pace, waitingView } from "./View.ts"

/** What makes a copy current. */
export interface LineUpdate {
  readonly version: number
  /** The number of the queue's last event. */
  readonly sequence: number
  /** The last ticket. */
  readonly issued: number
  /** The tickets that stopped waiting since the copy's version; or, with `base`, all of them behind `base`. */
  readonly gone: Uint32Array
  /** Present if the update does not depend on a version: no ticket up to this one waits. */
  readonly base?: number
  readonly pace: Pace
}

/** A waiting consumer's own part of its view. */
export interface WaitingPlace {
  readonly ticket: number
  readonly joined: number
  readonly enteredAt: Millis
}

/**
 * Returns the update for a copy with this version, or for a new one. Undefined while tickets alone do not give the views:
 * in the lobby, after a head start, and after the closing.
 */
export const lineUpdate = (state: State, version: number | undefined, now: Millis): LineUpdate | undefined => {
  const { line } = state
  if (line.isMoved || isInLobby(state) || isClosed(state, now)) return undefined
  const { sequence } = state
  const common = { version: goneCount(line), sequence, issued: line.issued, pace: paceOf(state) }
  const missing = common.version - (version ?? -Infinity)
  if (missing >= 0 && missing <= line.lastGone.length) {
    return { ...common, gone: Uint32Array.from(line.lastGone.slice(line.lastGone.length - missing)) }
  }
  const base = (state.waiting.first?.ticket ?? line.issued + 1) - 1
  return { ...common, base, gone: goneBehind(base, state) }
}

const goneBehind = (base: number, { line, waiting }: State): Uint32Array => {
  const gone = new Uint32Array(line.issued - base - waiting.size)
  let count = 0
  let next = base + 1
  const addUpTo = (ticket: number): void => {
    while (next < ticket) gone[count++] = next++
    next++
  }
  waiting.eachChunk((members) => {
    for (const { ticket } of members) addUpTo(ticket)
    return true
  })
  addUpTo(line.issued + 1)
  return gone
}

export class LineCopy {
  #update: LineUpdate | undefined
  #gone = new TicketSet(0)

  /** The version; undefined if the copy shows nothing. */
  get version(): number | undefined {
    return this.#update?.version
  }

  /** The number of the last event that the copy shows; undefined if it shows nothing. */
  get sequence(): number | undefined {
    return this.#update?.sequence
  }

  /** Makes the copy current. Undefined makes it show nothing. */
  apply(update: LineUpdate | undefined): void {
    this.#update = update
    if (update?.base !== undefined) this.#gone = new TicketSet(update.base)
    for (const ticket of update?.gone ?? []) this.#gone.add(ticket)
  }

  /** Returns the view of the consumer with this ticket; undefined if the ticket does not wait. */
  view({ ticket, joined, enteredAt }: WaitingPlace): View | undefined {
    if (this.#update === undefined || ticket > this.#update.issued || this.#gone.has(ticket)) return undefined
    return waitingView(enteredAt, { position: this.#gone.missingUpTo(ticket), ticket, joined }, this.#update.pace)
  }
}

/** A set of tickets: a bit for each, and a Fenwick tree over the numbers of bits in each word. */
class TicketSet {
  /** Every ticket up to this one is in the set, without a bit. */
  readonly #base: number
  #words = new Uint32Array(64)
  #tree = new Uint32Array(65)

  constructor(base: number) {
    this.#base = base
  }

  has(ticket: number): boolean {
    const index = ticket - this.#base - 1
    return index < 0 || ((this.#words[index >>> 5] ?? 0) & (1 << (index & 31))) !== 0
  }

  add(ticket: number): void {
    if (this.has(ticket)) return
    const index = ticket - this.#base - 1
    const word = index >>> 5
    while (word >= this.#words.length) this.#grow()
    this.#words[word]! |= 1 << (index & 31)
    for (let node = word + 1; node < this.#tree.length; node += node & -node) this.#tree[node]!++
  }

  /** Returns how many tickets up to this one, itself included, are not in the set. */
  missingUpTo(ticket: number): number {
    const index = ticket - this.#base - 1
    const word = Math.min(index >>> 5, this.#words.length)
    let count = bitCount((this.#words[word] ?? 0) & (0xffffffff >>> (31 - (index & 31))))
    for (let node = word; node > 0; node -= node & -node) count += this.#tree[node]!
    return index + 1 - count
  }

  #grow(): void {
    const words = new Uint32Array(2 * this.#words.length)
    words.set(this.#words)
    const tree = new Uint32Array(words.length + 1)
    for (let node = 1; node < tree.length; node++) {
      tree[node]! += bitCount(words[node - 1]!)
      const parent = node + (node & -node)
      if (parent < tree.length) tree[parent]! += tree[node]!
    }
    this.#words = words
    this.#tree = tree
  }
}

/** Counts the bits of a word that are set (Warren, Hacker's Delight, 5-1). */
const bitCount = (word: number): number => {
  const pairs = word - ((word >>> 1) & 0x55555555)
  const nibbles = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((nibbles + (nibbles >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
