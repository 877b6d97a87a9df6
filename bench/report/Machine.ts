/** The machine on which the figures were measured. */
import { closeSync, fdatasyncSync, mkdirSync, openSync, readFileSync, rmSync, writeSync } from "node:fs"
import { arch, availableParallelism, cpus, loadavg, platform, release, totalmem } from "node:os"
import { join } from "node:path"
import type { DatabaseServer } from "../setup/Database.ts"
import { median } from "./Figures.ts"
import type { RedisServer } from "../setup/Redis.ts"

export interface Machine {
  readonly processors: number
  readonly processorModel: string
  readonly memoryGigabytes: number
  readonly system: string
  readonly node: string
  readonly postgres: string
  readonly postgresSource: string
  readonly postgresSettings: { readonly [name: string]: string }
  readonly redis: string
  /**
   * Median time to write 8 KiB to disk in the folder of temporary files. Near zero means that nothing waits for the
   * disk.
   */
  readonly fdatasyncMicroseconds: number
  readonly loadAverageAtStart: number
  readonly at: string
  readonly commit: string
}

export function describeMachine(
  workDirectory: string,
  database: DatabaseServer,
  redis: RedisServer | { readonly missing: string }
): Machine {
  return {
    processors: availableParallelism(),
    processorModel: cpus()[0]?.model ?? "unknown",
    memoryGigabytes: Math.round(totalmem() / 2 ** 30),
    system: `${platform()} ${release()} ${arch()}`,
    node: process.version,
    postgres: database.version,
    postgresSource: database.source,
    postgresSettings: database.settings,
    redis: "missing" in redis ? `not run: ${redis.missing}` : `Redis ${redis.version}, appendfsync always`,
    fdatasyncMicroseconds: Math.round(fdatasyncMicroseconds(workDirectory)),
    loadAverageAtStart: loadavg()[0]!,
    at: new Date().toISOString(),
    commit: commit()
  }
}

function fdatasyncMicroseconds(directory: string): number {
  mkdirSync(directory, { recursive: true })
  const path = join(directory, "fdatasync")
  const file = openSync(path, "w")
  const block = Buffer.alloc(8192, 1)
  const spans = Array.from({ length: 50 }, () => {
    const from = performance.now()
    writeSync(file, block)
    fdatasyncSync(file)
    return (performance.now() - from) * 1000
  })
  closeSync(file)
  rmSync(path)
  return median(spans)
}

/** Returns the checked-out commit, read from the files of git. */
function commit(): string {
  try {
    const folder = new URL("../../.git", import.meta.url)
    const head = readFileSync(new URL("HEAD", folder), "utf8").trim()
    return head.startsWith("ref: ") ? readFileSync(new URL(head.slice(5), folder), "utf8").trim() : head
  } catch {
    return "unknown"
  }
}
