/** All handlers of the Admin API. */
import { Layer } from "effect"
import { Creation } from "../../../engine/lifecycle/Creation.ts"
import { NoticeSchedule } from "../../../engine/lifecycle/NoticeSchedule.ts"
import { Analytics } from "../../../store/organization/Analytics.ts"
import { AudienceMembers } from "../../../store/consumer/AudienceMembers.ts"
import { Audiences } from "../../../store/consumer/Audiences.ts"
import { ExperienceProducts } from "../../../store/experience/ExperienceProducts.ts"
import { ConsumerExports } from "../../../store/privacy/ConsumerExports.ts"
import { ConsumerRecords } from "../../../store/consumer/ConsumerRecords.ts"
import { Erasures } from "../../../store/privacy/Erasures.ts"
import { ExperiencePages } from "../../../store/experience/ExperiencePages.ts"
import { Experiences } from "../../../store/experience/Experiences.ts"
import { ExperienceWindows } from "../../../store/experience/ExperienceWindows.ts"
import { History } from "../../../store/journal/History.ts"
import { Projections } from "../../../store/journal/Projections.ts"
import { MediaAssets } from "../../../store/catalogue/MediaAssets.ts"
import { Mechanisms } from "../../../store/mechanism/Mechanisms.ts"
import { Operations } from "../../../store/mechanism/Operations.ts"
import { ParkedMechanisms } from "../../../store/mechanism/ParkedMechanisms.ts"
import { Orders } from "../../../store/consumer/Orders.ts"
import { ConsumerPlaces } from "../../../store/mechanism/ConsumerPlaces.ts"
import { OrderedPlaces } from "../../../store/mechanism/OrderedPlaces.ts"
import { Places } from "../../../store/mechanism/Places.ts"
import { Fonts } from "../../../store/catalogue/Fonts.ts"
import { Pictures } from "../../../store/catalogue/Pictures.ts"
import { Products } from "../../../store/catalogue/Products.ts"
import { TenantEvents } from "../../../store/organization/TenantEvents.ts"
import { Sequences } from "../../../store/experience/Sequences.ts"
import { SyncSources } from "../../../store/catalogue/SyncSources.ts"
import { Variants } from "../../../store/catalogue/Variants.ts"
import { VariantOptions } from "../../../store/catalogue/VariantOptions.ts"
import { VariantOptionValues } from "../../../store/catalogue/VariantOptionValues.ts"
import { ExperienceAggregates } from "../../../store/experience/ExperienceAggregates.ts"
import { SequenceAggregates } from "../../../store/experience/SequenceAggregates.ts"
import { AnalyticsHandlers } from "../organization/Analytics.ts"
import { ApiKeyHandlers } from "../organization/ApiKeys.ts"
import { AppointmentHandlers } from "../appointment/Appointments.ts"
import { AuctionHandlers } from "../auction/Auctions.ts"
import { AuditLogHandlers } from "../organization/AuditLog.ts"
import { AudienceHandlers } from "../consumer/Audiences.ts"
import { ConsumerHandlers } from "../consumer/Consumers.ts"
import { DistributionHandlers } from "../mechanism/Distributions.ts"
import { DrawHandlers } from "../draw/Draws.ts"
import { ExperiencePageHandlers } from "../experience/ExperiencePages.ts"
import { ExperienceHandlers } from "../experience/Experiences.ts"
import { GateHandlers } from "../gate/Gates.ts"
import { Gates } from "../../../store/gate/Gates.ts"
import { NodeHandlers } from "../organization/Nodes.ts"
import { OrganizationHandlers } from "../organization/Organizations.ts"
import { MediaAssetHandlers } from "../catalogue/MediaAssets.ts"
import { FontHandlers } from "../catalogue/Fonts.ts"
import { PictureHandlers } from "../catalogue/Pictures.ts"
import { PictureCleaner } from "../catalogue/CleanPicture.ts"
import { OrderHandlers } from "../consumer/Orders.ts"
import { OutboxHandlers } from "../organization/Outbox.ts"
import { ProductHandlers } from "../catalogue/Products.ts"
import { QueueHandlers } from "../queue/Queues.ts"
import { SecurityEventHandlers } from "../organization/SecurityEvents.ts"
import { SequenceHandlers } from "../experience/Sequences.ts"
import { StockHandlers } from "../stock/Stocks.ts"
import { StockCreation } from "../../../engine/lifecycle/StockCreation.ts"
import { Stocks } from "../../../store/stock/Stocks.ts"
import { SyncSourceHandlers } from "../catalogue/SyncSources.ts"
import { TestClockHandlers } from "../organization/TestClocks.ts"
import { DueInstants } from "../../../store/testClock/DueInstants.ts"
import { TestClockChanges } from "../../../store/testClock/TestClockChanges.ts"
import { TimedReleaseHandlers } from "../timedRelease/TimedReleases.ts"
import { VariantHandlers } from "../catalogue/Variants.ts"
import { VariantOptionHandlers } from "../catalogue/VariantOptions.ts"
import { WaitlistHandlers } from "../waitlist/Waitlists.ts"
import { WebhookClient } from "../../../delivery/webhook/WebhookClient.ts"
import { WebhookDeliveries } from "../../../store/webhook/WebhookDeliveries.ts"
import { Webhooks } from "../../../store/webhook/Webhooks.ts"
import { WebhookHandlers } from "../webhook/Webhooks.ts"
import { ReceivedEvents } from "../../../store/receiver/ReceivedEvents.ts"
import { Receivers } from "../../../store/receiver/Receivers.ts"
import { SentMessages } from "../../../store/message/SentMessages.ts"
import { StoppedAddresses } from "../../../store/message/StoppedAddresses.ts"
import { MessageHandlers } from "../message/Messages.ts"
import { PeopleHandlers } from "../people/People.ts"
import { People } from "../../../store/organization/People.ts"
import { ReceiverHandlers } from "../receiver/Receivers.ts"
import { RehearsalHandlers } from "../rehearsal/Rehearsals.ts"
import { Rehearsals } from "../../../store/rehearsal/Rehearsals.ts"
import { WatchedDistributions } from "../mechanism/WatchedDistributions.ts"
import { WatchedExperiences } from "../mechanism/WatchedExperiences.ts"

