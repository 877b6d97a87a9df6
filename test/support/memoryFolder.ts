/**
 * A temporary folder in memory for a whole test run. Creating a database there takes a tenth of the processor time that
 * it takes on a disk. Machines without room in `/dev/shm` keep their temporary folder.
 */
import { chmodSync, mkdirSync, readdirSync, rmSync, statfsSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

const memory = "/dev/shm"
const prefix = "usher-test-"

/** A run took up to 0.5 GiB on 2026-11-23. A database server that has no more room fails, so this is far more. */
const roomBytes = 6 * 1024 ** 3

/** Makes `tmpdir` return a new folder in memory, here and in all child processes. Returns a function that removes it. */
export function useMemoryFolder(): () => void {
  if (!hasRoom()) return () => {}
  removeAbandoned()
  const folder = join(memory, `${prefix}${process.pid}`)
  mkdirSync(folder)
  // Servers run under other accounts, which need access.
  chmodSync(folder, 0o755)
  // What Node compiles is of use to the next run.
  process.env["NODE_COMPILE_CACHE"] ??= join(tmpdir(), "node-compile-cache")
  process.env["TMPDIR"] = folder
  return () => rmSync(folder, { recursive: true, force: true })
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memory)
    return bavail * bsize >= roomBytes
  } catch {
    return false
  }
}

/** Removes the folders of runs that were killed. */
function removeAbandoned(): void {
  for (const name of readdirSync(memory)) {
    if (!name.startsWith(prefix) || isRunning(Number(name.slice(prefix.length)))) continue
    rmSync(join(memory, name), { recursive: true, force: true })
  }
}

function isRunning(processId: number): boolean {
  try {
    process.kill(processId, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM"
  }
}
