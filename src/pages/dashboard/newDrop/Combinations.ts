/** Parts of a new drop that follow each other. */
import { auction, draw, type Part, queue, release, waitlist } from "./Parts.ts"

/** Combinations that brands ask for. */
export const combinations: ReadonlyArray<{
  readonly parts: ReadonlyArray<Part>
  readonly title: string
  readonly use: string
}> = [
  {
    parts: [draw, queue],
    title: "A draw, then a queue for the rest",
    use: "Some units go by lot. What is left is sold in the order of arrival."
  },
  {
    parts: [waitlist, queue],
    title: "A waitlist, then a queue",
    use: "Collects interest first, and tells everybody once when the queue opens."
  },
  {
    parts: [waitlist, draw],
    title: "A waitlist, then a draw",
    use: "Collects interest first, and tells everybody once when entries open."
  },
  {
    parts: [auction, release],
    title: "An auction, then a timed release",
    use: "The first pieces go to the highest bids, the others at a fixed price."
  }
]
