/** The routes of the consumer listener. They need the engine, the services of `auth/`, and the database for records. */
import { Layer } from "effect"
import * as AlertStore from "../../store/message/Alerts.ts"
import { AssignedProducts } from "../../store/experience/AssignedProducts.ts"
import { ConsumerRecords } from "../../store/consumer/ConsumerRecords.ts"
import { ExperienceEntries } from "../../store/experience/ExperienceEntries.ts"
import { ExperienceProducts } from "../../store/experience/ExperienceProducts.ts"
import { ExperienceViews } from "../../store/experience/ExperienceViews.ts"
import { Gates as GateStore } from "../../store/gate/Gates.ts"
import { GrantHolders } from "../../store/mechanism/GrantHolders.ts"
import { Mechanisms } from "../../store/mechanism/Mechanisms.ts"
import * as ProfileStore from "../../store/consumer/Profiles.ts"
import * as RevokedGrantStore from "../../store/mechanism/RevokedGrants.ts"
import { NextDrops } from "../../store/experience/NextDrops.ts"
import { SequenceAccess } from "../../store/experience/SequenceAccess.ts"
import { ShownPages } from "../../store/experience/ShownPages.ts"
import { ShownProducts } from "../../store/experience/ShownProducts.ts"
import * as Validation from "../errors/Validation.ts"
import * as Credentials from "../credentials/Credentials.ts"
import { EventStreams } from "../streams/EventStreams.ts"
import * as Direct from "../direct/Direct.ts"
import * as LeanRoutes from "../server/LeanRoutes.ts"
import * as ServedFonts from "../server/ServedFonts.ts"
import * as ServedPictures from "../server/ServedPictures.ts"
import * as System from "../server/System.ts"
import { ConsumerApi } from "../../api/consumer/ConsumerApi.ts"
import * as Alerts from "./message/Alerts.ts"
import * as Appointments from "./appointment/Appointments.ts"
import * as Auctions from "./auction/Auctions.ts"
import * as Auth from "./consumer/Auth.ts"
import * as Experiences from "./experience/Experiences.ts"
import * as Profiles from "./consumer/Profiles.ts"
import * as Draws from "./draw/Draws.ts"
import * as Hooks from "./receiver/Hooks.ts"
import * as Gates from "./gate/Gates.ts"
import * as Live from "./live/Live.ts"
import { LiveExperiences } from "./live/LiveExperiences.ts"
import { QueueLines } from "./live/QueueLines.ts"
import * as RevokedGrants from "./mechanism/RevokedGrants.ts"
import * as Queues from "./queue/Queues.ts"
import * as TimedReleases from "./timedRelease/TimedReleases.ts"
import * as Waitlists from "./waitlist/Waitlists.ts"

type Callers = Layer.Success<typeof Credentials.layerConsumer>

const groups = Layer.mergeAll(
  Auth.layer,
  Experiences.layer,
  Profiles.layer,
  Alerts.layer,
  Queues.layer,
  Draws.layer,
  Auctions.layer,
  Appointments.layer,
  TimedReleases.layer,
  Waitlists.layer,
  RevokedGrants.layer,
  Gates.layer,
  Live.layer.pipe(Layer.provide(Layer.merge(LiveExperiences.layer, QueueLines.layer)))
).pipe(Layer.provide(EventStreams.layer))

const records = Layer.mergeAll(
  ExperienceViews.layer,
  ExperienceEntries.layer,
  ShownPages.layer,
  NextDrops.layer,
  SequenceAccess.layer,
  AssignedProducts.layer,
  ShownProducts.layer.pipe(Layer.provide(ExperienceProducts.layer)),
  ProfileStore.Profiles.layer,
  AlertStore.Alerts.layer,
  ConsumerRecords.layer,
  GrantHolders.layer,
  GateStore.layer,
  Mechanisms.layer,
  RevokedGrantStore.RevokedGrants.layer
)

/** The handlers of all operations, which pages run in this process. */
export const handlers = groups.pipe(
  Layer.provide(Layer.mergeAll(Credentials.layerConsumer, Validation.layer)),
  Layer.provide(records)
)

const withoutRecords = <E, R>(credentials: Layer.Layer<Callers, E, R>) => {
  const api = Layer.merge(LeanRoutes.layer(ConsumerApi), Direct.layer(ConsumerApi)).pipe(
    Layer.provide(groups),
    Layer.provide(Layer.mergeAll(credentials, Validation.layer))
  )
  return Layer.mergeAll(api, System.layer(ConsumerApi, "public"), System.layerKeys)
}

/** Also needs the records of experiences and consumers, for processes without a database. */
export const layerNoRecords = withoutRecords(Credentials.layerConsumer)

/** With other checks of credentials. */
export const layerWith = <E, R>(credentials: Layer.Layer<Callers, E, R>) =>
  withoutRecords(credentials).pipe(
    Layer.provide(records),
    Layer.merge(Hooks.layer),
    Layer.merge(ServedPictures.layer),
    Layer.merge(ServedFonts.layer)
  )

export const layer = layerWith(Credentials.layerConsumer)
