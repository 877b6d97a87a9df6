/** The commands, refusals and views of a waitlist. */
import { Schema } from "effect"
import type { Administration, AdminPlaceCommand, PlaceCommand } from "../mechanism/Administration.ts"
import type { WithRisk } from "../mechanism/EntryRisk.ts"
import type { CommonRefusal, Full, WrongStatus } from "../mechanism/Refusals.ts"
import type { Millis } from "../values/Time.ts"
import type { Configuration } from "./Configuration.ts"

/** The channel by which a member was notified. */
export const Channel = Schema.Literals(["email", "phone"])
export type Channel = typeof Channel.Type

/** The reason for a member that is DENIED: the waitlist ended before the member was notified. */
export const denialReason = "WAITLIST_CLOSED"

/**
 * A command from an admin, a consumer or the system; `by` names the author. `Remove` takes away the place of an archived
 * consumer.
 */
export type Command =
  | Administration<Configuration>
  | (WithRisk & { readonly _tag: "Enter"; readonly consumerId: string; readonly isGuest?: boolean })
  | PlaceCommand<"Leave">
  | AdminPlaceCommand<"Remove">
  /** Sets when the sequence opens; absent: not known. Members that were notified are not notified again. */
  | { readonly _tag: "ScheduleNotice"; readonly at?: Millis }
  /** Records that a member was notified, and how; without `channel`: that no message could be delivered. */
  | { readonly _tag: "MarkNotified"; readonly consumerId: string; readonly channel?: Channel }

/** Every refusal of a waitlist. */
export type Refusal = CommonRefusal | Full | WrongStatus

/** A consumer's own view of its place. */
export type View =
  | { readonly status: "NOT_ENTERED" }
  | {
      /** NOTIFIED: still a member, and notified that the sequence is open. */
      readonly status: "ENTERED" | "NOTIFIED"
      readonly enteredAt: Millis
      /** 1 + the number of members that entered before. */
      readonly position: number
    }
  | { readonly status: "LEFT"; readonly enteredAt: Millis; readonly leftAt: Millis }
  | { readonly status: "DENIED"; readonly enteredAt: Millis; readonly deniedAt: Millis }
