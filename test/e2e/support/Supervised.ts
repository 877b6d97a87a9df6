/** The processes that `usher serve --processes` has started, found by the names that their supervisor gave them. */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"

/** Returns the ids of a supervisor's running processes by name: `engine`, `front-1` and so on. */
export function processesOf(supervisorId: number): ReadonlyMap<string, number> {
  const found = new Map<string, number>()
  let listed = ""
  try {
    listed = execFileSync("ps", ["-o", "pid=", "--ppid", `${supervisorId}`], { encoding: "utf8" })
  } catch {
    // There are none.
  }
  for (const id of listed.split("\n").map(Number)) {
    const name = /NODE_NAME=[^\0]*-(engine|front-\d+)\0/.exec(`${environmentOf(id)}\0`)?.[1]
    if (name !== undefined) found.set(name, id)
  }
  return found
}

function environmentOf(id: number): string {
  try {
    return readFileSync(`/proc/${id}/environ`, "utf8")
  } catch {
    // It has ended.
    return ""
  }
}

export function kill(id: number): void {
  try {
    process.kill(id, "SIGKILL")
  } catch {
    // It has ended.
  }
}

export const isAlive = (id: number): boolean => {
  try {
    process.kill(id, 0)
    return true
  } catch {
    return false
  }
}
