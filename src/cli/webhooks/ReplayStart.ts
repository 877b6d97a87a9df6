/** The flag `--from` of `usher webhooks replay`. */
import { Flag } from "effect/cli"
import { instantOf } from "../../domain/values/Time.ts"
import type { ReplaySelection } from "../../store/webhook/Webhooks.ts"

/** Reads `failed`, an instant with its offset, or the number of an event. Undefined if the text is none of them. */
export const startOf = (text: string): ReplaySelection | undefined => {
  if (text === "failed") return "failed"
  if (/^[1-9]\d{0,14}$/.test(text)) return { sequence: Number(text) }
  return instantOf(text)
}

/** Flag: the events to send again. */
export const replaySelection = Flag.String("from").pipe(
  Flag.withDescription(
    "`failed`: what failed permanently. An instant: all events from then on. A number: in each journal the events from it on"
  ),
  Flag.filter(
    (text) => startOf(text) !== undefined,
    () => "failed, an instant such as 2026-11-22T18:00:00Z, or the number of an event"
  ),
  Flag.map((text) => startOf(text)!)
)
