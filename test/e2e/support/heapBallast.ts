/**
 * Preloaded into a server, it simulates a leak: on SIGUSR2 it keeps memory until the heap is 82 % full.
 *
 *     NODE_OPTIONS="--max-old-space-size=512 --max-semi-space-size=8 --import=…/heapBallast.ts" usher serve
 *
 * Node's limit of the heap includes three semi-spaces. With large ones the old objects are full before the heap is.
 */
import { getHeapStatistics } from "node:v8"

const share = 0.82
const ballast: Array<ReadonlyArray<number>> = []

process.on("SIGUSR2", () => {
  const isFull = () => {
    const { used_heap_size: used, heap_size_limit: limit } = getHeapStatistics()
    return used > share * limit
  }
  while (!isFull()) ballast.push(Array.from({ length: 100_000 }, () => 0.5))
})
