/**
 * When consumers arrive. The instants are fixed before the start and do not depend on answers, so a slow server cannot
 * slow its own load down. The same seed gives the same instants.
 */

/** How consumers arrive. */
export type Arrival =
  | { readonly kind: "herd"; readonly seconds: number }
  | { readonly kind: "poisson"; readonly perSecond: number }
  | { readonly kind: "ramp"; readonly from: number; readonly to: number; readonly seconds: number }

export const arrivalShape =
  "`herd:10s` (all within 10 seconds), `poisson:500/s` (at random, 500 a second on average) or `ramp:0-2000/s:5m`"

const unitSeconds: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600 }

/** Reads an arrival; undefined if the text has another shape. */
export function parseArrival(text: string): Arrival | undefined {
  const herd = /^herd:(\d{1,5})([smh])$/.exec(text)
  if (herd !== null) return withTime({ kind: "herd" as const, seconds: Number(herd[1]) * unitSeconds[herd[2]!]! })
  const steady = /^poisson:(\d{1,6})\/s$/.exec(text)
  if (steady !== null && Number(steady[1]) > 0) return { kind: "poisson", perSecond: Number(steady[1]) }
  const ramp = /^ramp:(\d{1,6})-(\d{1,6})\/s:(\d{1,5})([smh])$/.exec(text)
  if (ramp === null) return undefined
  const [from, to] = [Number(ramp[1]), Number(ramp[2])]
  return from + to === 0
    ? undefined
    : withTime({ kind: "ramp" as const, from, to, seconds: Number(ramp[3]) * unitSeconds[ramp[4]!]! })
}

const withTime = <A extends { readonly seconds: number }>(arrival: A): A | undefined =>
  arrival.seconds > 0 ? arrival : undefined

/** The arrivals of the busiest second, on average. */
export const peakOf = (arrival: Arrival, consumers: number): number =>
  arrival.kind === "herd"
    ? Math.ceil(consumers / arrival.seconds)
    : arrival.kind === "poisson"
      ? arrival.perSecond
      : Math.max(arrival.from, arrival.to)

/** Returns when each consumer arrives, in milliseconds after the start, in order. */
export function instants(arrival: Arrival, consumers: number, seed: number): Float64Array {
  const random = uniform(seed)
  switch (arrival.kind) {
    case "herd":
      return Float64Array.from({ length: consumers }, () => random() * arrival.seconds * 1_000).toSorted()
    case "poisson":
      return gaps(consumers, random, () => arrival.perSecond)
    case "ramp": {
      const { from, to, seconds } = arrival
      // After its end the ramp stays at its last rate. At its start it has at least one arrival a second.
      return gaps(consumers, random, (at) => Math.max(1, from + (to - from) * Math.min(1, at / 1_000 / seconds)))
    }
  }
}

/** The instants of one of several parts: every one belongs to exactly one part. */
export const partOf = (all: Float64Array, { part, of }: Part): Float64Array =>
  all.filter((_, index) => index % of === part - 1)

/** One of several machines: 1 to `of`. */
export interface Part {
  readonly part: number
  readonly of: number
}

/** Reads `1/4`; undefined if it is not a part. */
export function parsePart(text: string): Part | undefined {
  const match = /^(\d{1,3})\/(\d{1,3})$/.exec(text)
  const [part, of] = [Number(match?.[1]), Number(match?.[2])]
  return match !== null && part >= 1 && part <= of ? { part, of } : undefined
}

/** Returns the due times of a Poisson process in milliseconds, up to a number of seconds. */
export function poisson(perSecond: number, seconds: number, seed: number): Float64Array {
  const random = uniform(seed)
  const due: Array<number> = []
  for (let at = 0; ;) {
    at += (-Math.log(1 - random()) / perSecond) * 1_000
    if (at >= seconds * 1_000) return Float64Array.from(due)
    due.push(at)
  }
}

function gaps(count: number, random: () => number, perSecondAt: (at: number) => number): Float64Array {
  const due = new Float64Array(count)
  for (let index = 0, at = 0; index < count; index++) {
    at += (-Math.log(1 - random()) / perSecondAt(at)) * 1_000
    due[index] = at
  }
  return due
}

/**
 * Returns numbers in [0, 1) from a 32-bit linear congruential generator, upper bits first. This quality suffices here.
 */
export function uniform(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 0x1_0000_0000
  }
}