/** The handlers of all groups, with their repositories. They need the database, the journal and the engine. */
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
  PictureHandlers,
  FontHandlers,
  SyncSourceHandlers,
  VariantOptionHandlers,
  StockHandlers,
  OrderHandlers,
  AnalyticsHandlers,
  WebhookHandlers,
  AuditLogHandlers,
  ReceiverHandlers,
  GateHandlers,
  MessageHandlers,
  PeopleHandlers,
  SecurityEventHandlers,
  NodeHandlers,
  OutboxHandlers,
  TestClockHandlers,
  RehearsalHandlers
).pipe(
  Layer.provide(
    Layer.mergeAll(
      WatchedDistributions.layer,
      WatchedExperiences.layer,
      Creation.layer,
      StockCreation.layer,
      ExperienceAggregates.layer,
      SequenceAggregates.layer
    )
  ),
  Layer.provide(Layer.merge(NoticeSchedule.layer, Stocks.layer)),
  Layer.provide(Layer.mergeAll(Experiences.layer, ExperienceProducts.layer, ExperiencePages.layer, Sequences.layer)),
  Layer.provide(ExperienceWindows.layer),
  Layer.provide(
    Layer.mergeAll(
      Mechanisms.layer,
      Places.layer,
      History.layer,
      Projections.layer,
      Analytics.layer,
      Operations.layer,
      TenantEvents.layer
    )
  ),
  Layer.provide(OrderedPlaces.layer),
  Layer.provide(Layer.mergeAll(Audiences.layer, AudienceMembers.layer, ConsumerRecords.layer, Orders.layer)),
  Layer.provide(Layer.mergeAll(ConsumerExports.layer, Erasures.layer, ParkedMechanisms.layer)),
  Layer.provide(Layer.mergeAll(Products.layer, Variants.layer, MediaAssets.layer, SyncSources.layer)),
  Layer.provide(Layer.mergeAll(Pictures.layer, PictureCleaner.layer, Fonts.layer)),
  Layer.provide(Layer.merge(VariantOptions.layer, VariantOptionValues.layer)),
  Layer.provide(Layer.mergeAll(Webhooks.layer, WebhookDeliveries.layer, WebhookClient.layer)),
  Layer.provide(
    Layer.mergeAll(
      SentMessages.layer,
      StoppedAddresses.layer,
      TestClockChanges.layer,
      DueInstants.layer,
      Rehearsals.layer
    )
  ),
  Layer.provide(Layer.mergeAll(Receivers.layer, Gates.layer, ReceivedEvents.layer, ConsumerPlaces.layer, People.layer))
)
