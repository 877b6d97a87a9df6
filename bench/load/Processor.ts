/**
 * Processor time of processes, from Linux's /proc. Other load on the machine hardly changes processor time per request,
 * so it is the figure to compare on a busy machine. On other systems there is no /proc and the figures are absent.
 */
import { readFileSync } from "node:fs"
import type { ThreadSeconds, Watched } from "./Job.ts"

/** Linux reports processor time in hundredths of a second on every platform that Node supports. */
const ticksPerSecond = 100

/** Returns the processor seconds of each watched process, by name. Leaves out processes that it cannot read. */
export function readProcessorSeconds(watched: ReadonlyArray<Watched>): { [name: string]: number } {
  const seconds: { [name: string]: number } = {}
  for (const process of watched) {
    const own = ticksOf(process.processId)
    if (own === undefined) continue
    // The parent's record of ended children contains a child that has ended.
    let ticks = own.used + (process.withChildren ? own.endedChildren : 0)
    if (process.withChildren) {
      for (const child of childrenOf(process.processId)) ticks += ticksOf(child)?.used ?? 0
    }
    seconds[process.name] = ticks / ticksPerSecond
  }
  return seconds
}

/** Returns the time of a process's main thread so far, or undefined if it is unreadable. */
export function readThreadSeconds(processId: number): ThreadSeconds | undefined {
  const [running, waiting] = (readText(`/proc/${processId}/task/${processId}/schedstat`) ?? "").split(" ").map(Number)
  return running === undefined || waiting === undefined ? undefined : { running: running / 1e9, waiting: waiting / 1e9 }
}

/** Returns the children of a process with their environments. */
export function readChildren(processId: number): ReadonlyArray<{ readonly processId: number; environment: string }> {
  return childrenOf(processId).map((child) => ({
    processId: child,
    environment: readText(`/proc/${child}/environ`) ?? ""
  }))
}

/** Returns the resident memory of a process in bytes, or undefined if it is unreadable. */
export function readResidentBytes(processId: number): number | undefined {
  const found = /VmRSS:\s+(\d+) kB/.exec(readText(`/proc/${processId}/status`) ?? "")
  return found === null ? undefined : Number(found[1]) * 1024
}

/** Returns the parent of a process, or undefined if it is unreadable. */
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

/** Returns the fields of /proc/<pid>/stat after the name, which can contain spaces and brackets: state, parent, … */
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
