/** The checks of a visitor on a queue's line, in every history of random commands. */
import { assert } from "@effect/vitest"
import { lineOf } from "../../../src/domain/queue/Line.ts"
import { contradictions, positionIn } from "../../../src/domain/queue/LineChecks.ts"
import type { Line } from "../../../src/domain/queue/Queue.ts"
import type { History } from "./history.ts"

/** Makes the check: each ticket has its consumer's position, and no line contradicts an earlier one. */
export const checkingLines = (history: History, consumers: ReadonlyArray<string>): (() => void) => {
  const earlier: Array<Line> = []
  return () => {
    const { state } = history
    const line = lineOf(state)
    const seconds = (state.lastAt - startOf(history)) / 1_000
    const positions = new Set<number>()
    for (const consumerId of consumers) {
      const view = history.view(seconds, consumerId)
      if (view.status !== "QUEUED" || view.ticket === undefined) continue
      assert.strictEqual(positionIn(line, view.ticket), view.position)
      positions.add(view.position!)
    }
    if (line.isComplete) assert.strictEqual(positions.size, line.waiting)
    else assert.isEmpty(positions)
    for (let ticket = 0; ticket < line.next; ticket++) assert.isUndefined(positionIn(line, ticket))
    // The last line, and some from long before.
    for (const before of [earlier.at(-1), earlier.at(-7), earlier[0]]) {
      if (before !== undefined) assert.deepStrictEqual(contradictions(before, line), [])
    }
    earlier.push(line)
  }
}

/** The instant of the creation. */
const startOf = ({ events }: History): number => events[0]!.at
