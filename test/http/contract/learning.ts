/** Identifiers and cursors of a world by the name of the field that refers to them, for chained requests. */
import type { World } from "../matrix/world.ts"
import type { Answer } from "../support/usherFixture.ts"
import { type Known, learn } from "./values.ts"

/** Learns the identifiers that a world starts with. */
export function learnFromWorld(known: Known, { sides: { own } }: World): void {
  for (const [name, value] of Object.entries(own)) if (name.endsWith("Id")) learn(known, name, value)
}

const itemsMax = 5

/** Learns from a response: the identifiers in its record or in the first items of its list, and the list's cursors. */
export function learnFromAnswer(known: Known, path: string, { status, body }: Answer): void {
  if (status >= 300 || typeof body !== "object" || body === null) return
  const items: ReadonlyArray<unknown> = Array.isArray(body.data) ? body.data.slice(0, itemsMax) : [body]
  for (const item of items) {
    if (typeof item !== "object" || item === null) continue
    for (const [name, value] of Object.entries(item)) {
      if (typeof value !== "string") continue
      if (name === "id") learn(known, `${recordOf(path)}Id`, value)
      else if (name.endsWith("Id")) learn(known, name, value)
    }
  }
  if (typeof body.pageInfo?.endCursor === "string") learn(known, "after", body.pageInfo.endCursor)
  if (typeof body.pageInfo?.startCursor === "string") learn(known, "before", body.pageInfo.startCursor)
}

/** Returns the name of the records at a path: `timedRelease` for `/api/timed-releases/…`. */
function recordOf(path: string): string {
  const words = path
    .split("?")[0]!
    .split("/")
    .filter((part) => /^[a-z-]+$/.test(part) && part !== "api")
  const name = words.at(-1) ?? ""
  return name
    .replace(/ies$/, "y")
    .replace(/s$/, "")
    .replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}
