/**
 * Everything the Admin API does, for the server to put behind its contract.
 */
import { Layer } from "effect"
import { Creation } from "../../engine/Creation.ts"
import { NoticeSchedule } from "../../engine/NoticeSchedule.ts"
import { AudienceMembers } from "../../store/AudienceMembers.ts"
import { Audiences } from "../../store/Audiences.ts"
import { ExperiencePages } from "../../store/ExperiencePages.ts"
import { Experiences } from "../../store/Experiences.ts"
import { History } from "../../store/History.ts"
import { Mechanisms } from "../../store/Mechanisms.ts"
import { Places } from "../../store/Places.ts"
import { Sequences } from "../../store/Sequences.ts"
import { ApiKeyHandlers } from "./ApiKeys.ts"
import { AppointmentHandlers } from "./Appointments.ts"
import { AuctionHandlers } from "./Auctions.ts"
import { AudienceHandlers } from "./Audiences.ts"
import { DistributionHandlers } from "./Distributions.ts"
import { DrawHandlers } from "./Draws.ts"
import { ExperiencePageHandlers } from "./ExperiencePages.ts"
import { ExperienceHandlers } from "./Experiences.ts"
import { OutboxHandlers } from "./Outbox.ts"
import { QueueHandlers } from "./Queues.ts"
import { SequenceHandlers } from "./Sequences.ts"
import { TimedReleaseHandlers } from "./TimedReleases.ts"
import { WaitlistHandlers } from "./Waitlists.ts"
import { WatchedDistributions } from "./WatchedDistributions.ts"

/** The handlers of all groups, with their repositories; needs the database, the journal and the engine. */
export const layer = Layer.mergeAll(
  ApiKeyHandlers,
  ExperienceHandlers,
  ExperiencePageHandlers,
  SequenceHandlers,
  AudienceHandlers,
  QueueHandlers,
  DrawHandlers,
  AuctionHandlers,
  AppointmentHandlers,
  TimedReleaseHandlers,
  WaitlistHandlers,
  DistributionHandlers,
  OutboxHandlers
).pipe(
  Layer.provide(WatchedDistributions.layer),
  Layer.provide(Creation.layer),
  Layer.provide(NoticeSchedule.layer),
  Layer.provide(Layer.mergeAll(Experiences.layer, Sequences.layer, Mechanisms.layer, Places.layer, History.layer)),
  Layer.provide(Layer.mergeAll(Audiences.layer, AudienceMembers.layer, ExperiencePages.layer))
)
