/** The handlers of distributions: the state and the history of mechanisms for admins. */
import { Effect } from "effect"
import { HttpApiBuilder } from "effect/http-api"
import { slotId } from "../../../domain/appointment/Appointment.ts"
import type { Tenant } from "../../../domain/values/Ids.ts"
import { History, type HistoryEntry } from "../../../store/journal/History.ts"
import { Mechanisms } from "../../../store/mechanism/Mechanisms.ts"
import { type ConsumerPlace, Places } from "../../../store/mechanism/Places.ts"
import { CurrentTenant, CurrentStreamCredentials } from "../../../api/Credentials.ts"
import { orInvalidPage } from "../records/Refusals.ts"
import { NotFound } from "../../../api/Errors.ts"
import { EventStreams } from "../../streams/EventStreams.ts"
import { issueAt } from "../../errors/Issues.ts"
import { invalidInput } from "../../errors/Validation.ts"
import { orBusy } from "../records/Answers.ts"
import { AdminApi } from "../../../api/admin/AdminApi.ts"
import { forTenant } from "../records/Operations.ts"
import { kindsOfMechanism } from "./Kinds.ts"
import * as Denials from "../steering/Denials.ts"
import * as Extensions from "./extension/Extensions.ts"
import * as Inspections from "./Inspections.ts"
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
    const deny = yield* Denials.make
    const extend = yield* Extensions.make
    const { asked, listed, parked } = yield* Inspections.make

    return handlers.handleAll({
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
        const shown = kind === "appointment" ? (place: ConsumerPlace) => withSlot(id, place) : consumerOf
        return { data: data.map(shown), pageInfo }
      }, orBusy),

      denyDistributionConsumers: ({ params: { id }, payload }) =>
        forTenant((tenant, by) => Effect.flatMap(current(tenant, id), (found) => deny(found, payload, by))),

      extendDistribution: ({ params: { id }, payload }) =>
        forTenant((tenant, by) => Effect.flatMap(current(tenant, id), (found) => extend(found, payload, by))),

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

const withoutSecrets = (entry: HistoryEntry, secrets: ReadonlyArray<string>): HistoryEntry => ({
  ...entry,
  data: Object.fromEntries(Object.entries(entry.data).filter(([name]) => !secrets.includes(name)))
})

/** The fields of the status and the common fields. */
const consumerOf = ({ fields, ...common }: ConsumerPlace) => ({ ...fields, ...common })

/** The same of a booking, with the name of its slot. */
const withSlot = (appointmentId: string, place: ConsumerPlace) => ({
  slotId: slotId(appointmentId, Date.parse(place.fields["startTime"] as string)),
  ...consumerOf(place)
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
