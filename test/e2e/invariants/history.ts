import type { Recorded } from "./Reader.ts"

/** An event without its number. */
export type Line = readonly [type: string, at: number, consumerId?: string | undefined, data?: Recorded["data"]]

/** Returns a history that starts with a configuration. */
export const recorded = (configuration: object, lines: ReadonlyArray<Line>): ReadonlyArray<Recorded> =>
  [["Configured", 0, undefined, { configuration }] as Line, ...lines].map(
    ([type, at, consumerId, data = {}], index) => ({
      sequence: index + 1,
      type,
      at,
      ...(consumerId === undefined ? {} : { consumerId }),
      data
    })
  )
