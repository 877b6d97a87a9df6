/**
 * Jobs that run at a fixed interval. Any number of processes may run each of them: what one has done, another one finds
 * done.
 */
import { Duration, Effect, Layer } from "effect"
import { removeIdleGuests } from "../store/consumer/IdleGuests.ts"
import { removeOldVisits } from "../store/experience/RoomVisits.ts"
import { finishWhenDue } from "../store/postgres/Upgrade.ts"
import { markMilestones } from "../store/webhook/ExperienceMilestones.ts"
import { start } from "./WorkerLoop.ts"
import * as Time from "../store/coordination/Time.ts"

const milestones = start({
  round: Effect.asVoid(Effect.flatMap(Time.serverNow, (now) => markMilestones(now))),
  pauseMillis: Duration.toMillis("5 seconds"),
  failureMessage: "Openings of experiences could not be recorded; trying again"
})

const idleGuests = start({
  round: Effect.flatMap(removeIdleGuests, (removed) =>
    removed > 0 ? Effect.logInfo(`Removed ${removed} idle guests`) : Effect.void
  ),
  pauseMillis: Duration.toMillis("6 hours"),
  pausesFirst: true,
  failureMessage: "Idle guests could not be removed; trying again"
})

const oldVisits = start({
  round: removeOldVisits,
  pauseMillis: Duration.toMillis("1 day"),
  pausesFirst: true,
  failureMessage: "Old counts of visits could not be removed; trying again"
})

/** Finishes an upgrade an hour after the last process of the former release. */
const upgradeFinish = start({
  round: Effect.flatMap(finishWhenDue, (isFinished) =>
    isFinished ? Effect.logInfo("The upgrade is finished") : Effect.void
  ),
  pauseMillis: Duration.toMillis("1 minute"),
  pausesFirst: true,
  failureMessage: "The upgrade could not be finished; trying again"
})

export const layer = Layer.effectDiscard(
  Effect.all([milestones, idleGuests, oldVisits, upgradeFinish], { discard: true })
)
