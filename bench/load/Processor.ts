/**
 * Processor time of processes, from Linux's /proc. Unlike a rate, processor time a request hardly depends on what else
 * the machine does meanwhile, so it is the figure to compare when the machine is busy. Elsewhere than on Linux there is
 * no /proc and the figures are absent.
 */
import { readFileSync } from "node:fs"
import type { Watched } from "./Job.ts"

/** Linux counts processor time in hundredths of a second on every machine Node runs on. */
const ticksPerSecond = 100

/** Processor seconds used so far by each watched process, by name; those that cannot be read are left out. */
export function readProcessorSeconds(watched: ReadonlyArray<Watched>): { [name: string]: number } {
  const seconds: { [name: string]: number } = {}
  for (const process of watched) {
    const own = ticksOf(process.processId)
    if (own === undefined) continue
    // A child that has ended is counted in its parent's own record of ended children.
    let ticks = own.used + (process.withChildren ? own.endedChildren : 0)
    if (process.withChildren) {
      for (const child of childrenOf(process.processId)) ticks += ticksOf(child)?.used ?? 0
    }
    seconds[process.name] = ticks / ticksPerSecond
  }
  return seconds
}

/** Resident memory of a process in bytes, or undefined where it cannot be read. */
export function readResidentBytes(processId: number): number | undefined {
  const found = /VmRSS:\s+(\d+) kB/.exec(readText(`/proc/${processId}/status`) ?? "")
  return found === null ? undefined : Number(found[1]) * 1024
}

/** The parent of a process, or undefined where it cannot be read. */
export function readParent(processId: number): number | undefined {
  const fields = statFields(processId)
  return fields === undefined ? undefined : Number(fields[1])
}

function ticksOf(processId: number): { readonly used: number; readonly endedChildren: number } | undefined {
  const fields = statFields(processId)
  if (fields === undefined) return undefined
  return {
    used: Number(fields[11]) + Number(fields[12]),
    endedChildren: Number(fields[13]) + Number(fields[14])
  }
}

/** The fields of /proc/<pid>/stat after the name, which may hold blanks and brackets itself: state, parent, … */
function statFields(processId: number): ReadonlyArray<string> | undefined {
  const text = readText(`/proc/${processId}/stat`)
  return text?.slice(text.lastIndexOf(")") + 2).split(" ")
}

function childrenOf(processId: number): ReadonlyArray<number> {
  const text = readText(`/proc/${processId}/task/${processId}/children`) ?? ""
  return text.split(" ").filter(Boolean).map(Number)
}

function readText(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8")
  } catch {
    return undefined
  }
}
