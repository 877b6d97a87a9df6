/**
 * A list whose members are sorted by `order`. Members of the same order stay in the order in which they were inserted.
 *
 * The members are kept in chunks of at most `chunkSizeMax`, and the chunks' sizes in a Fenwick tree; each member knows
 * its chunk. A position costs one walk up the tree and one scan of a chunk, whatever the length of the list. Inserting
 * at the end, the usual case, costs one push. Inserting at the head, as the best bid does, needs no search either. The
 * tree is rebuilt when a chunk is added or removed, at most once in `chunkSizeMax / 2` changes.
 */

/** Measured: 256 to 1,024 give the same cost for a position; smaller chunks make changes cheaper. */
const chunkSizeMax = 512

/** A run of neighbouring members; only the list writes its fields. */
export interface Chunk<M> {
  /** The index among the chunks. */
  index: number
  readonly members: Array<M>
}

/**
 * A member of a list; of one list at a time. `order` must not change while it is listed. Where a number is not exact
 * enough, `order` is a bigint for all members of the list.
 */
export interface Member<M> {
  readonly order: number | bigint
  /** Written by the list; undefined while the member is in no list. */
  chunk: Chunk<M> | undefined
}

export class IndexedList<M extends Member<M>> {
  #size = 0
  #chunks: Array<Chunk<M>> = []
  /** Fenwick tree over the sizes of the chunks, from index 1. */
  readonly #sizes: Array<number> = [0]
  /**
   * The changes since the mark: the position of each inserted member, and the negative position of each removed one.
   */
  #changes: Array<number> | undefined
  #isRewound = false

  get size(): number {
    return this.#size
  }

  /** The first member. */
  get first(): M | undefined {
    return this.#chunks[0]?.members[0]
  }

  /** The last member. */
  get last(): M | undefined {
    return this.#chunks.at(-1)?.members.at(-1)
  }

  /** Returns the first `count` members, or all if there are fewer. */
  head(count: number): Array<M> {
    const members: Array<M> = []
    for (let index = 0; index < this.#chunks.length && members.length < count; index++) {
      members.push(...this.#chunks[index]!.members.slice(0, count - members.length))
    }
    return members
  }

  /** Visits the members in order, a few hundred at a time, until `visit` returns false. */
  eachChunk(visit: (members: ReadonlyArray<M>) => boolean): void {
    for (const { members } of this.#chunks) if (!visit(members)) return
  }

  /** Inserts a member behind all members of the same or a smaller order. */
  insert(member: M): void {
    const chunk = this.#chunkFor(member.order)
    const members = chunk.members
    member.chunk = chunk
    this.#size++
    let index = members.length
    if (index === 0 || members[index - 1]!.order <= member.order) members.push(member)
    else if (member.order < members[0]!.order) {
      index = 0
      members.unshift(member)
    } else {
      index = firstAfter(members, member.order)
      members.splice(index, 0, member)
    }
    this.#changes?.push(this.#ahead(chunk) + index + 1)
    if (members.length > chunkSizeMax) this.#split(chunk)
    else this.#resize(chunk, 1)
  }

  /** Removes a member. Does nothing if it is in no list. */
  remove(member: M): void {
    const chunk = member.chunk
    if (chunk === undefined) return
    const members = chunk.members
    member.chunk = undefined
    this.#size--
    const index = members.indexOf(member)
    if (index === 0) members.shift()
    else members.splice(index, 1)
    this.#changes?.push(-(this.#ahead(chunk) + index + 1))
    if (members.length > 0) return this.#resize(chunk, -1)
    this.#chunks.splice(chunk.index, 1)
    this.#number(chunk.index)
  }

  /** Returns whether the member is in this list. */
  has({ chunk }: M): boolean {
    return chunk !== undefined && this.#chunks[chunk.index] === chunk
  }

  /** Returns 1 + the number of members ahead; 0 for a member that is in no list. */
  position(member: M): number {
    const chunk = member.chunk
    if (chunk === undefined) return 0
    const position = this.#ahead(chunk) + chunk.members.indexOf(member) + 1
    return this.#isRewound ? this.#positionAtMark(position) : position
  }

  /** Starts to note the changes, until the next mark, so that {@link rewind} can undo them for positions. */
  mark(): void {
    this.#changes = []
  }

  /**
   * Restores the positions at the mark, for members that were not inserted since. The list must not change afterwards.
   */
  rewind(): void {
    this.#isRewound = this.#changes !== undefined
  }

  /** Empties the list and returns its former members, in order. */
  takeAll(): Array<M> {
    const members = this.#chunks.flatMap((chunk) => chunk.members)
    for (const member of members) member.chunk = undefined
    this.#changes = undefined
    this.#chunks = []
    this.#size = 0
    this.#number(0)
    return members
  }

  /** Returns the number of members in the chunks before this one. */
  #ahead(chunk: Chunk<M>): number {
    let ahead = 0
    for (let index = chunk.index; index > 0; index -= index & -index) ahead += this.#sizes[index]!
    return ahead
  }

  #positionAtMark(position: number): number {
    return this.#changes!.reduceRight((now, change) => {
      if (change < 0) return now >= -change ? now + 1 : now
      return now > change ? now - 1 : now
    }, position)
  }

  /** Returns the chunk for a new member of this order: the last chunk whose first member is not behind it. */
  #chunkFor(order: M["order"]): Chunk<M> {
    const chunks = this.#chunks
    const last = chunks[chunks.length - 1]
    if (last === undefined) return this.#append()
    if (last.members[last.members.length - 1]!.order <= order) {
      return last.members.length < chunkSizeMax ? last : this.#append()
    }
    if (order < chunks[0]!.members[0]!.order) return chunks[0]!
    let low = 0
    let high = chunks.length - 1
    while (low < high) {
      const middle = (low + high + 1) >>> 1
      if (chunks[middle]!.members[0]!.order <= order) low = middle
      else high = middle - 1
    }
    return chunks[low]!
  }

  #append(): Chunk<M> {
    const chunk: Chunk<M> = { index: this.#chunks.length, members: [] }
    this.#chunks.push(chunk)
    this.#number(chunk.index)
    return chunk
  }

  #split(chunk: Chunk<M>): void {
    const behind: Chunk<M> = { index: chunk.index + 1, members: chunk.members.splice(chunkSizeMax >>> 1) }
    for (const member of behind.members) member.chunk = behind
    this.#chunks.splice(behind.index, 0, behind)
    this.#number(behind.index)
  }

  #resize(chunk: Chunk<M>, by: number): void {
    const sizes = this.#sizes
    for (let index = chunk.index + 1; index < sizes.length; index += index & -index) sizes[index]! += by
  }

  /** Numbers the chunks again, starting at `from`, and rebuilds the tree. */
  #number(from: number): void {
    const chunks = this.#chunks
    for (let index = from; index < chunks.length; index++) chunks[index]!.index = index
    const sizes = this.#sizes
    sizes.length = 1
    for (const chunk of chunks) sizes.push(chunk.members.length)
    for (let index = 1; index < sizes.length; index++) {
      const parent = index + (index & -index)
      if (parent < sizes.length) sizes[parent]! += sizes[index]!
    }
  }
}

/** Returns the index of the first member whose order is greater. */
function firstAfter<M extends Member<M>>(members: ReadonlyArray<M>, order: M["order"]): number {
  let low = 0
  let high = members.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (members[middle]!.order <= order) low = middle + 1
    else high = middle
  }
  return low
}
