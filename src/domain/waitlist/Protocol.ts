/**
 * What a waitlist is asked and what it answers (completions 3, "Waitlist").
 */
import { Schema } from "effect"
import type { ExperienceWindow } from "../experience/ExperienceWindow.ts"
import type { Closed, ConfigurationFixed, Full, NotOpen, WrongStatus } from "../mechanism/Refusals.ts"
import type { Millis } from "../values/Time.ts"
import type { Configuration } from "./Configuration.ts"

/** How a member was told. */
export const Channel = Schema.Literals(["email", "phone"])
export type Channel = typeof Channel.Type

/** Why a member that was still waiting is DENIED: the waitlist was ended. */
export const denialReason = "WAITLIST_CLOSED"

/**
 * What an admin, a consumer or the system wants of the waitlist; `by` is the API key that was used, as records name it.
 * `Remove` takes away the place of a consumer that is archived.
 */
export type Command =
  | { readonly _tag: "Configure"; readonly configuration: Configuration; readonly by: string }
  /** Says in which window of its experience the mechanism lives; one that it knows, or an earlier one, changes nothing. */
  | { readonly _tag: "SetExperienceWindow"; readonly window: ExperienceWindow; readonly by: string }
  | { readonly _tag: "End"; readonly by: string }
  | { readonly _tag: "Archive"; readonly by: string }
  | { readonly _tag: "Enter"; readonly consumerId: string }
  | { readonly _tag: "Leave"; readonly consumerId: string; readonly by?: string | undefined }
  | { readonly _tag: "Remove"; readonly consumerId: string; readonly by: string }
  /** Says when the sequence opens; absent: it is not known to open. Members notified before are not notified again. */
  | { readonly _tag: "ScheduleNotice"; readonly at?: Millis }
  /** Says that a member has been told, and how; without `channel`: that it cannot be told. */
  | { readonly _tag: "MarkNotified"; readonly consumerId: string; readonly channel?: Channel }

/** Every no a waitlist can say. */
export type Refusal = NotOpen | Closed | Full | WrongStatus | ConfigurationFixed

/** A consumer's own view of its place. */
export type View =
  | { readonly status: "NOT_ENTERED" }
  | {
      /** NOTIFIED: still a member, and told that the sequence is open. */
      readonly status: "ENTERED" | "NOTIFIED"
      readonly enteredAt: Millis
      /** 1 + the number of members that entered before. */
      readonly position: number
    }
  | { readonly status: "LEFT"; readonly enteredAt: Millis; readonly leftAt: Millis }
  | { readonly status: "DENIED"; readonly enteredAt: Millis; readonly deniedAt: Millis }
