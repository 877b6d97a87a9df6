/** Which mechanisms consumers come for: `queue=70,draw=20,auction=10`. The same seed gives the same choices. */
import { isKind, type Kind, kinds } from "../domain/mechanism/Mechanism.ts"
import { type Part, uniform } from "./Arrivals.ts"

/** A kind of mechanism and its weight. */
export type Mix = ReadonlyArray<readonly [Kind, number]>

export const mixShape = `weights such as \`queue=70,draw=20,auction=10\`; kinds are ${kinds.join(", ")}`

/** Reads a mix; undefined if the text has another shape, names a kind twice, or has no weight. */
export function parseMix(text: string): Mix | undefined {
  const mix = text.split(",").map((part): readonly [Kind, number] | undefined => {
    const match = /^\s*([a-z_]+)=(\d{1,4})\s*$/.exec(part)
    return match !== null && isKind(match[1]!) ? [match[1], Number(match[2])] : undefined
  })
  const found = mix.filter((part) => part !== undefined)
  const isOnce = new Set(found.map(([kind]) => kind)).size === mix.length
  return isOnce && found.some(([, weight]) => weight > 0) ? found.filter(([, weight]) => weight > 0) : undefined
}

/** Returns what each consumer of a part comes for, in the order of the arrivals. */
export function choices(mix: Mix, consumers: number, seed: number, { part, of }: Part): ReadonlyArray<Kind> {
  // Other numbers than those of the arrivals, which have the same seed.
  const random = uniform(seed ^ 0x5bd1e995)
  const total = mix.reduce((sum, [, weight]) => sum + weight, 0)
  const chosen = Array.from({ length: consumers }, (): Kind => {
    let left = random() * total
    return (mix.find(([, weight]) => (left -= weight) < 0) ?? mix.at(-1)!)[0]
  })
  return chosen.filter((_, index) => index % of === part - 1)
}
