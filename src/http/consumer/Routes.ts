/**
 * Everything the consumer listener answers, for the server to listen with. Needs the engine, and what `auth/` knows of
 * keys, consumers, sessions, tokens and grants, and the database for records.
 */
import { Layer } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { AssignedProducts } from "../../store/AssignedProducts.ts"
import { ConsumerRecords } from "../../store/ConsumerRecords.ts"
import { ExperienceEntries } from "../../store/ExperienceEntries.ts"
import { ExperienceProducts } from "../../store/ExperienceProducts.ts"
import { ExperienceViews } from "../../store/ExperienceViews.ts"
import * as Records from "../../store/Profiles.ts"
import { SequenceAccess } from "../../store/SequenceAccess.ts"
import { ShownPages } from "../../store/ShownPages.ts"
import { ShownProducts } from "../../store/ShownProducts.ts"
import * as Credentials from "../Credentials.ts"
import { EventStreams } from "../EventStreams.ts"
import * as System from "../System.ts"
import { Validation } from "../Validation.ts"
import { ConsumerApi } from "./Api.ts"
import * as Appointments from "./Appointments.ts"
import * as Auctions from "./Auctions.ts"
import * as Auth from "./Auth.ts"
import * as Experiences from "./Experiences.ts"
import * as Profiles from "./Profiles.ts"
import * as Draws from "./Draws.ts"
import * as Queues from "./Queues.ts"
import * as TimedReleases from "./TimedReleases.ts"
import * as Waitlists from "./Waitlists.ts"

type Callers = Layer.Success<typeof Credentials.layerConsumer>

const noRecordsWith = <E, R>(credentials: Layer.Layer<Callers, E, R>) => {
  const api = HttpApiBuilder.layer(ConsumerApi).pipe(
    Layer.provide(
      Layer.mergeAll(
        Auth.layer,
        Experiences.layer,
        Profiles.layer,
        Queues.layer,
        Draws.layer,
        Auctions.layer,
        Appointments.layer,
        TimedReleases.layer,
        Waitlists.layer
      )
    ),
    Layer.provide(Layer.mergeAll(credentials, EventStreams.layer, Validation.layer))
  )
  return Layer.mergeAll(api, System.layer(ConsumerApi, "public"), System.layerKeys)
}

/** Needs the records of experiences and consumers as well: for what runs without a database. */
export const layerNoRecords = noRecordsWith(Credentials.layerConsumer)

/** For callers who are known by other means. */
export const layerWith = <E, R>(credentials: Layer.Layer<Callers, E, R>) =>
  noRecordsWith(credentials).pipe(
    Layer.provide(
      Layer.mergeAll(
        ExperienceViews.layer,
        ExperienceEntries.layer,
        ShownPages.layer,
        SequenceAccess.layer,
        AssignedProducts.layer,
        ShownProducts.layer.pipe(Layer.provide(ExperienceProducts.layer)),
        Records.Profiles.layer,
        ConsumerRecords.layer
      )
    )
  )

export const layer = layerWith(Credentials.layerConsumer)
