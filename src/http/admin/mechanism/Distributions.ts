/** The handlers of distributions: the state and the history of mechanisms for admins. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import type { PlaceStatus } from "../../../domain/mechanism/PlaceFields.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import { daySpan, type Reading } from "../../../domain/values/WallClock.ts"
import { History, type HistoryEntry } from "../../../store/journal/History.ts"
import { Mechanisms } from "../../../store/mechanism/Mechanisms.ts"
import { type ConsumerPlace, Places } from "../../../store/mechanism/Places.ts"
import { CurrentTenant, CurrentStreamCredentials } from "../../../api/Credentials.ts"
import { orInvalidPage } from "../records/Refusals.ts"
import { NotFound } from "../../../api/Errors.ts"
import { EventStreams } from "../../streams/EventStreams.ts"
import { issueAt } from "../../errors/Issues.ts"
import { invalidInput } from "../../errors/Validation.ts"
import { orAnswer } from "../../errors/Refusals.ts"
import { orBusy } from "../records/Answers.ts"
import type { Contact } from "../../../api/admin/ContactsApi.ts"
import type { ExtensionBody } from "../../../api/admin/DistributionApi.ts"
import type { ReplayBody } from "../../../api/admin/ReplayApi.ts"
import type { BulkDenial } from "../../../api/admin/SteeringApi.ts"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import { forTenant } from "../records/Operations.ts"
import { kindsOfMechanism } from "./Kinds.ts"
import * as Denials from "../steering/Denials.ts"
import * as Extensions from "./extension/Extensions.ts"
import { Experiences } from "../../../store/experience/Experiences.ts"
import * as ConsumersCsv from "./ConsumersCsv.ts"
import * as Contacts from "./Contacts.ts"
import * as DistributionFacts from "./DistributionFacts.ts"
import * as Inspections from "./Inspections.ts"
import { bookingOf, consumerOf } from "./PlaceAnswers.ts"
import * as Replays from "./Replays.ts"
import * as Waits from "./Waits.ts"
import { WatchedDistributions } from "./WatchedDistributions.ts"

/** Mechanisms of one list that are inspected at the same time. */
const inspectionsAtOnce = 8

export const DistributionHandlers = HttpApiBuilder.group(
  AdminApi,
  "distributions",
  Effect.fnUntraced(function* (handlers) {
    const mechanisms = yield* Mechanisms
    const places = yield* Places
    const history = yield* History
    const current = currentOf(mechanisms)
    const streams = yield* EventStreams
    const watched = yield* WatchedDistributions
    const { asked, listed, parked } = yield* Inspections.make

    return handlers.handleAll({
      ...(yield* makeReports(current)),
      ...(yield* makeActs(current)),

      listDistributions: Effect.fnUntraced(function* ({ query }) {
        const { tenant } = yield* CurrentTenant
        const { data, pageInfo } = yield* mechanisms.listDistributions(tenant, query, query).pipe(orInvalidPage(query))
        return { data: yield* Effect.forEach(data, listed, { concurrency: inspectionsAtOnce }), pageInfo }
      }, orBusy),

      getDistribution: Effect.fnUntraced(function* ({ params: { id } }) {
        const { tenant } = yield* CurrentTenant
        const mechanism = yield* current(tenant, id)
        return yield* asked(mechanism).pipe(
          Effect.catchTag("Parked", ({ restarts }) => parked(mechanism, restarts)),
          // The mechanism has just been archived.
          Effect.catchTag("MechanismNotFound", () => notFound)
        )
      }, orBusy),

      watchDistribution: Effect.fnUntraced(function* ({ params: { id }, headers }) {
        const { tenant } = yield* CurrentTenant
        yield* current(tenant, id)
        const watcher = watched.watcher({ tenant, id, lastEventId: headers["last-event-id"] })
        return yield* streams.open(yield* CurrentStreamCredentials, watcher, { organizationId: tenant.organizationId })
      }, orBusy),

      listDistributionConsumers: Effect.fnUntraced(function* ({ params: { id }, query }) {
        const { tenant } = yield* CurrentTenant
        const { kind } = (yield* current(tenant, id)).identity
        const misplaced = kind === "appointment" ? [] : bookingFilters.filter((name) => query[name] !== undefined)
        if (misplaced.length > 0) return yield* onlyOfAppointments(query, misplaced)
        const { data, pageInfo } = yield* places.list(tenant, id, query, query).pipe(orInvalidPage(query))
        const shown = kind === "appointment" ? (place: ConsumerPlace) => bookingOf(id, place) : consumerOf
        return { data: data.map(shown), pageInfo }
      }, orBusy),

      listDistributionHistory: Effect.fnUntraced(function* ({ params: { id }, query }) {
        const { tenant } = yield* CurrentTenant
        const mechanism = yield* current(tenant, id)
        const { data, pageInfo } = yield* history.list(tenant, id, query, query).pipe(orInvalidPage(query))
        const secrets = kindsOfMechanism[mechanism.identity.kind].secrets?.(mechanism.configuration) ?? []
        return { data: secrets.length === 0 ? data : data.map((entry) => withoutSecrets(entry, secrets)), pageInfo }
      }, orBusy)
    })
  })
)

