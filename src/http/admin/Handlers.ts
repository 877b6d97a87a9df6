/**
 * Everything the Admin API does, for the server to put behind its contract.
 */
import { Layer } from "effect"
import { Creation } from "../../engine/Creation.ts"
import { NoticeSchedule } from "../../engine/NoticeSchedule.ts"
import { Analytics } from "../../store/Analytics.ts"
import { AudienceMembers } from "../../store/AudienceMembers.ts"
import { Audiences } from "../../store/Audiences.ts"
import { ExperienceProducts } from "../../store/ExperienceProducts.ts"
import { ConsumerRecords } from "../../store/ConsumerRecords.ts"
import { ExperiencePages } from "../../store/ExperiencePages.ts"
import { Experiences } from "../../store/Experiences.ts"
import { ExperienceWindows } from "../../store/ExperienceWindows.ts"
import { History } from "../../store/History.ts"
import { MediaAssets } from "../../store/MediaAssets.ts"
import { Mechanisms } from "../../store/Mechanisms.ts"
import { Operations } from "../../store/Operations.ts"
import { Orders } from "../../store/Orders.ts"
import { Places } from "../../store/Places.ts"
import { Products } from "../../store/Products.ts"
import { Sequences } from "../../store/Sequences.ts"
import { SyncSources } from "../../store/SyncSources.ts"
import { Variants } from "../../store/Variants.ts"
import { VariantOptions } from "../../store/VariantOptions.ts"
import { VariantOptionValues } from "../../store/VariantOptionValues.ts"
import { WholeExperiences } from "../../store/WholeExperiences.ts"
import { WholeSequences } from "../../store/WholeSequences.ts"
import { AnalyticsHandlers } from "./Analytics.ts"
import { ApiKeyHandlers } from "./ApiKeys.ts"
import { AppointmentHandlers } from "./Appointments.ts"
import { AuctionHandlers } from "./Auctions.ts"
import { AudienceHandlers } from "./Audiences.ts"
import { ConsumerHandlers } from "./Consumers.ts"
import { DistributionHandlers } from "./Distributions.ts"
import { DrawHandlers } from "./Draws.ts"
import { ExperiencePageHandlers } from "./ExperiencePages.ts"
import { ExperienceHandlers } from "./Experiences.ts"
import { NodeHandlers } from "./Nodes.ts"
import { OrganizationHandlers } from "./Organizations.ts"
import { MediaAssetHandlers } from "./MediaAssets.ts"
import { OrderHandlers } from "./Orders.ts"
import { OutboxHandlers } from "./Outbox.ts"
import { ProductHandlers } from "./Products.ts"
import { QueueHandlers } from "./Queues.ts"
import { SequenceHandlers } from "./Sequences.ts"
import { SyncSourceHandlers } from "./SyncSources.ts"
import { TimedReleaseHandlers } from "./TimedReleases.ts"
import { VariantHandlers } from "./Variants.ts"
import { VariantOptionHandlers } from "./VariantOptions.ts"
import { WaitlistHandlers } from "./Waitlists.ts"
import { WatchedDistributions } from "./WatchedDistributions.ts"

/** The handlers of all groups, with their repositories; needs the database, the journal and the engine. */
export const layer = Layer.mergeAll(
  OrganizationHandlers,
  ApiKeyHandlers,
  ExperienceHandlers,
  ExperiencePageHandlers,
  SequenceHandlers,
  AudienceHandlers,
  ConsumerHandlers,
  QueueHandlers,
  DrawHandlers,
  AuctionHandlers,
  AppointmentHandlers,
  TimedReleaseHandlers,
  WaitlistHandlers,
  DistributionHandlers,
  ProductHandlers,
  VariantHandlers,
  MediaAssetHandlers,
  SyncSourceHandlers,
  VariantOptionHandlers,
  OrderHandlers,
  AnalyticsHandlers,
  NodeHandlers,
  OutboxHandlers
).pipe(
  Layer.provide(
    Layer.mergeAll(WatchedDistributions.layer, Creation.layer, WholeExperiences.layer, WholeSequences.layer)
  ),
  Layer.provide(NoticeSchedule.layer),
  Layer.provide(Layer.mergeAll(Experiences.layer, ExperienceProducts.layer, ExperiencePages.layer, Sequences.layer)),
  Layer.provide(ExperienceWindows.layer),
  Layer.provide(Layer.mergeAll(Mechanisms.layer, Places.layer, History.layer, Analytics.layer, Operations.layer)),
  Layer.provide(Layer.mergeAll(Audiences.layer, AudienceMembers.layer, ConsumerRecords.layer, Orders.layer)),
  Layer.provide(Layer.mergeAll(Products.layer, Variants.layer, MediaAssets.layer, SyncSources.layer)),
  Layer.provide(Layer.merge(VariantOptions.layer, VariantOptionValues.layer))
)
