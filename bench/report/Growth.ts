/** Measures how the cost of an operation grows with connections and with queue length. */
import { type Bench, type Measured, withProgram } from "../Bench.ts"
import type { Curve, Point } from "./Figures.ts"
import * as Progress from "./Progress.ts"
import type { Program, Running } from "../programs/Program.ts"

/** Measures each program at 1 to 1,000 connections. */
export function overConnections(
  bench: Bench,
  title: string,
  measure: (running: Running, connections: number) => Promise<Measured>
): Promise<Curve> {
  const steps = bench.arguments.quick ? [1, 64] : [1, 8, 64, 256, 1000]
  return draw(bench, bench.programs, { title, over: "connections", steps }, (program, step) =>
    withProgram(program, 0, (running) => measure(running, step))
  )
}

/** Measures each program that stores places with 1,000 to 1,000,000 waiting. */
export function overWaiting(
  bench: Bench,
  title: string,
  measure: (running: Running, waiting: number) => Promise<Measured>
): Promise<Curve> {
  const steps = bench.arguments.quick ? [1_000, 10_000] : [1_000, 10_000, 100_000, 1_000_000]
  const keepers = bench.programs.filter((program) => program.name !== "noop")
  return draw(bench, keepers, { title, over: "places waiting", steps }, (program, step) =>
    withProgram(program, step, (running) => measure(running, step))
  )
}

async function draw(
  bench: Bench,
  programs: ReadonlyArray<Program>,
  curve: Pick<Curve, "title" | "over"> & { readonly steps: ReadonlyArray<number> },
  measure: (program: Program, step: number) => Promise<Measured>
): Promise<Curve> {
  const points: Array<Point> = []
  for (const step of bench.arguments.curves ? curve.steps : []) {
    for (const program of programs) {
      if (program.missing !== undefined) continue
      Progress.show(`${curve.title}: ${program.name} at ${step} ${curve.over}`)
      const values = await measure(program, step)
      points.push({ program: program.name, x: step, values })
      const [name, value] = Object.entries(values)[0]!
      Progress.say(`${curve.title}  ${program.name.padEnd(16)} ${step} ${curve.over}  ${name} ${value.toFixed(1)}`)
    }
  }
  return { title: curve.title, over: curve.over, points }
}