const notFound = NotFound.of("Distribution")

/** Returns the function that finds a mechanism that is not archived. */
const currentOf = (mechanisms: Mechanisms["Service"]) =>
  Effect.fnUntraced(function* (tenant: Tenant, id: string) {
    const found = yield* mechanisms.find(tenant, id)
    return found === undefined || found.status.archived ? yield* notFound : found
  })

/** Makes the handlers that tell of a mechanism as a whole. */
const makeReports = Effect.fnUntraced(function* (current: ReturnType<typeof currentOf>) {
  const factsOf = yield* DistributionFacts.make
  const csvOf = yield* ConsumersCsv.make
  const experiences = yield* Experiences
  const waitsOf = yield* Waits.make
  const replayOf = yield* Replays.make
  const contactsOf = yield* Contacts.make
  return {
    getDistributionContacts: Effect.fnUntraced(function* ({ params: { id } }: OfOne) {
      const { tenant } = yield* CurrentTenant
      yield* current(tenant, id)
      return yield* contactsOf(tenant, id)
    }, orBusy),
    getDistributionFacts: Effect.fnUntraced(function* ({ params: { id } }: OfOne) {
      const { tenant } = yield* CurrentTenant
      const mechanism = yield* current(tenant, id)
      return yield* orAnswer(mechanism.identity.kind)(factsOf(mechanism))
    }, orBusy),
    exportDistributionConsumers: Effect.fnUntraced(function* ({
      params: { id },
      query
    }: OfOne & {
      readonly query: { readonly status?: PlaceStatus; readonly contact?: Contact; readonly day?: Reading }
    }) {
      const { tenant } = yield* CurrentTenant
      const { configuration, identity } = yield* current(tenant, id)
      const experience = yield* experiences
        .find(tenant, identity.experienceId)
        .pipe(Effect.catchTag("RecordNotFound", () => notFound))
      const names = [experience.name, `${configuration["name"]}`]
      const { day, ...filter } = query
      const begins = day === undefined ? undefined : daySpan(day, zoneOf(configuration))
      return yield* csvOf(tenant, id, { ...filter, begins }, names).pipe(orInvalidPage(query))
    }, orBusy),
    getDistributionWaits: Effect.fnUntraced(function* ({ params: { id } }: OfOne) {
      const { tenant } = yield* CurrentTenant
      const { identity } = yield* current(tenant, id)
      return yield* waitsOf(tenant, id, identity.kind)
    }, orBusy),
    replayDistribution: Effect.fnUntraced(function* ({
      params: { id },
      payload
    }: OfOne & { readonly payload: typeof ReplayBody.Type }) {
      const { tenant } = yield* CurrentTenant
      const { identity } = yield* current(tenant, id)
      return yield* replayOf(identity, payload)
    }, orBusy)
  }
})

/** The time zone of an appointment's days. */
const zoneOf = ({ timeZone }: { readonly [name: string]: unknown }): string =>
  typeof timeZone === "string" ? timeZone : "UTC"

/** Makes the handlers that change many places, or the times of a mechanism. */
const makeActs = Effect.fnUntraced(function* (current: ReturnType<typeof currentOf>) {
  const deny = yield* Denials.make
  const extend = yield* Extensions.make
  return {
    denyDistributionConsumers: ({ params: { id }, payload }: OfOne & { readonly payload: BulkDenial }) =>
      forTenant((tenant, by) => Effect.flatMap(current(tenant, id), (found) => deny(found, payload, by))),
    extendDistribution: ({ params: { id }, payload }: OfOne & { readonly payload: ExtensionBody }) =>
      forTenant((tenant, by) => Effect.flatMap(current(tenant, id), (found) => extend(found, payload, by)))
  }
})

interface OfOne {
  readonly params: { readonly id: string }
}

const withoutSecrets = (entry: HistoryEntry, secrets: ReadonlyArray<string>): HistoryEntry => ({
  ...entry,
  data: Object.fromEntries(Object.entries(entry.data).filter(([name]) => !secrets.includes(name)))
})

/** The filters that only bookings have. */
const bookingFilters = ["slotId", "confirmationCode"] as const

const onlyOfAppointments = (
  query: { readonly [name: string]: unknown },
  misplaced: ReadonlyArray<(typeof bookingFilters)[number]>
) => {
  const expected = "to be left out, as only an appointment has bookings"
  return invalidInput(misplaced.map((name) => issueAt(query, name, { kind: "validation", type: "picklist", expected })))
}
