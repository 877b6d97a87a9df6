/**
 * The demo's display. On a terminal the figures are a block that is redrawn in place. Elsewhere they are a plain line
 * every two seconds. Messages appear above the figures.
 */
import { Clock, Effect, Stdio, Terminal } from "effect"
import type { Crowd } from "./Crowd.ts"

export interface Board {
  /** Prints a message above the figures. */
  readonly print: (line: string) => Effect.Effect<void>
  /** Shows the figures while the effect runs. */
  readonly during: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
}

/** Earlier figures, to compute rates from. */
interface Sample {
  readonly at: number
  readonly entered: number
  readonly admitted: number
  readonly completed: number
}

const redrawMillis = 200
const plainLineMillis = 2_000
/** Longer than the time between two lines, so that there is always an earlier sample. */
const rateWindowMillis = 2_500
const barWidth = 40

/** Creates a board for the crowd's figures. `isUp` returns whether the server runs. */
export const make = Effect.fnUntraced(function* (
  crowd: Crowd,
  options: { readonly consumers: number; readonly pairs: number; readonly isUp: () => boolean }
) {
  const terminal = yield* Terminal.Terminal
  const isTerminal = yield* (yield* Stdio.Stdio).stdoutIsTerminal
  const begunAt = yield* Clock.currentTimeMillis
  let samples: Array<Sample> = []
  let linesDrawn = 0

  const write = (text: string) => Effect.ignore(terminal.display(text))
  const clear = () => (linesDrawn === 0 ? "" : `\x1b[${linesDrawn}A\x1b[J`)

  const rates = (now: number) => {
    const { entered, admitted, completed } = crowd.tally
    samples = [...samples.filter(({ at }) => at > now - rateWindowMillis), { at: now, entered, admitted, completed }]
    const first = samples[0]!
    const seconds = Math.max((now - first.at) / 1000, 0.001)
    const rate = (count: number) => (samples.length < 2 ? 0 : Math.round(count / seconds))
    return {
      entries: rate(entered - first.entered),
      admissions: rate(admitted - first.admitted),
      purchases: rate(completed - first.completed)
    }
  }

  const draw = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const lines = block(crowd, options, rates(now), now - begunAt)
    yield* write(`${clear()}${lines.join("\n")}\n`)
    linesDrawn = lines.length
  })

  const line = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    yield* write(`${plain(crowd, options.isUp(), rates(now), now - begunAt)}\n`)
  })

  const show = isTerminal
    ? Effect.forever(Effect.andThen(draw, Effect.sleep(redrawMillis)))
    : Effect.forever(Effect.andThen(Effect.sleep(plainLineMillis), line))

  const board: Board = {
    print: (text) =>
      Effect.suspend(() => {
        const printed = write(`${clear()}${text}\n`)
        linesDrawn = 0
        return printed
      }),
    during: (effect) =>
      Effect.scoped(Effect.andThen(Effect.forkScoped(show), effect)).pipe(
        Effect.ensuring(Effect.suspend(() => (isTerminal ? draw : line))),
        Effect.ensuring(Effect.sync(() => (linesDrawn = 0)))
      )
  }
  return board
})

interface Rates {
  readonly entries: number
  readonly admissions: number
  readonly purchases: number
}

const block = (
  { tally }: Crowd,
  options: { readonly consumers: number; readonly pairs: number; readonly isUp: () => boolean },
  rates: Rates,
  elapsedMillis: number
): ReadonlyArray<string> => [
  "",
  `  ${seconds(elapsedMillis)}   server ${options.isUp() ? "up" : "DOWN"}   ${tally.polls} polls, ${tally.retries} retries`,
  `  waiting    ${bar(tally.waiting, options.consumers)} ${figure(tally.waiting)}   ${figure(rates.entries)} entries/s`,
  `  admitted   ${bar(tally.admitted, options.consumers)} ${figure(tally.admitted)}   ${figure(rates.admissions)} admissions/s`,
  `  completed  ${bar(tally.completed, options.pairs)} ${figure(tally.completed)}   ${figure(rates.purchases)} purchases/s`,
  `  expired ${tally.expired}   left ${tally.left}   turned away ${tally.turnedAway}`,
  ""
]

const plain = ({ tally }: Crowd, isUp: boolean, rates: Rates, elapsedMillis: number): string =>
  `${seconds(elapsedMillis)}  ${isUp ? "" : "[server down] "}waiting ${tally.waiting}, admitted ${tally.admitted}` +
  ` (${rates.admissions}/s), expired ${tally.expired}, completed ${tally.completed} (${rates.purchases}/s),` +
  ` left ${tally.left}, entries ${rates.entries}/s`

const bar = (value: number, full: number): string => {
  const filled = Math.min(barWidth, Math.round((value / full) * barWidth))
  return "█".repeat(filled) + "·".repeat(barWidth - filled)
}

const figure = (value: number): string => `${value}`.padStart(5)

const seconds = (millis: number): string => `${(millis / 1000).toFixed(1).padStart(5)} s`
