/** Progress of a long operation, on standard error: a bar that is redrawn on a terminal, or else occasional lines. */
import { Clock, Effect } from "effect"

const barWidth = 30
const lineMillis = 10_000
const redrawMillis = 100

/** Tracks the progress of `total` steps that started at `begunAt`. */
export const makeProgress = (total: number, begunAt: number) => {
  const isTerminal = process.stderr.isTTY
  let done = 0
  let shownAt = begunAt

  const show = (what: string, now: number): void => {
    // There may be more work than was counted.
    const share = Math.min(done / total, 1)
    const seconds = (now - begunAt) / 1000
    const left = share === 0 ? "" : `, ${Math.ceil((seconds / share) * (1 - share))} s left`
    const text = `${Math.floor(share * 100)} %  ${what}  ${done.toLocaleString("en")} of ${total.toLocaleString("en")}${left}`
    const filled = Math.round(share * barWidth)
    const bar = "█".repeat(filled) + "·".repeat(barWidth - filled)
    process.stderr.write(isTerminal ? `\r\u001b[2K${bar} ${text}` : `${text}\n`)
  }

  const reach = (what: string, steps: number) =>
    Effect.map(Clock.currentTimeMillis, (now) => {
      done = steps
      if (now - shownAt < (isTerminal ? redrawMillis : lineMillis)) return
      shownAt = now
      show(what, now)
    })

  return {
    /** Adds completed steps. */
    advance: (what: string, steps: number) => Effect.suspend(() => reach(what, done + steps)),
    /** Sets the completed steps. */
    reach,
    end: Effect.sync(() => {
      if (isTerminal) process.stderr.write("\r\u001b[2K")
    })
  }
}
