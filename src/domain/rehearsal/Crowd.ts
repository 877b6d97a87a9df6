/** A crowd as a brand declares it: who comes to a drop, when, and what they do there. */
import { Duration, Option, Schema } from "effect"
import type { Millis } from "../values/Time.ts"

/** The longest time in a crowd. */
const durationMax = Duration.toMillis("30 days")

/** A duration such as `20 minutes`, in milliseconds. */
const Time = Schema.String.check(
  Schema.makeFilter(
    (text) => {
      const millis = millisOf(text)
      return millis !== undefined && millis >= 1_000 && millis <= durationMax
    },
    { expected: "a time from a second to 30 days, such as `90 seconds` or `20 minutes`" }
  )
)

const millisOf = (text: string): Millis | undefined =>
  Option.getOrUndefined(Option.map(Duration.fromInput(text as Duration.Input), Duration.toMillis))

const Share = Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 }))

/** The factor above and below a median between which two in three people are. */
const spread = Schema.Finite.check(Schema.isBetween({ minimum: 1, maximum: 10 }))

/** A time that half of the people need at most. */
const TimeSpread = Schema.Struct({ median: Time, spread })

/** People that a rehearsal plays at most. */
export const peopleMax = 100_000

/** The file of a crowd. What it leaves out has its default. */
export const CrowdFile = Schema.Struct({
  people: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: peopleMax }))),
  arrival: Schema.optionalKey(
    Schema.Struct({
      before: Schema.optionalKey(Time),
      shape: Schema.optionalKey(Schema.Literals(["burst", "steady"])),
      share: Schema.optionalKey(Share)
    })
  ),
  patience: Schema.optionalKey(TimeSpread),
  noShow: Schema.optionalKey(Share),
  checkout: Schema.optionalKey(TimeSpread),
  bids: Schema.optionalKey(
    Schema.Struct({
      perPerson: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 20 })),
      raise: Schema.Finite.check(Schema.isBetween({ minimum: 0, maximum: 1 })),
      worth: Schema.Struct({ median: Schema.Finite.check(Schema.isBetween({ minimum: 0.1, maximum: 100 })), spread })
    })
  ),
  draws: Schema.optionalKey(Schema.Struct({ share: Share })),
  bots: Schema.optionalKey(
    Schema.Struct({
      share: Share,
      addresses: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: peopleMax }))
    })
  )
})
export type CrowdFile = typeof CrowdFile.Type

/** What differs among people: half of them are below the median, and two in three within the factor `spread` of it. */
export interface Spread {
  readonly median: number
  readonly spread: number
}

/** Returns what 19 in 20 are below: the logarithm is normal. */
export const p95Of = ({ median, spread }: Spread): number => median * spread ** 1.645

export interface Crowd {
  readonly people: number
  /**
   * `burst`: the share comes in the time `before` the opening, most of them close to it, and the others later.
   * `steady`: all come evenly while the mechanism is open.
   */
  readonly arrival: { readonly before: Millis; readonly shape: "burst" | "steady"; readonly share: number }
  /** How long people wait before they leave, in milliseconds. */
  readonly patience: Spread
  /** The share that does not use its grant. */
  readonly noShow: number
  /** From a grant to its use, in milliseconds. */
  readonly checkout: Spread
  /**
   * Bids of each bidder at most, by what share each is above the one that it beats, and how many start prices an English
   * auction's unit is worth to it. To a Dutch auction's start price the same factor is missing.
   */
  readonly bids: { readonly perPerson: number; readonly raise: number; readonly worth: Spread }
  /** The share of the people that enters draws, if the drop has draws and others. */
  readonly draws: { readonly share: number }
  /** The share of the people that are machines, and as how many consumers they come. */
  readonly bots: { readonly share: number; readonly addresses: number }
}

/** A crowd such as a known brand's drop has. */
export const defaultCrowd: Crowd = {
  people: 1_000,
  arrival: { before: 1_200_000, shape: "burst", share: 0.7 },
  patience: { median: 720_000, spread: 2 },
  noShow: 0.15,
  checkout: { median: 90_000, spread: 1.6 },
  bids: { perPerson: 3, raise: 0.05, worth: { median: 1.5, spread: 1.6 } },
  draws: { share: 0.3 },
  bots: { share: 0, addresses: 20 }
}

/** Returns the crowd of a file, with the number of people that a flag gives. */
export const crowdOf = (file: CrowdFile, people?: number): Crowd => {
  const timeSpread = (given: typeof TimeSpread.Type | undefined, otherwise: Spread): Spread =>
    given === undefined ? otherwise : { median: millisOf(given.median)!, spread: given.spread }
  const { arrival = {} } = file
  return {
    people: people ?? file.people ?? defaultCrowd.people,
    arrival: {
      before: arrival.before === undefined ? defaultCrowd.arrival.before : millisOf(arrival.before)!,
      shape: arrival.shape ?? defaultCrowd.arrival.shape,
      share: arrival.share ?? defaultCrowd.arrival.share
    },
    patience: timeSpread(file.patience, defaultCrowd.patience),
    noShow: file.noShow ?? defaultCrowd.noShow,
    checkout: timeSpread(file.checkout, defaultCrowd.checkout),
    bids: file.bids ?? defaultCrowd.bids,
    draws: file.draws ?? defaultCrowd.draws,
    bots: file.bots ?? defaultCrowd.bots
  }
}
